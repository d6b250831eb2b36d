import { didYouMean } from '../core/nearest-name.ts';
import type { Extracted, FollowUp, Page, SentRequest } from '../routes/define-route.ts';
import { ApiError } from './api-error.ts';
import { type Sifted, siftRecords } from './contract.ts';
import { firstRequest } from './first-request.ts';
import { isJsonObject, jsonText, valueAt } from './json-value.ts';
import type { KeptRecords, PagePlace } from './keep-once.ts';
import { keyReader, type PageFacts, pageFactsKey } from './page-facts.ts';
import {
  frameMark,
  type ListingFrame,
  listingName,
  type PageUserData,
  pageFollowUp,
  readUserData,
  requiredRequest,
} from './page-state.ts';
import type { ListingPage, ListingResponse } from './paginate/listing.ts';
import { markOf } from './paginate/loop-guard.ts';
import type { PageRecords } from './record-selector.ts';
import { type ResourceRuntime, takePage } from './resource-runtime.ts';
import { MissingValueError, type TemplateScope } from './template.ts';

/** What extracting needs besides the resource itself. */
export type ExtractContext = {
  baseUrl: string;
  runtimes: ReadonlyMap<string, ResourceRuntime>;
  /** Takes secrets out of a URL the server gave. */
  concealUrl: (url: string) => string;
};

/**
 * Makes records, further pages, requests of child resources and the page's facts from one page.
 * @throws ApiError
 */
export function extractPage(runtime: ResourceRuntime, page: Page, context: ExtractContext): Extracted {
  const userData = readUserData(page.userData);
  const picked = pickRecords(runtime, page, userData);
  warnOfFields(runtime, picked.records);
  const inWindow = runtime.window === null ? picked.records : picked.records.filter(runtime.window.includes);
  const place = placeOf(runtime, userData);
  const kept = runtime.keepOnce?.sift(inWindow, place) ?? { records: [...inWindow], keys: '', repeated: '' };
  const sifted = siftRecords(kept.records, runtime.check, runtime.resource.schemaContract);
  const response = listingResponse(runtime, page, picked);
  const request = requiredRequest(page.request);
  const { guessedPath } = picked;
  const pages = nextPages(runtime, { userData: { ...userData, guessedPath }, response, request, context });
  const parents = [...sifted.kept, ...sifted.quarantined.map(({ record }) => record)];
  return {
    records: sifted.kept.map((record) => withIncluded(record, userData.frame)),
    invalid: sifted.quarantined.map(({ record, issues }) => ({ record, issues: issues.map(issueText) })),
    requests: [...pages, ...childRequests(runtime, { parents, frame: userData.frame, context })],
    values: [pageFacts(runtime, { userData, place, picked, inWindow, kept, sifted, response })],
  };
}

function pickRecords(runtime: ResourceRuntime, page: Page, { listing, guessedPath }: PageUserData): PageRecords {
  const picked = withName(runtime, () => runtime.selector(page.body, { isFirst: listing.page === 1, guessedPath }));
  if (guessedPath === null && picked.guessedPath !== null)
    runtime.say('info', `records are taken from ${picked.guessedPath}`);
  return picked;
}

/** A misspelt field would do nothing, in silence: no record is told apart, no increment moves. */
function warnOfFields({ resource, window, say }: ResourceRuntime, records: readonly unknown[]): void {
  const [first] = records;
  if (!isJsonObject(first)) return;
  const advice = (field: string): string =>
    didYouMean(field, Object.keys(first)) || ` They have ${Object.keys(first).slice(0, 20).join(', ')}.`;
  for (const field of resource.primaryKey) {
    if (records.some((record) => valueAt(record, field) !== undefined)) continue;
    say('warn', `primaryKey: no record of the page has "${field}", so none is told apart by it.${advice(field)}`);
  }
  const { cursorPath } = resource.endpoint.incremental ?? {};
  if (window === null || cursorPath === undefined) return;
  if (records.some((record) => window.advance(null, record) !== null)) return;
  say('warn', `incremental: no record of the page has "${cursorPath}", so it does not move.${advice(cursorPath)}`);
}

/** Of many resources the message must say which. */
function withName<T>({ resource }: ResourceRuntime, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, recovery, message } = error;
    throw new ApiError({ code, recovery, message: `${resource.name}: ${message}` }, { cause: error });
  }
}

/** @returns what is wrong with a record, as one line */
export function issueText({ path, message }: { path: readonly (string | number)[]; message: string }): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

function listingResponse(runtime: ResourceRuntime, page: Page, picked: PageRecords): ListingResponse {
  return {
    url: page.url,
    headers: page.headers,
    body: page.body,
    listLength: picked.listLength,
    recordCount: picked.records.length,
    contentMark: () => contentMark(runtime, picked.records),
  };
}

function contentMark({ resource }: ResourceRuntime, records: readonly unknown[]): string | null {
  if (records.length === 0) return null;
  if (resource.primaryKey.length === 0) return markOf(jsonText(records));
  const readKey = keyReader(resource.primaryKey);
  return markOf(records.map((record) => readKey(record) ?? jsonText(record)).join());
}

function placeOf({ resource }: ResourceRuntime, { frame, listing }: PageUserData): PagePlace {
  return { resource: resource.name, listing: listingName(frame), page: listing.page };
}

type NextPagesFacts = {
  userData: PageUserData;
  response: ListingResponse;
  request: SentRequest;
  context: ExtractContext;
};

