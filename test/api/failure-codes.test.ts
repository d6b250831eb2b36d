import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemFiles } from '../../src/api/api-context.ts';
import { compileApi } from '../../src/api/compile-api.ts';
import { type ApiDocument, apiSchema } from '../../src/config/api-schema.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { failureCodeOf } from '../../src/crawl/failure-codes.ts';
import type { FailureRecord } from '../../src/crawl/failure-record.ts';
import type { RunCrawler } from '../../src/index.ts';
import type { FollowUp } from '../../src/routes/define-route.ts';
import { CrawlerBench } from '../crawl/support/crawlers.ts';
import { type EchoServer, type Seen, startEcho } from '../crawl/support/echo-server.ts';
import { memoryValues } from './play-crawl.ts';

let bench: CrawlerBench;
let server: EchoServer;

beforeEach(() => {
  bench = new CrawlerBench('JsonCrawler');
});
afterEach(async () => {
  await bench.end();
  await server.close();
});

type Api = Omit<ApiDocument, 'baseUrl'>;
type Answer = { status?: number; headers?: Record<string, string>; body?: unknown };
type Row = {
  title: string;
  api: Partial<Api>;
  /** The answer to all but the token request. */
  answer: (seen: Seen, earlier: number) => Answer;
  token?: Answer;
  expected: Partial<FailureRecord> & Pick<FailureRecord, 'code'>;
  /** Records kept all the same. */
  kept?: number;
};

const oauth: ApiDocument['auth'] = {
  type: 'oauth2ClientCredentials',
  tokenUrl: '/token',
  clientId: 'me',
  clientSecret: '${env:SECRET}',
};

const items = (endpoint: object = {}, rest: object = {}) => [
  { name: 'items', ...rest, endpoint: { path: '/items', paginator: { type: 'singlePage' as const }, ...endpoint } },
];
const ids = (...list: number[]) => list.map((id) => ({ id }));

