import { describe, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/config/api-schema.ts';
import { listingServer } from './listing-server.ts';
import { playCrawl } from './play-crawl.ts';

type Endpoint = ApiDocument['resources'][number]['endpoint'];

function api(endpoint: Endpoint): ApiDocument {
  return { baseUrl: 'https://api.test', resources: [{ name: 'items', primaryKey: 'id', endpoint }] };
}

const query = 'query ($first: Int, $after: String) { products(first: $first, after: $after) { nodes { id } } }';

/** Every style, by its own paginator and found out by auto. */
const STYLES: Record<string, { endpoint: Endpoint; auto?: string }> = {
  headerLink: {
    endpoint: { path: 'link', paginator: { type: 'headerLink' } },
    auto: 'headerLink (a Link header with rel=',
  },
  'headerLink without a last page': {
    endpoint: { path: 'link-next-only', paginator: { type: 'headerLink' } },
    auto: 'headerLink (a Link header with rel=next',
  },
  jsonLink: {
    endpoint: { path: 'next-url', paginator: { type: 'jsonLink', nextUrlPath: '$.next' } },
    auto: 'jsonLink (a URL at next',
  },
  cursor: {
    endpoint: { path: 'cursor', paginator: { type: 'cursor', cursorPath: '$.next' } },
    auto: 'cursor (a cursor at next, sent back as ?cursor=',
  },
  'cursor in a header': {
    endpoint: { path: 'cursor-header', paginator: { type: 'cursor', cursorPath: '$.next', cursorHeader: 'X-Cursor' } },
  },
  'cursor in the body': {
    endpoint: {
      path: 'cursor-body',
      json: { filter: 'all' },
      paginator: { type: 'cursor', cursorPath: '$.next', cursorBodyPath: 'page.cursor' },
    },
  },
  headerCursor: {
    endpoint: { path: 'header-cursor', paginator: { type: 'headerCursor', responseHeader: 'X-Next-Cursor' } },
    auto: 'headerCursor (the header x-next-cursor',
  },
  offset: {
    endpoint: { path: 'offset', paginator: { type: 'offset', limit: 10, totalPath: '$.total' } },
    auto: 'offset (a total at total, with ?offset=',
  },
  'offset without a total': { endpoint: { path: 'offset-no-total', paginator: { type: 'offset', limit: 10 } } },
  'pageNumber with the number of pages': {
    endpoint: { path: 'page', paginator: { type: 'pageNumber', totalPagesPath: '$.totalPages' } },
    auto: 'pageNumber (a number of pages at totalPages, asked for by ?page=',
  },
  'pageNumber with the number of records': {
    endpoint: {
      path: 'page',
      paginator: { type: 'pageNumber', pageSize: 7, pageSizeParam: 'per_page', totalPath: '$.total' },
    },
  },
  'pageNumber with a flag': {
    endpoint: { path: 'page', paginator: { type: 'pageNumber', hasMorePath: '$.hasMore' } },
  },
  'pageNumber alone': { endpoint: { path: 'page-no-total', paginator: { type: 'pageNumber' } } },
  singlePage: { endpoint: { path: 'single', paginator: { type: 'singlePage' } }, auto: 'singlePage (no sign' },
  graphqlRelay: {
    endpoint: {
      path: 'graphql',
      json: { query },
      paginator: { type: 'graphqlRelay', connectionPath: '$.data.products', pageSizeVariable: 'first', pageSize: 9 },
    },
  },
  code: {
    endpoint: { path: 'cursor', paginator: { type: 'code', module: './fixtures/own-paginator.ts' } },
  },
};

describe.each([0, 1, 10, 47])('a list of %i records', (count) => {
  test.each(Object.entries(STYLES))('is fetched whole and in order by %s', async (_name, { endpoint }) => {
    const server = listingServer(count);
    const played = await playCrawl(api(endpoint), server);
    expect(played.failures).toEqual([]);
    expect(played.records.items ?? []).toEqual(server.all);
    expect(played.finished[0]!.completeness.duplicates).toBe(0);
  });

  test.each(Object.entries(STYLES))(
    'comes the same by %s when pages go one after the other',
    async (_name, { endpoint }) => {
      const server = listingServer(count);
      const played = await playCrawl(api({ ...endpoint, parallelPages: 'off' }), server);
      expect(played.records.items ?? []).toEqual(server.all);
      expect(played.mostPending).toBe(1);
    },
  );
});

test('a list that was found on the first page is looked for at the same place on the last, which is empty', async () => {
  const played = await playCrawl(api({ path: 'x', paginator: { type: 'pageNumber' } }), {
    answer: ({ url }) => ({ body: { parts: url.endsWith('page=1') ? [{ id: 1, name: 'a' }] : [], note: 'x' } }),
  });
  expect(played.records.items).toEqual([{ id: 1, name: 'a' }]);
});

describe('auto', () => {
  const found = Object.entries(STYLES).filter(([, style]) => style.auto !== undefined);
  test.each(found)('finds out %s, and says what it found', async (_name, { endpoint, auto }) => {
    const server = listingServer(47);
    const { paginator: _own, ...rest } = endpoint;
    const played = await playCrawl(api({ ...rest, paginator: { type: 'auto' } }), server);
    expect(played.records.items).toEqual(server.all);
    expect(played.said.join('\n')).toContain(`info: items: auto pagination: ${auto}`);
  });

  test('is what holds without a paginator', async () => {
    const server = listingServer(47);
    const played = await playCrawl(api({ path: 'link' }), server);
    expect(played.records.items).toEqual(server.all);
  });
});

describe('pages whose number is known', () => {
  test.each([
    ['offset', STYLES.offset!.endpoint, 4],
    ['pageNumber', STYLES['pageNumber with the number of pages']!.endpoint, 4],
    ['headerLink', STYLES.headerLink!.endpoint, 4],
    ['auto', { path: 'page' }, 4],
  ] as [string, Endpoint, number][])('are all queued after the first: %s', async (_name, endpoint, pending) => {
    const played = await playCrawl(api(endpoint), listingServer(47));
    expect(played.mostPending).toBe(pending);
    expect(played.sent).toHaveLength(5);
  });

  test('of a list that has grown meanwhile are gone on with after the last', async () => {
    const server = listingServer(47);
    let asked = 0;
    const answer: typeof server.answer = (request) => {
      if (++asked === 3) server.all.push(...Array.from({ length: 20 }, (_, at) => ({ id: 100 + at, name: 'late' })));
      return server.answer(request);
    };
    const played = await playCrawl(api(STYLES.offset!.endpoint), { answer });
    expect(played.records.items).toHaveLength(67);
    expect(played.finished[0]!.completeness).toMatchObject({ declared: 67, fetched: 67, gaps: 0, suspectedShifts: 1 });
  });
});

describe('a server that gives fewer records than asked for', () => {
  test.each([
    ['offset', { path: 'offset', paginator: { type: 'offset', limit: 50, totalPath: '$.total' } }],
    ['offset without a total', { path: 'offset-no-total', paginator: { type: 'offset', limit: 50 } }],
    [
      'pageNumber',
      {
        path: 'page',
        paginator: { type: 'pageNumber', pageSize: 50, pageSizeParam: 'per_page', totalPath: '$.total' },
      },
    ],
  ] as [string, Endpoint][])('leaves no gap: %s', async (_name, endpoint) => {
    const server = listingServer(47, { cap: 8 });
    const played = await playCrawl(api(endpoint), server);
    expect(played.records.items).toEqual(server.all);
    expect(played.finished[0]!.completeness.duplicates).toBe(0);
  });
});

describe('stops', () => {
  test.each([
    ['maxPages', { path: 'cursor', paginator: { type: 'cursor', cursorPath: '$.next', maxPages: 2 } }, 20],
    [
      'maxPages of pages at once',
      { path: 'page', paginator: { type: 'pageNumber', totalPagesPath: '$.totalPages', maxPages: 3 } },
      30,
    ],
    [
      'maximumOffset',
      { path: 'offset', paginator: { type: 'offset', limit: 10, totalPath: '$.total', maximumOffset: 20 } },
      30,
    ],
    [
      'maximumPage against hasMore',
      { path: 'page', paginator: { type: 'pageNumber', hasMorePath: '$.hasMore', maximumPage: 2 } },
      20,
    ],
    [
      'stopCondition',
      { path: 'page', paginator: { type: 'pageNumber', stopCondition: '$[?@ == 3]', hasMorePath: '$.hasMore' } },
      30,
    ],
    [
      'hasMorePath against a cursor',
      { path: 'cursor', paginator: { type: 'cursor', cursorPath: '$.next', hasMorePath: '$.more' } },
      10,
    ],
  ] as [string, Endpoint, number][])('%s ends the listing', async (_name, endpoint, expected) => {
    const played = await playCrawl(api(endpoint), listingServer(47));
    expect(played.records.items).toHaveLength(expected);
    expect(played.failures).toEqual([]);
  });

  test('a total that is missing falls back to an empty page, with one warning', async () => {
    const endpoint: Endpoint = {
      path: 'offset-no-total',
      paginator: { type: 'offset', limit: 10, totalPath: '$.total' },
    };
    const server = listingServer(47);
    const played = await playCrawl(api(endpoint), server);
    expect(played.records.items).toEqual(server.all);
    expect(played.said.filter((line) => line.startsWith('warn'))).toEqual([
      'warn: items: totalPath $.total is no number: pages are fetched one by one until one is empty',
    ]);
  });

  test('a total that is null falls back as one that is missing', async () => {
    const server = listingServer(25);
    const answer: typeof server.answer = (request) => {
      const { body, ...rest } = server.answer(request);
      return { ...rest, body: { ...(body as object), total: null } };
    };
    const endpoint: Endpoint = { path: 'offset', paginator: { type: 'offset', limit: 10, totalPath: '$.total' } };
    const played = await playCrawl(api(endpoint), { answer });
    expect(played.records.items).toEqual(server.all);
  });

  test.each([9, 10, 25])('a total that is the length of the page is not believed: %i records', async (count) => {
    const server = listingServer(count);
    const answer: typeof server.answer = (request) => {
      const { body } = server.answer(request);
      const { items } = body as { items: unknown[] };
      return { body: { items, total: items.length } };
    };
    const endpoint: Endpoint = { path: 'offset', paginator: { type: 'offset', limit: 10, totalPath: '$.total' } };
    const played = await playCrawl(api(endpoint), { answer });
    expect(played.records.items).toEqual(server.all);
    expect(played.said.some((line) => line.includes('less than there is'))).toBe(count > 10);
  });

  test('an empty page between two others does not end a listing whose server names the next page', async () => {
    const pages: Record<string, object> = {
      '': { items: [{ id: 1 }], next: 'a' },
      a: { items: [], next: 'b' },
      b: { items: [{ id: 2 }], next: null },
    };
    const played = await playCrawl(
      api({ path: 'x', dataSelector: '$.items', paginator: { type: 'cursor', cursorPath: '$.next' } }),
      {
        answer: ({ url }) => ({ body: pages[new URL(url).searchParams.get('cursor') ?? ''] }),
      },
    );
    expect(played.records.items).toEqual([{ id: 1 }, { id: 2 }]);
  });
});

describe('a listing that goes in circles', () => {
  /** Page n names page next[n]. */
  function circle(next: number[]) {
    return ({ url }: { url: string }) => {
      const page = Number(new URL(url).searchParams.get('cursor') ?? 0);
      return { body: { items: [{ id: page }], next: next[page] } };
    };
  }
  const endpoint: Endpoint = {
    path: 'x',
    dataSelector: '$.items[*]',
    paginator: { type: 'cursor', cursorPath: '$.next' },
  };

  test('at once is found at once, both pages are named, and nothing fetched is lost', async () => {
    const played = await playCrawl(api(endpoint), { answer: circle([1, 1]) });
    expect(played.failures).toEqual([
      {
        url: 'https://api.test/x?cursor=1',
        label: 'items',
        code: 'REPEATED_CURSOR',
        message: 'items: page 2 names the same next page as page 1: "1" led to page 2, and would to page 3',
      },
    ]);
    expect(played.records.items).toEqual([{ id: 0 }, { id: 1 }]);
    expect(played.sent).toHaveLength(2);
  });

  test('over several pages is found when the first of them comes again', async () => {
    const played = await playCrawl(api(endpoint), { answer: circle([1, 2, 3, 4, 2]) });
    expect(played.failures[0]!.message).toContain(
      'page 5 names the same next page as page 2: "2" led to page 3, and would to page 6',
    );
    expect(played.sent).toHaveLength(5);
  });

  test('of any length is found within three times its length', async () => {
    const length = 300;
    const next = Array.from({ length }, (_, at) => (at + 1 === length ? 40 : at + 1));
    const played = await playCrawl(api(endpoint), { answer: circle(next) });
    expect(played.failures).toHaveLength(1);
    expect(played.failures[0]!.code).toBe('REPEATED_CURSOR');
    expect(played.sent.length).toBeLessThan(3 * length);
    expect(played.records.items).toHaveLength(length);
  });

  test('ends quietly with onRepeatedPage: stop', async () => {
    const stops = {
      ...endpoint,
      paginator: { type: 'cursor' as const, cursorPath: '$.next', onRepeatedPage: 'stop' as const },
    };
    const played = await playCrawl(api(stops), { answer: circle([1, 2, 1]) });
    expect(played.failures).toEqual([]);
    expect(played.sent).toHaveLength(3);
  });

  test('is none where a scroll id stays the same on purpose: onRepeatedPage: continue', async () => {
    let page = 0;
    const scroll = {
      ...endpoint,
      paginator: { type: 'cursor' as const, cursorPath: '$.next', onRepeatedPage: 'continue' as const },
    };
    const played = await playCrawl(api(scroll), {
      answer: () => ({ body: ++page < 5 ? { items: [{ id: page }], next: 'scroll-1' } : { items: [], next: null } }),
    });
    expect(played.records.items).toHaveLength(4);
  });

  test('because the server does not look at the page number fails, naming both pages', async () => {
    const played = await playCrawl(api({ path: 'single', paginator: { type: 'pageNumber' } }), listingServer(3));
    expect(played.failures[0]!.code).toBe('REPEATED_PAGE');
    expect(played.failures[0]!.message).toContain('page 2 has the same records as page 1');
    expect(played.records.items).toHaveLength(3);
    expect(played.sent).toHaveLength(2);
  });
});

test('a total beyond what came, where nothing says how to ask for more, is a gap and a warning', async () => {
  const body = { data: { rows: [{ id: 1 }, { id: 2 }], total: 20 } };
  const said = (lines: readonly string[]) => lines.filter((line) => line.startsWith('warn'));
  const auto = await playCrawl(api({ path: '/things' }), { answer: () => ({ body }) });
  expect(said(auto.said)).toEqual([
    'warn: items: $.data.total says 20 records and 2 came, and nothing says how to ask for more: name the paginator (pageNumber or offset, as the API documents), or singlePage if these are all',
  ]);
  expect(auto.finished[0]!.completeness).toMatchObject({ declared: 20, fetched: 2, gaps: 18 });

  const single = { path: '/things', paginator: { type: 'singlePage' as const } };
  const declared = await playCrawl(api(single), { answer: () => ({ body }) });
  expect(said(declared.said)).toEqual([]);
  expect(declared.finished[0]!.completeness).toMatchObject({ declared: null, gaps: 0 });

  const whole = { items: [{ id: 1 }, { id: 2 }], total: 2 };
  expect(said((await playCrawl(api({ path: '/things' }), { answer: () => ({ body: whole }) })).said)).toEqual([]);
});

test.each([
  ['auto', { path: '/things' }],
  ['singlePage', { path: '/things', paginator: { type: 'singlePage' as const } }],
])('a total that a single page states, and that came, is declared by %s', async (_name, endpoint) => {
  const one = { items: [{ id: 1 }, { id: 2 }] };
  for (const body of [
    { ...one, total: 2 },
    { ...one, meta: { total_count: 2, total_pages: 1 } },
  ]) {
    const played = await playCrawl(api(endpoint), { answer: () => ({ body }) });
    expect(played.finished[0]!.completeness).toMatchObject({ declared: 2, fetched: 2, gaps: 0 });
  }
});

test('a count of the page alone is no total of the pages that follow', async () => {
  const answer = ({ url }: { url: string }) =>
    url.includes('cursor')
      ? { body: { items: [{ id: 3 }], count: 1 } }
      : { body: { items: [{ id: 1 }, { id: 2 }], count: 2, next_cursor: 'b' } };
  const played = await playCrawl(api({ path: '/things' }), { answer });
  expect(played.finished[0]!.completeness).toMatchObject({ declared: null, fetched: 3, gaps: 0 });
});

test('a primaryKey or an incremental cursorPath that no record has is said, once', async () => {
  const document = api({
    path: '/things',
    paginator: { type: 'singlePage' },
    incremental: { cursorPath: 'updated', initialValue: 0 },
  });
  const resources = [{ ...document.resources[0]!, primaryKey: 'idd' }];
  const played = await playCrawl(
    { ...document, resources },
    { answer: () => ({ body: [{ id: 1, updated_at: 5 }, { id: 2 }] }) },
  );
  expect(played.records.items).toHaveLength(2);
  expect(played.said.filter((line) => line.startsWith('warn'))).toEqual([
    'warn: items: primaryKey: no record of the page has "idd", so none is told apart by it. Did you mean id?',
    'warn: items: incremental: no record of the page has "updated", so it does not move. Did you mean updated_at?',
  ]);
});

test('each page goes on where a crash left off, and no record comes twice', async () => {
  const { newQueue, memoryValues } = await import('./play-crawl.ts');
  const server = listingServer(47);
  const state = { queue: newQueue(), values: memoryValues() };
  await playCrawl(api(STYLES.cursor!.endpoint), { ...server, ...state, crashAfter: 3 });
  const played = await playCrawl(api(STYLES.cursor!.endpoint), { ...server, ...state });
  expect(played.records.items).toEqual(server.all);
  expect(played.sent).toHaveLength(2);
  expect(played.finished[0]!.completeness.fetched).toBe(47);
});
