import type { SentRequest } from '../../src/routes/define-route.ts';
import type { Answer } from './play-crawl.ts';

export type Item = { id: number; name: string };

export function items(count: number): Item[] {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, name: `item ${index + 1}` }));
}

/** A list served in every style of pagination, without a network: the path says which. */
export function listingServer(count: number, { cap = 1000 }: { cap?: number } = {}) {
  const all = items(count);
  const served: string[] = [];
  function answer(request: SentRequest): Answer {
    served.push(request.url);
    const url = new URL(request.url);
    const style = STYLES[url.pathname.slice(1)];
    return style === undefined ? { status: 404, body: {} } : style({ all, url, request, cap });
  }
  return { answer, all, served };
}

type Asked = { all: Item[]; url: URL; request: SentRequest; cap: number };

function slice({ all, cap }: Asked, start: number, size: number): Item[] {
  return all.slice(start, start + Math.min(size, cap));
}

function number(url: URL, name: string, fallback: number): number {
  return Number(url.searchParams.get(name) ?? fallback);
}

const SIZE = 10;

function numbered(asked: Asked) {
  const size = number(asked.url, 'per_page', SIZE);
  const effective = Math.min(size, asked.cap);
  const page = number(asked.url, 'page', 1);
  const pages = Math.ceil(asked.all.length / effective);
  return { page, pages, items: slice(asked, (page - 1) * effective, effective) };
}

const STYLES: Record<string, (asked: Asked) => Answer> = {
  link(asked) {
    const { page, pages, items: body } = numbered(asked);
    const at = (target: number, rel: string) => `<https://api.test/link?page=${target}>; rel="${rel}"`;
    const links = [at(1, 'first'), ...(page < pages ? [at(page + 1, 'next')] : []), at(pages, 'last')];
    return { headers: { link: links.join(', ') }, body };
  },
  'link-next-only'(asked) {
    const { page, pages, items: body } = numbered(asked);
    const link = page < pages ? { link: `</link-next-only?page=${page + 1}>; rel=next; title="a, b; c"` } : {};
    return { headers: link as Record<string, string>, body };
  },
  'next-url'(asked) {
    const start = number(asked.url, 'start', 0);
    const more = start + SIZE < asked.all.length;
    return { body: { next: more ? `?start=${start + SIZE}` : null, results: slice(asked, start, SIZE) } };
  },
  cursor: (asked) => cursorAnswer(asked, asked.url.searchParams.get('cursor')),
  'cursor-header': (asked) => cursorAnswer(asked, asked.request.headers['x-cursor'] ?? null),
  'cursor-body': (asked) => cursorAnswer(asked, bodyOf(asked.request)?.page?.cursor ?? null),
  'header-cursor'(asked) {
    const { body, headers } = cursorAnswer(asked, asked.url.searchParams.get('cursor'));
    const { items: list, next } = body as { items: Item[]; next: string | null };
    return { headers: { ...headers, ...(next === null ? {} : { 'x-next-cursor': next }) }, body: list };
  },
  offset(asked) {
    const offset = number(asked.url, 'offset', 0);
    const list = slice(asked, offset, number(asked.url, 'limit', SIZE));
    return { body: { total: asked.all.length, offset, limit: SIZE, items: list } };
  },
  'offset-no-total'(asked) {
    const offset = number(asked.url, 'offset', 0);
    return { body: { items: slice(asked, offset, number(asked.url, 'limit', SIZE)) } };
  },
  page(asked) {
    const { page, pages, items: list } = numbered(asked);
    return { body: { page, totalPages: pages, total: asked.all.length, hasMore: page < pages, items: list } };
  },
  'page-no-total': (asked) => ({ body: { items: numbered(asked).items } }),
  single: (asked) => ({ body: asked.all }),
  graphql(asked) {
    const { after = '0', first = SIZE } = bodyOf(asked.request)?.variables ?? {};
    const start = Number(after);
    const nodes = slice(asked, start, Number(first));
    const end = start + nodes.length;
    const pageInfo = { hasNextPage: end < asked.all.length, endCursor: String(end) };
    return { body: { data: { products: { nodes, pageInfo, totalCount: asked.all.length } } } };
  },
};

type AskedBody = { page?: { cursor?: string }; variables?: { after?: string; first?: number } };

function bodyOf(request: SentRequest): AskedBody | null {
  return request.payload === null ? null : (JSON.parse(request.payload) as AskedBody);
}

function cursorAnswer(asked: Asked, cursor: string | null): Answer {
  const start = cursor === null ? 0 : Number(cursor.slice(1));
  const more = start + SIZE < asked.all.length;
  return { body: { items: slice(asked, start, SIZE), next: more ? `c${start + SIZE}` : null } };
}