const rows: Row[] = [
  {
    title: 'a token that the API never takes',
    api: { auth: oauth },
    answer: () => ({ status: 401, body: { error: 'expired' } }),
    expected: { code: 'UNAUTHORIZED', status: 401 },
  },
  {
    title: 'a selector that matches nothing, with the lists that are there',
    api: { resources: items({ dataSelector: '$.rows[*]' }) },
    answer: () => ({ body: { items: ids(1) } }),
    expected: { code: 'SELECTOR_NO_MATCH', attempts: 1, message: expect.stringContaining('$.items[*]') },
  },
  {
    title: 'a selector that points at what is no list',
    api: { resources: items({ dataSelector: '$.total' }) },
    answer: () => ({ body: { items: ids(1), total: 1 } }),
    expected: { code: 'SELECTOR_NO_LIST', attempts: 1, message: expect.stringContaining('$.total') },
  },
  {
    title: 'a cursor that comes again after other pages',
    api: { resources: items({ paginator: { type: 'cursor', cursorPath: '$.next', cursorParam: 'c' } }) },
    answer: ({ path }) => {
      const at = Number(new URL(path, server.url).searchParams.get('c') ?? 0);
      return { body: { items: ids(at), next: String((at % 3) + 1) } };
    },
    expected: { code: 'REPEATED_CURSOR', attempts: 1 },
    kept: 4,
  },
  {
    title: 'a server that gives the same page whatever is asked for',
    api: { resources: items({ paginator: { type: 'pageNumber' } }) },
    answer: () => ({ body: { items: ids(1, 2) } }),
    expected: { code: 'REPEATED_PAGE', attempts: 1 },
    // Without a primaryKey nothing says that they are the same records.
    kept: 4,
  },
  {
    title: 'a record without the field that its children are made from',
    api: { resources: [...items(), { name: 'parts', endpoint: { path: '/items/{resources.items.id}/parts' } }] },
    answer: ({ path }) => ({ body: path === '/items' ? { items: [{ id: 1 }, { name: 'no id' }] } : { items: [] } }),
    expected: { code: 'PARENT_FIELD_MISSING', label: 'parts', message: expect.stringContaining('which has name') },
    kept: 2,
  },
  {
    title: 'a paginator of your own that throws',
    api: { resources: items({ paginator: { type: 'code', module: './fixtures/throwing-paginator.ts' } }) },
    answer: () => ({ body: { items: ids(1) } }),
    expected: { code: 'PAGINATOR_FAILED', attempts: 1, message: expect.stringContaining('my own mistake') },
  },
  {
    title: 'a responseAction that says so, though the status is 200',
    api: {
      resources: items({ responseActions: [{ condition: '$.fatal', action: 'fail', message: 'it says fatal' }] }),
    },
    answer: () => ({ body: { fatal: true } }),
    expected: { code: 'RESPONSE_ACTION', status: 200, attempts: 1, message: expect.stringContaining('it says fatal') },
  },
  {
    title: 'a listing that has to start again too often',
    api: {
      resources: items({
        paginator: { type: 'cursor', cursorPath: '$.next', cursorParam: 'c' },
        responseActions: [{ statusCode: 410, action: 'resetPagination' }],
      }),
    },
    answer: ({ path }) => (path.includes('c=') ? { status: 410, body: {} } : { body: { items: ids(1), next: 'x' } }),
    expected: { code: 'RESET_PAGINATION_LOOP', status: 410 },
    kept: 4,
  },
  {
    title: 'GraphQL errors without data',
    api: {
      resources: items({
        json: { query: '{ items { nodes { id } pageInfo { endCursor hasNextPage } } }' },
        paginator: { type: 'graphqlRelay', connectionPath: '$.data.items' },
      }),
    },
    answer: () => ({ body: { errors: [{ message: 'no such field: items' }] } }),
    expected: { code: 'GRAPHQL_ERROR', method: 'POST', message: expect.stringContaining('no such field: items') },
  },
  {
    title: 'a record that a frozen schema does not know',
    api: {
      resources: items({}, { schema: { type: 'object', required: ['name'] }, schemaContract: 'freeze' }),
    },
    answer: () => ({ body: { items: ids(1) } }),
    expected: { code: 'SCHEMA_FROZEN', attempts: 1, message: expect.stringContaining('name') },
  },
  {
    title: 'a token server that fails for longer than its retries',
    api: { auth: oauth },
    token: { status: 503, body: {} },
    answer: () => ({ body: { items: ids(1) } }),
    expected: { code: 'AUTH_UNREACHABLE', status: null },
  },
];

type Begun = { crawler: RunCrawler; run: () => Promise<unknown> };

/** A crawl of the api on a real server; `run` begins each of its resources. */
async function open({ api, answer, token = { body: { access_token: 't' } } }: Row): Promise<Begun> {
  server = await startEcho((seen, earlier) => {
    const { body, ...rest } = seen.path === '/token' ? token : answer(seen, earlier);
    return { ...rest, body: JSON.stringify(body) };
  });
  const files = systemFiles(import.meta.dirname, { SECRET: 'client-secret' });
  const compiled = await compileApi(apiSchema.parse({ resources: items(), ...api, baseUrl: server.url }), {
    ...files,
    importModule: (file) => import(files.pathOf(file)),
    fetch: async ({ url, ...request }) => {
      const response = await fetch(url, request);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
    },
    clock: systemClock,
    log: silentLog,
    values: memoryValues(),
    samplePages: null,
  });
  const crawler = await bench.createOwn({ routes: compiled.routes, maxRequestRetries: 1 });
  const seeds = compiled.routes.flatMap((route) => [...((route.seeds?.(NO_PRACTICE) ?? []) as Iterable<FollowUp>)]);
  return { crawler, run: () => crawler.run(seeds as never) };
}

const NO_PRACTICE = { practiceApiUrl: null };

