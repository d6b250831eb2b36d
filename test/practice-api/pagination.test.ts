import { describe, expect, test } from 'vitest';
import type {
  CursorPage,
  NextUrlPage,
  NumberedPage,
  OffsetPage,
  ProductSummary,
  RelayPage,
  Review,
} from '../../src/practice-api/types.ts';
import { getJson, start } from './started.ts';

const ALL = Array.from({ length: 40 }, (_, index) => index + 1);
const idsOf = (items: readonly { id: number }[]): number[] => items.map(({ id }) => id);

describe('every style of pagination gives every product once, in order', () => {
  test('cursor: the last page has no next', async () => {
    const { url } = await start();
    const ids: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: CursorPage<ProductSummary> = await getJson(`${url}/products?limit=7&cursor=${cursor}`);
      ids.push(...idsOf(page.items));
      cursor = page.next;
    }
    expect(ids).toEqual(ALL);
  });

  test('page number: pages and total are stated, a page beyond the last is empty', async () => {
    const { url } = await start();
    const page = (number: number) =>
      getJson<NumberedPage<ProductSummary>>(`${url}/pages/products?per_page=12&page=${number}`);
    const pages = await Promise.all([1, 2, 3, 4].map(page));
    expect(pages.flatMap(({ items }) => idsOf(items))).toEqual(ALL);
    expect(pages[0]).toMatchObject({ page: 1, perPage: 12, totalPages: 4, total: 40 });
    expect((await page(5)).items).toEqual([]);
  });

  test('offset: the total is stated', async () => {
    const { url } = await start();
    const pages = await Promise.all(
      [0, 25, 50].map((offset) =>
        getJson<OffsetPage<ProductSummary>>(`${url}/offset/products?limit=25&offset=${offset}`),
      ),
    );
    expect(pages.flatMap(({ results }) => idsOf(results))).toEqual(ALL);
    expect(pages.map(({ total }) => total)).toEqual([40, 40, 40]);
  });

  test('Link header: next until the last page, other parameters kept', async () => {
    const { url } = await start();
    const ids: number[] = [];
    const links: string[] = [];
    let next: string | undefined = `${url}/link/products?per_page=15&lang=de`;
    while (next !== undefined) {
      const response: Response = await fetch(next);
      ids.push(...idsOf((await response.json()) as ProductSummary[]));
      links.push(response.headers.get('link') ?? '');
      next = /<([^>]+)>; rel="next"/.exec(links.at(-1) ?? '')?.[1];
    }
    expect(ids).toEqual(ALL);
    const at = (page: number) => `<${url}/link/products?per_page=15&lang=de&page=${page}>`;
    expect(links[1]).toBe(`${at(1)}; rel="first", ${at(1)}; rel="prev", ${at(3)}; rel="next", ${at(3)}; rel="last"`);
  });

  test('next URL: absolute, null on the last page', async () => {
    const { url } = await start();
    const ids: number[] = [];
    let next: string | null = `${url}/next-url/products?limit=11`;
    while (next !== null) {
      const page: NextUrlPage<ProductSummary> = await getJson(next);
      expect(page.count).toBe(40);
      ids.push(...idsOf(page.results));
      next = page.next;
    }
    expect(ids).toEqual(ALL);
  });

  test('GraphQL: relay cursors', async () => {
    const { url } = await start();
    const ids: number[] = [];
    let after: string | null = null;
    do {
      const page = await queryProducts(url, { first: 9, after });
      ids.push(...page.edges.map(({ node }) => node.id));
      expect(page.totalCount).toBe(40);
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    expect(ids).toEqual(ALL);
  });

  test('reviews of a product: by page number', async () => {
    const { url } = await start();
    const first = await getJson<NumberedPage<Review>>(`${url}/products/4/reviews`);
    const second = await getJson<NumberedPage<Review>>(`${url}/products/4/reviews?page=2`);
    expect([first.items.length, second.items.length, first.total, first.totalPages]).toEqual([10, 2, 12, 2]);
    expect(idsOf([...first.items, ...second.items])).toEqual(Array.from({ length: 12 }, (_, index) => 400 + index));
  });

  test('and none has a page when there are no products', async () => {
    const { url } = await start({ items: 0 });
    expect(await getJson(`${url}/products`)).toEqual({ items: [], next: null });
    expect(await getJson(`${url}/pages/products`)).toMatchObject({ items: [], totalPages: 0, total: 0 });
    expect((await queryProducts(url, {})).pageInfo).toEqual({ hasNextPage: false, endCursor: null });
  });
});

