import type { PaginatorConfig } from '../../config/api-schema.ts';
import type { ApiErrorCode } from '../api-error.ts';
import { isTruthyJson } from '../json-value.ts';
import { compileSelector, type Selector } from '../selector.ts';
import { type LoopState, markOf, noteMark } from './loop-guard.ts';
import type { DeclaredTotal, NextPage, PageRequest, PageResponse, PageState, Paginator } from './paginator.ts';

/** What a request for a page of a listing carries. JSON-safe. */
export type ListingState = {
  /** 1 for the first. */
  page: number;
  inner: PageState;
  loop: LoopState | null;
};

export type ListingPage = { request: PageRequest; state: ListingState };

export type ListingStep =
  | { kind: 'next'; pages: Iterable<ListingPage>; warning?: string; note?: string }
  | { kind: 'done'; reason: string; warning?: string; note?: string }
  /** A loop: the page that would follow is not worth asking for. */
  | { kind: 'failed'; code: ApiErrorCode; message: string; page: ListingPage };

/** `contentMark`: a mark of the page's records (markOf), null for an empty page; asked for only where pages are counted. */
export type ListingResponse = PageResponse & { contentMark: () => string | null };

/** A paginator with its stops and its guard against loops. Pure. */
export type Listing = {
  first(request: PageRequest): ListingPage;
  next(state: ListingState, response: ListingResponse, request: PageRequest): ListingStep;
  total(response: PageResponse, state: ListingState): DeclaredTotal;
  position(state: ListingState): { offset: number } | null;
};

type Stops = {
  hasMorePath?: string;
  stopCondition?: string;
  stopAfterEmptyPage: boolean;
  maxPages?: number;
  onRepeatedPage: 'fail' | 'stop' | 'continue';
};

const NO_STOPS: Stops = { stopAfterEmptyPage: false, onRepeatedPage: 'fail' };

/**
 * Puts stops and loop guard around a paginator.
 * @throws SelectorSyntaxError
 */
export function createListing(config: PaginatorConfig, paginator: Paginator): Listing {
  const stops: Stops = config.type === 'singlePage' ? NO_STOPS : config;
  const endOf = endReader(stops);

  function next(state: ListingState, response: ListingResponse, request: PageRequest): ListingStep {
    const end = endOf(response);
    if (end !== null) return { kind: 'done', reason: end };
    const step = paginator.next(state.inner, response, request);
    if (step.kind === 'done') return step;
    const { pages, cursor, warning, note } = step;
    const said = { ...(warning && { warning }), ...(note && { note }) };
    const limit = stops.maxPages ?? Number.POSITIVE_INFINITY;
    if (state.page >= limit) return { kind: 'done', reason: `maxPages ${limit}`, ...said };
    const { repeats, loop } = noteStep(state, cursor, response.contentMark);
    const numbered = numberPages(pages, { from: state.page + 1, to: limit, loop });
    if (repeats === null || stops.onRepeatedPage === 'continue') return { kind: 'next', pages: numbered, ...said };
    if (stops.onRepeatedPage === 'stop') return { kind: 'done', reason: `page ${repeats} again`, ...said };
    return failed({ cursor, repeats, page: state.page, doomed: firstOf(numbered) });
  }

  return {
    first(request) {
      const { request: firstRequest, state } = paginator.first(request);
      return { request: firstRequest, state: { page: 1, inner: state, loop: null } };
    },
    next,
    total: (response, state) => paginator.total(response, state.inner),
    position: (state) => paginator.position?.(state.inner) ?? null,
  };
}

function endReader(stops: Stops): (response: PageResponse) => string | null {
  const condition = stops.stopCondition === undefined ? null : compileSelector(stops.stopCondition);
  const hasMore = stops.hasMorePath === undefined ? null : compileSelector(stops.hasMorePath);
  return (response) => {
    if (condition !== null && isTruthyJson(matched(condition, response.body))) return `stopCondition ${condition.text}`;
    if (hasMore !== null && !saysMore(hasMore.first(response.body))) return `${hasMore.text} is false`;
    if (stops.stopAfterEmptyPage && response.listLength === 0) return 'an empty page';
    return null;
  };
}

// A filter that matches objects counts as matching, an empty one too: `$.meta[?@.last == true]`.
function matched(selector: Selector, body: unknown): unknown {
  const matches = selector.all(body);
  return matches.length > 1 || matches[0];
}

function saysMore(value: unknown): boolean {
  return isTruthyJson(value) && !/^(false|no|n|0)$/i.test(String(value));
}

// A cursor names the next page; where pages are counted, the content shows that the server does not count along.
function noteStep(
  state: ListingState,
  cursor: string | null,
  contentMark: () => string | null,
): { repeats: number | null; loop: LoopState | null } {
  if (cursor !== null) {
    const { repeats, state: loop } = noteMark(state.loop, markOf(cursor), state.page + 1);
    return { repeats, loop };
  }
  const mark = contentMark();
  if (mark === null) return { repeats: null, loop: state.loop };
  const { repeats, state: loop } = noteMark(state.loop, mark, state.page);
  return { repeats, loop };
}

function* numberPages(
  pages: Iterable<NextPage>,
  options: { from: number; to: number; loop: LoopState | null },
): Generator<ListingPage> {
  let page = options.from;
  for (const { request, state } of pages) {
    if (page > options.to) return;
    yield { request, state: { page, inner: state, loop: options.loop } };
    page++;
  }
}

function firstOf(pages: Iterable<ListingPage>): ListingPage {
  for (const page of pages) return page;
  throw new RangeError('a step of kind next without a page');
}

function failed(facts: { cursor: string | null; repeats: number; page: number; doomed: ListingPage }): ListingStep {
  const { cursor, repeats, page, doomed } = facts;
  return cursor === null
    ? {
        kind: 'failed',
        code: 'REPEATED_PAGE',
        message: `page ${page} has the same records as page ${repeats}: the server does not follow the page asked for. If its last page repeats, set onRepeatedPage: stop`,
        page: doomed,
      }
    : {
        kind: 'failed',
        code: 'REPEATED_CURSOR',
        message: `page ${page} names the same next page as page ${repeats - 1}: "${shorten(cursor)}" led to page ${repeats}, and would to page ${page + 1}`,
        page: doomed,
      };
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
