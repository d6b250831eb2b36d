import type { PaginatorConfig, PaginatorType } from '../../config/api-schema.ts';
import { paginatorSchema } from '../../config/api-schema.ts';
import { headerText } from '../../core/headers.ts';
import { isJsonObject, numberIn, valueAt } from '../json-value.ts';
import { linkTarget, parseLinkHeader } from '../link-header.ts';
import { nextUrl } from './next-url.ts';
import type { PageRequest, PageResponse } from './paginator.ts';

/** What a page's pagination looks like, and the sign it was told by. */
export type Detected = { config: PaginatorConfig; evidence: string };

/**
 * Finds out how a page leads to the next, surest signs first: the Link header, a next URL in the body, a cursor, a
 * number of pages, a total with offset and limit, a has-more flag; otherwise there is one page.
 */
export function detectPaginator(response: PageResponse, request: PageRequest): Detected {
  const found =
    detectHeaderLink(response) ??
    detectJsonLink(response) ??
    detectCursor(response, request) ??
    detectHeaderCursor(response) ??
    detectPageNumber(response, request) ??
    detectOffset(response, request) ??
    detectLastId(response);
  return found ?? { config: { type: 'singlePage' }, evidence: singlePageEvidence(response) };
}

function singlePageEvidence(response: PageResponse): string {
  const total = completeTotal(response);
  return total === null ? 'no sign of further pages' : `${total.path} says ${total.records}, and all came`;
}

function detected(config: { type: PaginatorType } & Record<string, unknown>, evidence: string): Detected {
  return { config: paginatorSchema.parse(config), evidence };
}

function detectHeaderLink(response: PageResponse): Detected | null {
  const links = parseLinkHeader(headerText(response.headers, 'link') ?? '');
  const pagingRel = ['next', 'last', 'first', 'prev'].find((rel) => linkTarget(links, rel) !== undefined);
  return pagingRel === undefined ? null : detected({ type: 'headerLink' }, `a Link header with rel=${pagingRel}`);
}

const WRAPPERS = [
  '',
  'links.',
  '_links.',
  'meta.',
  'pagination.',
  'paging.',
  'page.',
  'info.',
  'response_metadata.',
  'metadata.',
  'cursor.',
  'cursors.',
  'paging.cursors.',
  'data.',
  'result.',
  'response.',
];

/** First of the names that is a key of the body, under the usual wrappers. */
function findKey(body: unknown, names: readonly string[], accepts: (value: unknown) => boolean): string | null {
  if (!isJsonObject(body)) return null;
  for (const wrapper of WRAPPERS) {
    for (const name of names) {
      if (accepts(valueAt(body, `${wrapper}${name}`))) return `${wrapper}${name}`;
    }
  }
  return null;
}

const asPath = (key: string): string => `$.${key}`;

const NEXT_URL_NAMES = [
  'next',
  'next.href',
  'next_url',
  'nextUrl',
  'next_page_url',
  'nextPageUrl',
  'next_link',
  'nextLink',
  'next_page',
  'nextPage',
  'next_page_uri',
];

function detectJsonLink(response: PageResponse): Detected | null {
  const looksLikeUrl = (value: unknown): boolean =>
    typeof value === 'string' && /^(https?:\/\/|\/|\?)/i.test(value) && nextUrl(value, response) !== undefined;
  if (isJsonObject(response.body) && looksLikeUrl(response.body['@odata.nextLink']))
    return detected({ type: 'jsonLink', nextUrlPath: "$['@odata.nextLink']" }, 'a URL at @odata.nextLink');
  const key = findKey(response.body, NEXT_URL_NAMES, looksLikeUrl);
  return key === null ? null : detected({ type: 'jsonLink', nextUrlPath: asPath(key) }, `a URL at ${key}`);
}

// Name in the body -> parameter it is sent back in.
const CURSOR_PARAMS: Readonly<Record<string, string>> = {
  next_cursor: 'cursor',
  nextCursor: 'cursor',
  next_page_token: 'page_token',
  nextPageToken: 'pageToken',
  next_token: 'next_token',
  nextToken: 'nextToken',
  continuation_token: 'continuation_token',
  continuationToken: 'continuationToken',
  next_page_id: 'page_id',
  end_cursor: 'after',
  endCursor: 'after',
  after: 'after',
  next: 'cursor',
  cursor: 'cursor',
};

function detectCursor(response: PageResponse, request: PageRequest): Detected | null {
  const isCursor = (value: unknown): boolean =>
    (typeof value === 'string' && value !== '') || typeof value === 'number';
  const key = findKey(response.body, Object.keys(CURSOR_PARAMS), isCursor);
  if (key === null) return null;
  const name = key.split('.').at(-1)!;
  const param = CURSOR_PARAMS[name]!;
  const config = { type: 'cursor' as const, cursorPath: asPath(key) };
  return request.payload === null
    ? detected({ ...config, cursorParam: param }, `a cursor at ${key}, sent back as ?${param}=`)
    : detected({ ...config, cursorBodyPath: param }, `a cursor at ${key}, sent back in the body as ${param}`);
}