describe('incremental lists', () => {
  test('give what changed at or after a time, the longest unchanged first, each once', async () => {
    const { url } = await start();
    const everything = await changedSince(url, '1970-01-01T00:00:00Z');
    expect(idsOf(everything).toSorted((a, b) => a - b)).toEqual(ALL);
    const times = everything.map(({ updatedAt }) => updatedAt);
    expect(times).toEqual(times.toSorted());
    const since = times[25] as string;
    expect(await changedSince(url, since)).toEqual(everything.slice(25));
  });

  test('grow by what is changed meanwhile', async () => {
    const api = await start();
    const since = new Date(Date.now() - 5_000).toISOString();
    expect(await changedSince(api.url, since)).toEqual([]);
    api.touch([3, 5, 999]);
    const headers = { 'content-type': 'application/json' };
    await getJson(`${api.url}/__touch`, { method: 'POST', body: '{"ids":[9]}', headers });
    expect(idsOf(await changedSince(api.url, since)).toSorted((a, b) => a - b)).toEqual([3, 5, 9]);
  });
});

describe('bad parameters are refused with what is wrong', () => {
  test.each([
    ['/products?limit=0', 'limit must be an integer from 1 to 100'],
    ['/products?limit=101', 'limit must be an integer from 1 to 100'],
    ['/products?limit=1&limit=2', 'limit must be an integer from 1 to 100'],
    ['/products?cursor=xyz', 'cursor is not one that this API gave out'],
    ['/pages/products?page=0', 'page must be an integer from 1 to 9007199254740991'],
    ['/offset/products?offset=-1', 'offset must be an integer from 0 to 9007199254740991'],
    ['/incremental/products?updated_since=soon', 'updated_since must be an ISO 8601 time'],
    ['/incremental/products?cursor=MQ', 'cursor is not one that this API gave out'],
  ])('%s', async (path, message) => {
    const { url } = await start();
    const response = await fetch(url + path);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: { code: 'bad_parameter', message } });
  });

  test('GraphQL for anything but products is answered with 200 and errors', async () => {
    const { url } = await start();
    const body = await postGraphql(url, { query: '{ makers { name } }' });
    expect(body).toEqual({
      data: null,
      errors: [{ message: 'Only the field "products" can be queried here', path: [] }],
    });
  });

  test.each([['/products/41'], ['/products/0'], ['/products/abc'], ['/products/41/reviews'], ['/nothing']])(
    '%s is not found',
    async (path) => {
      const { url } = await start();
      const response = await fetch(url + path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
    },
  );
});

async function changedSince(url: string, since: string): Promise<ProductSummary[]> {
  const found: ProductSummary[] = [];
  let query = `updated_since=${since}`;
  for (;;) {
    const page = await getJson<CursorPage<ProductSummary>>(`${url}/incremental/products?limit=6&${query}`);
    found.push(...page.items);
    if (page.next === null) return found;
    query = `cursor=${page.next}`;
  }
}

async function queryProducts(url: string, variables: object): Promise<RelayPage<ProductSummary>> {
  const query =
    'query ($first: Int, $after: String) { products(first: $first, after: $after) { edges { node { id } } } }';
  const body = (await postGraphql(url, { query, variables })) as { data: { products: RelayPage<ProductSummary> } };
  return body.data.products;
}

function postGraphql(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return getJson(`${url}/graphql`, { method: 'POST', body: JSON.stringify(body), headers });
}
