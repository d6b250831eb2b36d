import type { PaginatorConfig } from '../../config/api-schema.ts';
import { numberIn } from '../json-value.ts';
import { compileSelector } from '../selector.ts';
import { type ValueTarget, withPageValue } from './edit-request.ts';
import { missingTotal } from './offset.ts';
import {
  done,
  type NextPage,
  type PageRequest,
  type PageResponse,
  type PageState,
  type Paginator,
  type PaginatorOptions,
} from './paginator.ts';
import { isPlanned, planPages } from './plan-pages.ts';

export type PageNumberConfig = Pick<
  Extract<PaginatorConfig, { type: 'pageNumber' }>,
  | 'basePage'
  | 'pageParam'
  | 'pageBodyPath'
  | 'pageSize'
  | 'pageSizeParam'
  | 'pageSizeBodyPath'
  | 'totalPath'
  | 'totalPagesPath'
  | 'maximumPage'
>;

/**
 * Numbered pages.
 * @throws SelectorSyntaxError
 */
export function pageNumberPaginator(config: PageNumberConfig, options: PaginatorOptions): Paginator {
  const readTotals = totalsReader(config);
  const maximum = config.maximumPage ?? Number.POSITIVE_INFINITY;

  function page(request: PageRequest, number: number, size: number | null): NextPage {
    return { request: withPageValue(request, pageTarget(config), number), state: { page: number, size, sized: true } };
  }

  function firstPage(request: PageRequest): NextPage {
    const numbered = page(withPageSize(request, config), config.basePage, config.pageSize ?? null);
    return { ...numbered, state: { ...numbered.state, sized: false } };
  }

  return {
    first: firstPage,
    next(state, response, request) {
      if (isPlanned(state)) return done('all pages are queued');
      const number = Number(state.page);
      const size = pageSizeNow(state, response);
      const totals = readTotals(response);
      const last = lastPage(config.basePage, totals, size);
      const warning = missingTotal(config.totalPagesPath ?? config.totalPath, totals.pages ?? totals.records);
      if (number + 1 > maximum) return done(`maximumPage ${maximum}`, warning);
      if (last !== null && number >= last) return done(`last page ${last} reached`, warning);
      const count = last === null || !options.parallel ? 1 : Math.min(last, maximum) - number;
      return {
        kind: 'next',
        pages: planPages(count, (index) => page(request, number + 1 + index, size)),
        cursor: null,
        ...warning,
      };
    },
    total(response) {
      const { records } = readTotals(response);
      return records === undefined ? null : { records };
    },
    position(state) {
      const size = typeof state.size === 'number' ? state.size : null;
      const before = Number(state.page) - config.basePage;
      return before > 0 && size === null ? null : { offset: before * (size ?? 0) };
    },
  };
}

type Totals = { records: number | undefined; pages: number | undefined };

function totalsReader(config: PageNumberConfig): (response: PageResponse) => Totals {
  const records = config.totalPath === undefined ? null : compileSelector(config.totalPath);
  const pages = config.totalPagesPath === undefined ? null : compileSelector(config.totalPagesPath);
  return (response) => ({
    records: numberIn(records?.first(response.body)),
    pages: numberIn(pages?.first(response.body)),
  });
}

function pageTarget(config: PageNumberConfig): ValueTarget {
  return config.pageBodyPath === undefined ? { param: config.pageParam } : { bodyPath: config.pageBodyPath };
}

function withPageSize(request: PageRequest, config: PageNumberConfig): PageRequest {
  if (config.pageSize === undefined) return request;
  if (config.pageSizeBodyPath !== undefined)
    return withPageValue(request, { bodyPath: config.pageSizeBodyPath }, config.pageSize);
  return config.pageSizeParam === undefined
    ? request
    : withPageValue(request, { param: config.pageSizeParam }, config.pageSize);
}

// The first page says what the server's size is, whatever was asked for; one further on may be the short last one.
function pageSizeNow(state: PageState, response: PageResponse): number | null {
  const known = typeof state.size === 'number' ? state.size : null;
  return state.sized === true || response.listLength === 0 ? known : response.listLength;
}

function lastPage(basePage: number, totals: Totals, size: number | null): number | null {
  if (totals.pages !== undefined) return basePage + totals.pages - 1;
  if (totals.records === undefined || size === null || size === 0) return null;
  return basePage + Math.ceil(totals.records / size) - 1;
}