const CURSOR_HEADERS: Readonly<Record<string, string>> = {
  'x-next-page': 'page',
  'x-next-cursor': 'cursor',
  'x-cursor': 'cursor',
  'x-continuation-token': 'continuation_token',
};

function detectHeaderCursor(response: PageResponse): Detected | null {
  for (const [header, param] of Object.entries(CURSOR_HEADERS)) {
    if ((headerText(response.headers, header) ?? '') === '') continue;
    return detected({ type: 'headerCursor', responseHeader: header, cursorParam: param }, `the header ${header}`);
  }
  return null;
}

const isCount = (value: unknown): boolean => numberIn(value) !== undefined;
const TOTAL_PAGES_NAMES = [
  'total_pages',
  'totalPages',
  'page_count',
  'pageCount',
  'pages_total',
  'last_page',
  'lastPage',
  'num_pages',
  'pages',
];
const PAGE_NAMES = ['page', 'current_page', 'currentPage', 'page_number', 'pageNumber', 'number'];

function detectPageNumber(response: PageResponse, request: PageRequest): Detected | null {
  const pages = findKey(response.body, TOTAL_PAGES_NAMES, isCount);
  if (pages === null) return null;
  const pageKey = findKey(response.body, PAGE_NAMES, isCount);
  const param = paramOf(request, ['page', 'p', 'pageNumber', 'page_number', 'page[number]']) ?? 'page';
  const basePage = Number(
    new URL(request.url).searchParams.get(param) ?? numberIn(pageKey && valueAt(response.body, pageKey)) ?? 1,
  );
  return detected(
    { type: 'pageNumber', pageParam: param, basePage, totalPagesPath: asPath(pages) },
    `a number of pages at ${pages}, asked for by ?${param}=`,
  );
}

const TOTAL_NAMES = [
  'total',
  'total_count',
  'totalCount',
  'total_results',
  'totalResults',
  'total_items',
  'totalItems',
  'count',
  'nhits',
  'total_records',
];

function detectOffset(response: PageResponse, request: PageRequest): Detected | null {
  const total = findKey(response.body, TOTAL_NAMES, isCount);
  const declared = total === null ? undefined : numberIn(valueAt(response.body, total));
  if (total === null || declared === undefined || response.listLength === 0 || declared <= response.listLength)
    return null;
  const offsetKey = findKey(response.body, ['offset', 'skip', 'start', 'startAt', 'from'], isCount);
  const limitKey = findKey(response.body, ['limit', 'maxResults', 'per_page', 'size'], isCount);
  const offsetParam = paramOf(request, ['offset', 'skip', 'start', 'startAt', 'from']) ?? offsetKey?.split('.').at(-1);
  if (offsetParam === undefined) return null;
  const limitParam =
    paramOf(request, ['limit', 'maxResults', 'per_page', 'size', 'rows']) ?? limitKey?.split('.').at(-1) ?? null;
  const offset = offsetKey === null ? 0 : numberIn(valueAt(response.body, offsetKey));
  return detected(
    { type: 'offset', limit: response.listLength, offset, offsetParam, limitParam, totalPath: asPath(total) },
    `a total at ${total}, with ?${offsetParam}=`,
  );
}

/**
 * Records over all pages that a body states under a usual name, where that is more than came.
 * @returns null when it states none, or no more than came
 */
export function statedTotal(response: PageResponse): StatedTotal | null {
  const total = usualTotal(response);
  return total !== null && response.listLength > 0 && total.records > response.listLength ? total : null;
}

/**
 * The same, where as many came: of a page that leads to others it may be the count of that page.
 * @returns null when it states none, or another number
 */
export function completeTotal(response: PageResponse): StatedTotal | null {
  const total = usualTotal(response);
  return total?.records === response.listLength ? total : null;
}

type StatedTotal = { records: number; path: string };

function usualTotal({ body }: PageResponse): StatedTotal | null {
  const key = findKey(body, TOTAL_NAMES, isCount);
  const records = key === null ? undefined : numberIn(valueAt(body, key));
  return key === null || records === undefined ? null : { records, path: asPath(key) };
}

/** Stripe's way: has_more, and the id of the last record. */
function detectLastId(response: PageResponse): Detected | null {
  if (!isJsonObject(response.body) || response.body.has_more !== true) return null;
  const { data } = response.body;
  const last: unknown = Array.isArray(data) ? data.at(-1) : undefined;
  if (!isJsonObject(last) || typeof last.id !== 'string') return null;
  return detected(
    { type: 'cursor', cursorPath: '$.data[-1].id', cursorParam: 'starting_after', hasMorePath: '$.has_more' },
    'has_more, with ?starting_after= the last id',
  );
}

function paramOf(request: PageRequest, names: readonly string[]): string | undefined {
  const { searchParams } = new URL(request.url);
  return names.find((name) => searchParams.has(name));
}
