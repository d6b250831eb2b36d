import { hash } from 'node:crypto';
import type { FollowUp, SentRequest } from '../routes/define-route.ts';
import type { ApiErrorCode } from './api-error.ts';
import { fromStored, type JsonObject, jsonText, toStored } from './json-value.ts';
import type { ListingPage, ListingState } from './paginate/listing.ts';

/** What the requests of one listing have in common. */
export type ListingFrame = {
  /** Names the listing within its resource: "" for one without a parent, else a mark of what it took from above. */
  mark: string;
  /** How often it was started again (resetPagination). */
  start: number;
  /** Fields of the records above, by resource, that this request and those below it are made from. */
  scope: Readonly<Record<string, Readonly<JsonObject>>>;
  /** Fields of the parent's record that are added to each record. */
  included: Readonly<JsonObject>;
};

/** Why a request is not worth sending: it fails with this, so that nothing is skipped in silence. */
export type Doom = { code: ApiErrorCode; message: string };

/** What a request for a page carries in its userData, so that a crawl goes on at the very page. */
export type PageUserData = {
  frame: ListingFrame;
  listing: ListingState;
  doom: Doom | null;
  /** Where the first page's records were, when that was guessed. */
  guessedPath: string | null;
};

export const ROOT_FRAME: ListingFrame = { mark: '', start: 0, scope: {}, included: {} };

/** @returns a mark of what a listing is made from: the same parent fields, the same listing */
export function frameMark(scope: unknown, included: unknown): string {
  return hash('sha1', jsonText([scope, included]), 'base64url').slice(0, 16);
}

/** The name page facts are kept under: a listing started again is another one. */
export function listingName({ mark, start }: ListingFrame): string {
  return start === 0 ? mark : `${mark}~${start}`;
}

/** A request to be queued. Its key is the page's place, not its URL: a cursor may be in a header, or come again. */
export function pageFollowUp(
  resource: string,
  { request, state }: ListingPage,
  { frame, doom, guessedPath }: Omit<PageUserData, 'listing'>,
): FollowUp & { userData: Record<string, unknown> } {
  const userData: PageUserData = { frame: toStored(frame) as ListingFrame, listing: state, doom, guessedPath };
  return {
    label: resource,
    url: request.url,
    method: request.method,
    ...(request.payload === null ? {} : { payload: request.payload }),
    ...(Object.keys(request.headers).length === 0 ? {} : { headers: { ...request.headers } }),
    userData: { api: userData },
    uniqueKey: `${resource}|${listingName(frame)}|${state.page}`,
  };
}

/** @throws TypeError when the request was not made by a compiled api */
export function readUserData(userData: Record<string, unknown>): PageUserData {
  const own = userData.api as PageUserData | undefined;
  if (own?.frame === undefined)
    throw new TypeError('A request with the label of an api resource was not made by the api: give it no label');
  return { ...own, frame: fromStored(own.frame) as ListingFrame };
}

/** @throws TypeError when the crawler does not hand over the request */
export function requiredRequest(request: SentRequest | undefined): SentRequest {
  if (request === undefined) throw new TypeError('An api resource needs page.request');
  return request;
}
