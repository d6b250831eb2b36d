import type { PaginatorConfig } from '../../config/api-schema.ts';
import { numberIn } from '../json-value.ts';
import { compileSelector } from '../selector.ts';
import { type ValueTarget, withPageValue } from './edit-request.ts';
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

export type OffsetConfig = Pick<
  Extract<PaginatorConfig, { type: 'offset' }>,
  'limit' | 'offset' | 'offsetParam' | 'limitParam' | 'offsetBodyPath' | 'limitBodyPath' | 'totalPath' | 'maximumOffset'
>;

/**
 * Offset and limit. The next offset is where the page at hand ended, not where it should have: a server that caps the
 * limit leaves no gap.
 * @throws SelectorSyntaxError
 */
export function offsetPaginator(config: OffsetConfig, options: PaginatorOptions): Paginator {
  const totalSelector = config.totalPath === undefined ? null : compileSelector(config.totalPath);
  const readTotal = (response: PageResponse): number | undefined => numberIn(totalSelector?.first(response.body));
  const maximum = config.maximumOffset ?? Number.POSITIVE_INFINITY;

  function page(request: PageRequest, offset: number, limit: number): NextPage {
    const withOffset = withPageValue(request, offsetTarget(config), offset);
    const target = limitTarget(config);
    return {
      request: target === null ? withOffset : withPageValue(withOffset, target, limit),
      state: { offset, limit },
    };
  }

  return {
    first: (request) => page(request, config.offset, config.limit),
    next(state, response, request) {
      if (isPlanned(state)) return done('all pages are queued');
      const { offset, limit } = positionOf(state);
      const advance = response.listLength > 0 ? response.listLength : limit;
      const from = offset + advance;
      const stated = readTotal(response);
      const isFirst = offset === config.offset;
      const { total, warning } = believedTotal({ stated, offset, limit, got: response.listLength, isFirst });
      const extra = {
        ...missingTotal(config.totalPath, stated),
        ...(warning === undefined ? {} : { warning }),
        ...cappedLimit({ asked: limit, got: response.listLength, from, total }),
      };
      if (from > maximum) return done(`maximumOffset ${maximum}`, extra);
      if (total === undefined) return { kind: 'next', pages: [page(request, from, limit)], cursor: null, ...extra };
      if (from >= total) return done(`total ${total} reached`, extra);
      const count = options.parallel ? Math.ceil((Math.min(total, maximum + 1) - from) / advance) : 1;
      return {
        kind: 'next',
        pages: planPages(count, (index) => page(request, from + index * advance, options.parallel ? advance : limit)),
        cursor: null,
        ...extra,
      };
    },
    total(response, state) {
      const records = readTotal(response);
      const isBeyond = response.listLength > 0 && positionOf(state).offset >= (records ?? 0);
      return records === undefined || isBeyond ? null : { records };
    },
    position: (state) => ({ offset: positionOf(state).offset }),
  };
}

function positionOf(state: PageState): { offset: number; limit: number } {
  return { offset: Number(state.offset), limit: Number(state.limit) };
}

function offsetTarget(config: OffsetConfig): ValueTarget {
  return config.offsetBodyPath === undefined ? { param: config.offsetParam } : { bodyPath: config.offsetBodyPath };
}

function limitTarget(config: OffsetConfig): ValueTarget | null {
  if (config.limitBodyPath !== undefined) return { bodyPath: config.limitBodyPath };
  return config.limitParam === null ? null : { param: config.limitParam };
}

type StatedTotal = { stated: number | undefined; offset: number; limit: number; got: number; isFirst: boolean };

/**
 * Some servers state the length of the page where the total should be (a Verdaccio search does). A full first page
 * that claims to be all is asked beyond once; a total with records beyond it is none.
 */
function believedTotal({ stated, offset, limit, got, isFirst }: StatedTotal): { total?: number; warning?: string } {
  if (stated === undefined) return {};
  if (got > 0 && offset >= stated) {
    const warning = 'the total stated is less than there is: pages are fetched one by one until one is empty';
    return { warning };
  }
  return isFirst && stated - offset === got && got >= limit ? {} : { total: stated };
}

/** The one warning of a declared total that is not there. */
export function missingTotal(path: string | undefined, total: number | undefined): { warning?: string } {
  if (path === undefined || total !== undefined) return {};
  return { warning: `totalPath ${path} is no number: pages are fetched one by one until one is empty` };
}

function cappedLimit(facts: { asked: number; got: number; from: number; total: number | undefined }): {
  note?: string;
} {
  const isCapped = facts.got > 0 && facts.got < facts.asked && facts.total !== undefined && facts.from < facts.total;
  return isCapped ? { note: `the server gives ${facts.got} of the ${facts.asked} records asked for per page` } : {};
}
