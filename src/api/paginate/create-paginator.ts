import type { PaginatorConfig } from '../../config/api-schema.ts';
import { type CodePaginator, codePaginator } from './code.ts';
import { cursorPaginator, headerCursorPaginator } from './cursor.ts';
import { detectPaginator } from './detect.ts';
import { graphqlRelayPaginator } from './graphql-relay.ts';
import { headerLinkPaginator } from './header-link.ts';
import { jsonLinkPaginator } from './json-link.ts';
import { offsetPaginator } from './offset.ts';
import { pageNumberPaginator } from './page-number.ts';
import type { PageState, Paginator, PaginatorOptions, Step } from './paginator.ts';
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
      return { ...step, note: `auto pagination: ${config.type} (${evidence})` };
    },
    total(response, state) {
      const before = foundBefore(state);
      return before === null ? null : createPaginator(before, options).total(response, state.inner as PageState);
    },
    position(state) {
      const before = foundBefore(state);
      if (before === null) return null;
      return createPaginator(before, options).position?.(state.inner as PageState) ?? null;
    },
  };
}

function tagged(step: Step, found: PaginatorConfig): Step {
  if (step.kind === 'done') return step;
  return { ...step, pages: tagPages(step.pages, found) };
}

function* tagPages(pages: Extract<Step, { kind: 'next' }>['pages'], found: PaginatorConfig) {
  for (const { request, state } of pages) yield { request, state: { found, inner: state } };
}
