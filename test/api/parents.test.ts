import { describe, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/config/api-schema.ts';
import { type Answer, playCrawl } from './play-crawl.ts';

const document: ApiDocument = {
  baseUrl: 'https://api.test',
  paginator: { type: 'pageNumber', totalPagesPath: '$.pages' },
  resourceDefaults: { primaryKey: 'id', endpoint: { dataSelector: '$.data[*]' } },
  resources: [
    { name: 'shops', endpoint: { path: '/shops' } },
    {
      name: 'orders',
      endpoint: { path: '/shops/{resources.shops.id}/orders' },
      includeFromParent: ['id', 'owner.name'],
    },
    {
      name: 'lines',
      endpoint: {
        path: '/orders/{resources.orders.key}/lines',
        params: { shop: '{resources.shops.id}' },
        headers: { 'X-Owner': '{resources.shops.owner.name}' },
      },
    },
  ],
};

const shops = [1, 2, 3].map((id) => ({ id, owner: { name: `owner ${id}` } }));
const ordersOf = (shop: number) => [1, 2].map((n) => ({ id: shop * 10 + n, key: `o${shop}/${n}` }));
const linesOf = (key: string) => [1, 2, 3].map((n) => ({ id: `${key}-${n}` }));

function page(list: object[], url: URL): Answer {
  const number = Number(url.searchParams.get('page'));
  return { body: { pages: list.length, data: list.slice(number - 1, number) } };
}

function serve({ url, headers }: { url: string; headers: Readonly<Record<string, string>> }): Answer {
  const parsed = new URL(url);
  const [, first, id, second] = parsed.pathname.split('/').map(decodeURIComponent);
  if (second === undefined) return page(shops, parsed);
  if (first === 'shops') return page(ordersOf(Number(id)), parsed);
  const shop = parsed.searchParams.get('shop');
  if (headers['x-owner'] !== `owner ${shop}`) return { status: 400 };
  return page(linesOf(id!), parsed);
}

describe('parents and children', () => {
  test('of three levels come whole, each parent with pages of its own', async () => {
    const played = await playCrawl(document, { answer: serve });
    expect(played.failures).toEqual([]);
    expect(played.records.shops).toEqual(shops);
    expect(played.records.orders).toHaveLength(6);
    expect(played.records.lines!.map(({ id }) => id).toSorted()).toEqual(
      shops.flatMap(({ id }) => ordersOf(id).flatMap(({ key }) => linesOf(key).map((line) => line.id))).toSorted(),
    );
    expect(played.finished.map(({ completeness }) => [completeness.resource, completeness.fetched])).toEqual([
      ['shops', 3],
      ['orders', 6],
      ['lines', 18],
    ]);
  });

  test('take along what includeFromParent names', async () => {
    const played = await playCrawl(document, { answer: serve });
    expect(played.records.orders![0]).toEqual({ id: 11, key: 'o1/1', _shops_id: 1, '_shops_owner.name': 'owner 1' });
  });

  test('say once that includeFromParent names a field that is not there', async () => {
    const [shopsResource, orders] = document.resources;
    const misspelt = { ...orders!, includeFromParent: ['idd'] };
    const played = await playCrawl({ ...document, resources: [shopsResource!, misspelt] }, { answer: serve });
    expect(played.records.orders![0]).toMatchObject({ _shops_idd: null });
    expect(played.said.filter((line) => line.includes('includeFromParent'))).toEqual([
      'warn: orders: includeFromParent: a record of shops has no "idd". Did you mean id?',
    ]);
  });

  test('fail on their own: the parent and the other children are there', async () => {
    const played = await playCrawl(document, {
      answer: (request) => (request.url.includes('o2%2F1') ? { status: 404 } : serve(request)),
    });
    expect(played.failures.map(({ url, code }) => [url, code])).toEqual([
      ['https://api.test/orders/o2%2F1/lines?shop=2&page=1', 'HTTP_404'],
    ]);
    expect(played.records.lines).toHaveLength(15);
  });

  test('whose selector matches nothing fail, naming what is there; what is beside them is fetched', async () => {
    const [shopsResource, orders] = document.resources;
    const wrong = { ...orders!, endpoint: { ...orders!.endpoint, dataSelector: '$.orders[*]' } };
    const played = await playCrawl({ ...document, resources: [shopsResource!, wrong] }, { answer: serve });
    expect(played.records.shops).toEqual(shops);
    expect(played.failures).toHaveLength(3);
    expect(played.failures[0]).toMatchObject({
      code: 'SELECTOR_NO_MATCH',
      message: 'orders: dataSelector $.orders[*] matches nothing on the first page. Lists there: $.data[*]',
    });
  });

  test('that cannot be asked for, as the parent lacks the field, are failures with a row each', async () => {
    const played = await playCrawl(document, {
      answer(request) {
        const answer = serve(request);
        const { data } = answer.body as { data: Record<string, unknown>[] };
        return {
          ...answer,
          body: {
            ...(answer.body as object),
            data: data.map(({ key, ...rest }) =>
              rest.id === 11 || rest.id === 12 ? { ...rest, key: null } : { ...rest, key },
            ),
          },
        };
      },
    });
    expect(played.failures).toHaveLength(2);
    expect(played.failures[0]).toEqual({
      url: 'https://api.test/orders/%7Bresources.orders.key%7D/lines?page=1',
      label: 'lines',
      code: 'PARENT_FIELD_MISSING',
      message: 'lines: {resources.orders.key} is null in a record of orders, which has id, key',
    });
    expect(played.records.lines).toHaveLength(12);
  });

  test('are asked for once, where two parents lead to the same', async () => {
    const api: ApiDocument = {
      baseUrl: 'https://api.test',
      resources: [
        { name: 'orders', endpoint: { path: '/orders' } },
        { name: 'customers', endpoint: { path: '/customers/{resources.orders.customer}' } },
      ],
    };
    const answer = ({ url }: { url: string }): Answer =>
      url.endsWith('/orders')
        ? {
            body: [
              { id: 1, customer: 7 },
              { id: 2, customer: 7 },
            ],
          }
        : { body: { id: 7 } };
    const played = await playCrawl(api, { answer });
    expect(played.sent).toHaveLength(2);
    const [orders, customers] = api.resources;
    const included = { ...api, resources: [orders!, { ...customers!, includeFromParent: ['id'] }] };
    const both = await playCrawl(included, { answer });
    expect(both.records.customers).toEqual([
      { id: 7, _orders_id: 1 },
      { id: 7, _orders_id: 2 },
    ]);
  });

  test('keep every digit of an id beyond 2^53, in URL, body and record', async () => {
    const { apiSchema } = await import('../../src/config/api-schema.ts');
    const { compileApi } = await import('../../src/api/compile-api.ts');
    const { systemFiles } = await import('../../src/api/api-context.ts');
    const { silentLog } = await import('../../src/core/log.ts');
    const { systemClock } = await import('../../src/core/clock.ts');
    const api = await compileApi(
      apiSchema.parse({
        baseUrl: 'https://api.test',
        resources: [
          { name: 'a', endpoint: { path: '/a' } },
          {
            name: 'b',
            includeFromParent: ['id'],
            endpoint: { path: '/b/{resources.a.id}', json: { id: '{resources.a.id}' } },
          },
        ],
      }),
      {
        ...systemFiles('/', {}),
        importModule: async () => ({}),
        fetch: async () => ({ status: 500, headers: {}, body: '' }),
        clock: systemClock,
        log: silentLog,
        values: null,
        samplePages: null,
      },
    );
    const [a, b] = api.routes;
    const [seed] = api.firstRequests();
    const request = { url: seed!.url, method: 'GET', headers: {}, payload: null };
    const page = { url: seed!.url, status: 200, headers: {}, userData: seed!.userData!, request };
    const [child] = [...a!.extract({ ...page, body: [{ id: 9007199254740993n }] }).requests!];
    expect(child!.url).toBe('https://api.test/b/9007199254740993');
    expect(child!.payload).toBe('{"id":9007199254740993}');
    const stored = JSON.parse(JSON.stringify(child!.userData)) as Record<string, unknown>;
    const records = [...b!.extract({ ...page, userData: stored, body: [{ x: 1 }] }).records!];
    expect(records).toEqual([{ x: 1, _a_id: 9007199254740993n }]);
  });

  test('are counted against --sample by resource, not by parent', async () => {
    const played = await playCrawl(document, { answer: serve, samplePages: 2 });
    const byLabel = ['/shops?', '/orders?', '/lines?'].map(
      (part) => played.sent.filter((url) => url.includes(part)).length,
    );
    expect(byLabel).toEqual([2, 2, 2]);
  });
});
