import type { PaginatorConfig } from '../../config/api-schema.ts';
import { type CodePaginator, codePaginator } from './code.ts';
import { cursorPaginator, headerCursorPaginator } from './cursor.ts';
import { completeTotal, detectPaginator, statedTotal } from './detect.ts';
import { graphqlRelayPaginator } from './graphql-relay.ts';
import { headerLinkPaginator } from './header-link.ts';
import { jsonLinkPaginator } from './json-link.ts';
import { offsetPaginator } from './offset.ts';
import { pageNumberPaginator } from './page-number.ts';
import type { PageResponse, PageState, Paginator, PaginatorOptions, Step } from './paginator.ts';
import { singlePagePaginator } from './single-page.ts';

/** Paginators written in code, loaded already. */
export type CodePaginators = (config: Extract<PaginatorConfig, { type: 'code' }>) => CodePaginator;

/**
 * @returns the paginator a configuration names, without its stops (see createListing)
 * @throws SelectorSyntaxError
 */
export function createPaginator(
  config: PaginatorConfig,
  options: PaginatorOptions & { code: CodePaginators },
): Paginator {
  switch (config.type) {
    case 'headerLink':
      return headerLinkPaginator(config, options);
    case 'jsonLink':
      return jsonLinkPaginator(config);
    case 'cursor':
      return cursorPaginator(config);
    case 'headerCursor':
      return headerCursorPaginator(config);
    case 'offset':
      return offsetPaginator(config, options);
    case 'pageNumber':
      return pageNumberPaginator(config, options);
    case 'singlePage':
      return singlePagePaginator;
    case 'graphqlRelay':
      return graphqlRelayPaginator(config);
    case 'code':
      return codePaginator(options.code(config), config.module);
    case 'auto':
      return autoPaginator(options);
  }
}

/** Detects on the first page; what it found travels in the state of the pages after it. */
function autoPaginator(options: PaginatorOptions & { code: CodePaginators }): Paginator {
  const foundBefore = (state: PageState): PaginatorConfig | null =>
    (state.found as PaginatorConfig | undefined) ?? null;
  return {
    first: (request) => ({ request, state: {} }),
    next(state, response, request) {
      const before = foundBefore(state);
      if (before !== null)
        return tagged(createPaginator(before, options).next(state.inner as PageState, response, request), before);
      const { config, evidence } = detectPaginator(response, request);
      const paginator = createPaginator(config, options);
      const start = paginator.first(request).state;
      const step = tagged(paginator.next(start, response, request), config);
      const warning = config.type === 'singlePage' ? moreThanCame(response) : null;
      return { ...step, ...(warning && { warning }), note: `auto pagination: ${config.type} (${evidence})` };
    },
    total(response, state) {
      const before = foundBefore(state);
      if (before !== null) return createPaginator(before, options).total(response, state.inner as PageState);
      // On the first page, whatever the way to the rest: what then does not come is a gap.
      return statedTotal(response) ?? (leadsOn(response, options) ? null : completeTotal(response));
    },
    position(state) {
      const before = foundBefore(state);
      if (before === null) return null;
      return createPaginator(before, options).position?.(state.inner as PageState) ?? null;
    },
  };
}

/** Whether another page follows the first, which `response` is. */
function leadsOn(response: PageResponse, options: PaginatorOptions & { code: CodePaginators }): boolean {
  const request = { url: response.url, method: 'GET', headers: {}, payload: null };
  const paginator = createPaginator(detectPaginator(response, request).config, options);
  return paginator.next(paginator.first(request).state, response, request).kind === 'next';
}

/** Nothing says how to ask for the rest: better said than lost in silence. */
function moreThanCame(response: PageResponse): string | null {
  const total = statedTotal(response);
  if (total === null) return null;
  return (
    `${total.path} says ${total.records} records and ${response.listLength} came, and nothing says how to ask for more: ` +
    'name the paginator (pageNumber or offset, as the API documents), or singlePage if these are all'
  );
}

function tagged(step: Step, found: PaginatorConfig): Step {
  if (step.kind === 'done') return step;
  return { ...step, pages: tagPages(step.pages, found) };
}

function* tagPages(pages: Extract<Step, { kind: 'next' }>['pages'], found: PaginatorConfig) {
  for (const { request, state } of pages) yield { request, state: { found, inner: state } };
}