function* nextPages(runtime: ResourceRuntime, facts: NextPagesFacts): Generator<FollowUp> {
  const { userData, response, request, context } = facts;
  const step = runtime.listing.next(userData.listing, response, request);
  if (step.kind === 'failed') {
    const doom = { code: step.code, message: `${runtime.resource.name}: ${step.message}` };
    yield follow(step.page, doom);
    return;
  }
  if (step.warning !== undefined) runtime.say('warn', step.warning);
  if (step.note !== undefined) runtime.say('info', step.note);
  if (step.kind === 'done') return;
  for (const page of step.pages) if (takePage(runtime)) yield follow(page, null);

  function follow({ request: next, state }: ListingPage, doom: PageUserData['doom']): FollowUp {
    const page = { request: { ...next, url: context.concealUrl(next.url) }, state };
    return pageFollowUp(runtime.resource.name, page, {
      frame: userData.frame,
      doom,
      guessedPath: userData.guessedPath,
    });
  }
}

/** @returns the record with the fields of its parent that `includeFromParent` names */
export function withIncluded(record: unknown, { included }: ListingFrame): unknown {
  return isJsonObject(record) ? { ...record, ...included } : record;
}

type Parents = { parents: readonly unknown[]; frame: ListingFrame; context: ExtractContext };

function* childRequests(runtime: ResourceRuntime, { parents, frame, context }: Parents): Generator<FollowUp> {
  const children = runtime.node.children.map((name) => context.runtimes.get(name)!);
  for (const record of parents) {
    for (const child of children) {
      if (takePage(child)) yield childRequest(child, { record, parent: runtime.resource.name, frame, context });
    }
  }
}

type Birth = { record: unknown; parent: string; frame: ListingFrame; context: ExtractContext };

/** A child's first page. One that lacks a field of its parent fails, with its own row in `failures`. */
function childRequest(child: ResourceRuntime, { record, parent, frame, context }: Birth): FollowUp {
  const childFrame = frameOf(child, { record, parent, frame });
  const scope = templateScope(child, childFrame);
  try {
    const page = child.listing.first(firstRequest(child.resource, context.baseUrl, scope));
    return pageFollowUp(child.resource.name, page, { frame: childFrame, doom: null, guessedPath: null });
  } catch (error) {
    if (!(error instanceof MissingValueError)) throw error;
    const keys = isJsonObject(record) ? Object.keys(record).slice(0, 20).join(', ') : typeof record;
    const message = `${child.resource.name}: ${error.message} in a record of ${parent}, which has ${keys}`;
    const page = child.listing.first(bareRequest(child, context.baseUrl));
    return pageFollowUp(child.resource.name, page, {
      frame: { ...childFrame, mark: frameMark([childFrame.scope, record], childFrame.included) },
      doom: { code: 'PARENT_FIELD_MISSING', message },
      guessedPath: null,
    });
  }
}

function frameOf(child: ResourceRuntime, { record, parent, frame }: Omit<Birth, 'context'>): ListingFrame {
  const scope: Record<string, Record<string, unknown>> = {};
  for (const { resource, field } of child.node.needs) {
    const source = resource === parent ? record : frame.scope[resource];
    if (source === undefined) continue;
    scope[resource] = { ...scope[resource], [field]: valueAt(source, field) ?? null };
  }
  const { includeFromParent } = child.resource;
  for (const field of includeFromParent)
    if (valueAt(record, field) === undefined) warnNotThere(child, { parent, record, field });
  const included = Object.fromEntries(
    includeFromParent.map((field) => [`_${parent}_${field}`, valueAt(record, field) ?? null]),
  );
  return { mark: frameMark(scope, included), start: 0, scope, included };
}

/** A misspelt field would be null in every record. One that only some records lack is their own affair: it is said once. */
function warnNotThere(child: ResourceRuntime, facts: { parent: string; record: unknown; field: string }): void {
  const { parent, record, field } = facts;
  const keys = isJsonObject(record) ? Object.keys(record) : [];
  const advice = didYouMean(field, keys) || ` It has ${keys.slice(0, 20).join(', ') || 'no fields'}.`;
  child.say('warn', `includeFromParent: a record of ${parent} has no "${field}".${advice}`);
}

/** What the placeholders of a resource's requests stand for. */
export function templateScope(runtime: ResourceRuntime, frame: ListingFrame): TemplateScope {
  return { resources: frame.scope, incrementalStart: runtime.window?.startValue };
}

// Only shown: it is never sent.
function bareRequest({ resource }: ResourceRuntime, baseUrl: string): SentRequest {
  const bare = { ...resource, endpoint: { ...resource.endpoint, params: {}, headers: {}, json: undefined } };
  return firstRequest(
    { ...bare, endpoint: { ...bare.endpoint, path: encodeURI(resource.endpoint.path) } },
    baseUrl,
    NO_SCOPE,
  );
}

const NO_SCOPE: TemplateScope = { resources: {}, incrementalStart: undefined };

type FactsParts = {
  userData: PageUserData;
  place: PagePlace;
  picked: PageRecords;
  inWindow: readonly unknown[];
  kept: KeptRecords;
  sifted: Sifted;
  response: ListingResponse;
};

function pageFacts(runtime: ResourceRuntime, parts: FactsParts): { key: string; value: PageFacts } {
  const { userData, place, picked, inWindow, kept, sifted, response } = parts;
  const { window, listing } = runtime;
  const cursor = window === null ? null : inWindow.reduce<PageFacts['cursor']>(window.advance, null);
  return {
    key: pageFactsKey(place.resource, place.listing, place.page),
    value: {
      page: place.page,
      offset: listing.position(userData.listing)?.offset ?? null,
      count: picked.listLength,
      outside: picked.records.length - inWindow.length,
      discarded: sifted.discarded,
      drifted: sifted.drifted,
      declared: listing.total(response, userData.listing)?.records ?? null,
      cursor,
      keys: kept.keys,
      repeated: kept.repeated,
    },
  };
}
