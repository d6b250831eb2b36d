import type { z } from 'zod';
import { CrawlError, messageOf } from '../core/errors.ts';
import type { Extracted, FollowUp, Page, Route } from './define-route.ts';
import { RouteError } from './route-error.ts';

/** The dataset of a route that names none. */
export const DEFAULT_DATASET = 'default';

/** What a route made of one page. */
export type RouteResult = {
  /** In the order found. */
  records: { dataset: string; record: unknown }[];
  /** Bodies and records that did not fit their schema; an issue reads "items[3].price: expected number". */
  invalid: { issues: readonly string[]; record: unknown; isBody?: true }[];
  /** URLs absolute, labels filled in. */
  requests: (FollowUp & { label: string })[];
  values: { key: string; value: unknown }[];
};

/**
 * Checks a page's body, lets the route extract, and checks each record: pure, so that a route is tested on a recorded
 * response without a network.
 * @throws RouteError when extract throws or asks for a URL that is none
 */
export function runRoute(route: Route, page: Page): RouteResult {
  const result: RouteResult = { records: [], invalid: [], requests: [], values: [] };
  const body = check(route.response, page.body);
  if ('issues' in body) return { ...result, invalid: [{ issues: body.issues, record: page.body, isBody: true }] };
  const found = extract(route, { ...page, body: body.value });
  addRecords(result, route, found.records ?? []);
  for (const [dataset, records] of Object.entries(found.recordsByDataset ?? {}))
    for (const record of records) result.records.push({ dataset, record });
  result.invalid.push(...(found.invalid ?? []));
  result.values.push(...(found.values ?? []));
  for (const request of found.requests ?? []) result.requests.push(resolve(route, page, request));
  return result;
}

/**
 * @returns the value as the schema gives it back, or its issues, one line each; without a schema, the value itself
 */
export function check(schema: z.ZodType | undefined, value: unknown): { value: unknown } | { issues: string[] } {
  if (schema === undefined) return { value };
  const parsed = schema.safeParse(value);
  return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues.map(describeIssue) };
}

function describeIssue({ path, message }: z.core.$ZodIssue): string {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return place === '' ? message : `${place.replace(/^\./, '')}: ${message}`;
}

// Generators run as they are read, so reading belongs inside the try.
function extract(route: Route, page: Page): Extracted {
  try {
    const { records = [], recordsByDataset = {}, requests = [], invalid = [], values = [] } = route.extract(page);
    const others = Object.entries(recordsByDataset).map(([dataset, list]) => [dataset, [...list]]);
    return {
      records: [...records],
      recordsByDataset: Object.fromEntries(others),
      requests: [...requests],
      invalid: [...invalid],
      values: [...values],
    };
  } catch (cause) {
    // One that says what to do next has been thrown on purpose.
    if (cause instanceof CrawlError) throw cause;
    throw new RouteError({ label: route.label, problem: `threw on ${page.url}: ${messageOf(cause)}` }, { cause });
  }
}

function addRecords(result: RouteResult, route: Route, records: Iterable<unknown>): void {
  for (const record of records) {
    const checked = check(route.record, record);
    if ('issues' in checked) result.invalid.push({ issues: checked.issues, record });
    else result.records.push({ dataset: route.dataset ?? DEFAULT_DATASET, record: checked.value });
  }
}

function resolve(route: Route, page: { url: string }, request: FollowUp): FollowUp & { label: string } {
  const url = URL.parse(request.url, page.url);
  if (url !== null) return { ...request, url: url.href, label: request.label ?? route.label };
  throw new RouteError({ label: route.label, problem: `asked for "${request.url}" on ${page.url}, which is no URL` });
}
