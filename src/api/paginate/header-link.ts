import { headerText } from '../../core/headers.ts';
import { linkTarget, parseLinkHeader } from '../link-header.ts';
import { withParam } from './edit-request.ts';
import { nextUrl } from './next-url.ts';
import { done, follow, type NextPage, type PageRequest, type Paginator, type PaginatorOptions } from './paginator.ts';
import { isPlanned, planPages } from './plan-pages.ts';

/** The Link header names the next page; where it names the last one too, all between are known. */
export function headerLinkPaginator(config: { rel: string }, options: PaginatorOptions): Paginator {
  return {
    first: (request) => ({ request, state: {} }),
    next(state, response, request) {
      if (isPlanned(state)) return done('all pages are queued');
      const links = parseLinkHeader(headerText(response.headers, 'link') ?? '');
      const target = linkTarget(links, config.rel);
      if (target === undefined) return done(`no link with rel=${config.rel}`);
      const url = nextUrl(target, response);
      if (url === undefined) return done(`rel=${config.rel} is no URL`, { warning: `Link names "${target}", no URL` });
      const last = options.parallel ? linkTarget(links, 'last') : undefined;
      const pages = last === undefined ? null : pagesUpTo(request, url, nextUrl(last, response) ?? url);
      return pages === null
        ? follow({ request: { ...request, url }, state: {} }, url)
        : { kind: 'next', pages, cursor: url };
    },
    total: () => null,
  };
}

/** `?page=2` and `?page=34`: the pages between them; null when the links differ in anything but one number. */
function pagesUpTo(request: PageRequest, next: string, last: string): Iterable<NextPage> | null {
  const range = numberThatDiffers(new URL(next), new URL(last));
  if (range === null) return null;
  return planPages(range.to - range.from + 1, (index) => ({
    request: { ...request, url: withParam(next, range.name, String(range.from + index)) },
    state: {},
  }));
}

function numberThatDiffers(from: URL, to: URL): { name: string; from: number; to: number } | null {
  if (from.origin !== to.origin || from.pathname !== to.pathname) return null;
  const names = new Set([...from.searchParams.keys(), ...to.searchParams.keys()]);
  const differing = [...names].filter((name) => from.searchParams.get(name) !== to.searchParams.get(name));
  const [name] = differing;
  if (name === undefined || differing.length > 1 || !PAGE_NAME.test(name)) return null;
  const [low, high] = [from.searchParams.get(name), to.searchParams.get(name)];
  if (!/^\d{1,9}$/.test(low ?? '') || !/^\d{1,9}$/.test(high ?? '')) return null;
  return Number(high) > Number(low) ? { name, from: Number(low), to: Number(high) } : null;
}

// A number that differs is not always a page: offsets step by more than one, ids by anything.
const PAGE_NAME = /^(page|p|pg|_page|page_?(number|no|num|index)|page\[number\])$/i;