async function datasetOf(crawler: RunCrawler, name: string): Promise<Record<string, unknown>[]> {
  return (await (await crawler.getDataset(name)).getData()).items;
}

describe('a secret in a body', () => {
  const withSecret = { json: { query: 'all', key: '${env:SECRET}' } };

  /** Posts the secret to /items, which sends it on to another server with the status. */
  async function redirected(status: number, toHome: boolean) {
    const elsewhere = await startEcho(() => ({ body: '{"items":[{"id":7}]}' }));
    const { crawler, run } = await open({
      title: '',
      api: { resources: items(withSecret) },
      answer: ({ path }) =>
        path === '/items'
          ? { status, headers: { location: `${toHome ? '' : elsewhere.url}/there` }, body: {} }
          : { body: { items: ids(7) } },
      expected: { code: 'SECRET_REDIRECTED' },
    });
    await run();
    await elsewhere.close();
    expect(server.seen[0]).toMatchObject({ method: 'POST', body: '{"query":"all","key":"client-secret"}' });
    const [failures, records] = [await datasetOf(crawler, 'failures'), await datasetOf(crawler, 'items')];
    return { elsewhere: elsewhere.seen, failures, records };
  }

  test.each([307, 308, 301, 302])('does not follow a %i to another server', async (status) => {
    const { elsewhere, failures, records } = await redirected(status, false);
    expect(JSON.stringify(elsewhere)).not.toContain('client-secret');
    if (status > 303) {
      expect(elsewhere).toEqual([]);
      expect(failures).toMatchObject([{ code: 'SECRET_REDIRECTED', attempts: 1 }]);
      expect(JSON.stringify(failures)).not.toContain('client-secret');
    } else {
      // As a GET without the body, as every client has it.
      expect(elsewhere).toMatchObject([{ method: 'GET', path: '/there', body: '' }]);
      expect([failures, records]).toEqual([[], [{ id: 7 }]]);
    }
  });

  test('follows a 307 within its origin', async () => {
    const { failures, records } = await redirected(307, true);
    expect(server.seen[1]).toMatchObject({ method: 'POST', path: '/there', body: server.seen[0]!.body });
    expect([failures, records]).toEqual([[], [{ id: 7 }]]);
  });

  test('and none in it, goes along', async () => {
    const elsewhere = await startEcho(() => ({ body: '{"items":[{"id":7}]}' }));
    const { crawler, run } = await open({
      title: '',
      api: { resources: items({ json: { query: 'all' } }) },
      answer: () => ({ status: 307, headers: { location: `${elsewhere.url}/there` }, body: {} }),
      expected: { code: 'SECRET_REDIRECTED' },
    });
    await run();
    await elsewhere.close();
    expect(elsewhere.seen).toMatchObject([{ method: 'POST', body: '{"query":"all"}' }]);
    expect(await datasetOf(crawler, 'items')).toEqual([{ id: 7 }]);
  });
});

describe('a request of a declared resource that failed for good is a row in failures:', () => {
  test.each(rows)('$expected.code, $title', async (row) => {
    const { crawler, run } = await open(row);
    await run();
    const failures = await datasetOf(crawler, 'failures');
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ label: 'items', ...row.expected });
    expect(JSON.stringify(failures)).not.toContain('client-secret');
    expect(await datasetOf(crawler, 'items')).toHaveLength(row.kept ?? 0);
  });

  test('not one whose credentials the token server refuses: the crawl ends, and goes on when they are right', async () => {
    const refused = { status: 401, body: { error: 'invalid_client' } };
    const { crawler, run } = await open({
      title: '',
      api: { auth: oauth },
      token: refused,
      answer: () => ({}),
      expected: { code: 'AUTH_FAILED' },
    });
    const error = await run().catch((thrown: unknown) => thrown);
    expect({ code: failureCodeOf(error) }).toEqual({ code: 'AUTH_FAILED' });
    expect(await bench.countsOf(crawler)).toMatchObject({ failed: 0, pending: 1 });
  });
});
