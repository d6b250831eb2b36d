import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { HostEntry } from '../../src/config/host-schema.ts';
import { defineRoute } from '../../src/index.ts';
import { CrawlerBench } from '../crawl/support/crawlers.ts';
import { Workplace } from '../e2e/millrace.ts';
import {
  allEntries,
  type CursorServer,
  type CursorServerOptions,
  startCursorServer,
} from './fixtures/cursor-server.ts';

let workplace: Workplace;
let server: CursorServer;

beforeEach(async () => {
  workplace = await Workplace.open();
});
afterEach(async () => {
  await server.close();
  await workplace.remove();
});

type Host = Pick<HostEntry, 'sessionPool' | 'retry'>;

async function serve(options: CursorServerOptions): Promise<void> {
  server = await startCursorServer(options);
}

/** An api document for the server. */
async function writeApi(host: Host, entries: object): Promise<string> {
  const document = {
    hosts: { [server.host]: { discovery: 'off', maxConcurrency: 6, robots: 'ignore', ...host } },
    api: {
      baseUrl: server.url,
      resources: [
        { name: 'lists', endpoint: { path: '/lists', paginator: { type: 'singlePage' } } },
        {
          name: 'entries',
          primaryKey: 'id',
          ...entries,
          endpoint: {
            path: '/lists/{resources.lists.id}/entries',
            paginator: { type: 'cursor', cursorPath: '$.next', cursorParam: 'cursor' },
            ...(entries as { endpoint?: object }).endpoint,
          },
        },
      ],
    },
  };
  return workplace.write('crawl.yaml', stringify(document));
}

async function entryIds(): Promise<string[]> {
  const records = await workplace.records<{ id: string }>('default', 'entries');
  return records.map(({ id }) => id).sort();
}

const credentials = ['alice', 'bob'].map((name) => ({ name, headers: { 'X-Key': `\${env:${name.toUpperCase()}}` } }));
const env = { ALICE: 'key-of-alice', BOB: 'key-of-bob' };

const pagesByKey = (): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const [visitor, pages] of server.pagesOf) {
    const key = visitor.split('/')[0]!;
    sums[key] = (sums[key] ?? 0) + pages;
  }
  return sums;
};

describe('a resource with session: sticky', () => {
  const size = { lists: 12, pages: 5 };

  test('has each cursor followed by the cookie that got it, by several at once', async () => {
    await serve(size);
    const { code, stderr, summary } = await workplace.crawl(['crawl', await writeApi({}, { session: 'sticky' })]);
    expect(code, stderr).toBe(0);
    expect(server.strangers).toEqual([]);
    expect(server.pagesOf.size).toBeGreaterThan(1);
    expect(await entryIds()).toEqual(allEntries(size));
    expect(summary.requests).toMatchObject({ succeeded: 1 + 12 * 5, failed: 0, pending: 0 });
  });

  test('and without it they are mixed up, as this server tells', async () => {
    await serve(size);
    const { code } = await workplace.crawl(['crawl', await writeApi({}, { session: 'any' })]);
    expect(code).toBe(3);
    expect(server.strangers.length).toBeGreaterThan(0);
  });

  test('waits for the credential that got the cursor, though the other one has budget left', async () => {
    await serve({ ...size, latencyMs: 20, budgets: { 'key-of-alice': 60, 'key-of-bob': 8 } });
    const file = await writeApi({ sessionPool: { credentials } }, { session: 'sticky' });
    const finished = await workplace.run(['crawl', file, '--json'], env);
    expect(finished.code, finished.stderr).toBe(0);
    expect(server.strangers).toEqual([]);
    expect(await entryIds()).toEqual(allEntries(size));
    const pages = pagesByKey();
    expect(Object.keys(pages).sort()).toEqual(['key-of-alice', 'key-of-bob']);
    expect(pages['key-of-alice']! + pages['key-of-bob']!).toBe(12 * 5);
    // Whole lists: nobody's cursor was ever sent by somebody else.
    expect(pages['key-of-bob']! % 5).toBe(0);
    expect(finished.stdout + finished.stderr).not.toContain('key-of-');
  });

  test('goes on as somebody else, and says so, when the credential is revoked; the listing starts again if told to', async () => {
    let bobsPages = 0;
    await serve({
      ...size,
      latencyMs: 20,
      cookies: false,
      refuse: ({ key }) => (key === 'key-of-bob' && ++bobsPages > 9 ? 401 : null),
    });
    const responseActions = [{ statusCode: 409, action: 'resetPagination' }];
    const file = await writeApi({ sessionPool: { credentials } }, { session: 'sticky', endpoint: { responseActions } });
    const finished = await workplace.run(['crawl', file, '--json'], env);
    expect(finished.code, finished.stderr).toBe(0);
    expect(server.strangers.length).toBeGreaterThan(0);
    expect(await entryIds()).toEqual(allEntries(size));
    expect(finished.stderr.match(/a sticky session was refused/g)).toHaveLength(1);
  });

  test('goes on with the same cookies after the process was killed', async () => {
    const long = { lists: 8, pages: 40 };
    await serve(long);
    const file = await writeApi({}, { session: 'sticky' });
    for (const kills of [1, 2]) {
      const { child, finished } = workplace.start(['crawl', file, '--quiet']);
      await expect.poll(server.served, { timeout: 30_000, interval: 5 }).toBeGreaterThan(kills * 60);
      child.kill('SIGKILL');
      await finished;
    }
    const before = server.pagesOf.size;
    const { code, stderr } = await workplace.crawl(['crawl', file]);
    expect(code, stderr).toBe(0);
    expect(server.strangers).toEqual([]);
    expect(await entryIds()).toEqual(allEntries(long));
    // Eight lists, all begun before the first kill: nobody new has come since.
    expect(server.pagesOf.size).toBe(before);
    expect(stderr).not.toContain('sticky session');
  });
});

describe('code of your own', () => {
  const size = { lists: 6, pages: 4 };
  type Body = { items: { id: string }[]; next: string | null };
  const starts = (label?: string) =>
    Array.from({ length: size.lists }, (_, at) => ({ url: `${server.url}/lists/${at + 1}/entries`, label }));
  let bench: CrawlerBench;

  beforeEach(() => {
    bench = new CrawlerBench('JsonCrawler');
  });
  afterEach(() => bench.end());

  test('a route with session: sticky keeps its next pages with who got them', async () => {
    await serve(size);
    const route = defineRoute<Body>({
      label: 'LIST',
      dataset: 'entries',
      session: 'sticky',
      extract: ({ body, url }) => ({
        records: body.items,
        requests: body.next === null ? [] : [{ url: `${url.split('?')[0]}?cursor=${body.next}` }],
      }),
    });
    const crawler = await bench.createOwn({ routes: [route] });
    await crawler.run(starts('LIST'));
    expect(server.strangers).toEqual([]);
    expect(server.pagesOf.size).toBeGreaterThan(1);
    const { items } = await (await crawler.getDataset('entries')).getData();
    expect(items.map(({ id }) => String(id)).sort()).toEqual(allEntries(size));
  });

  test('a host with sessionPool.sticky does so for whatever a handler adds', async () => {
    await serve(size);
    const crawler = await bench.createOwn({
      hosts: { default: { sessionPool: { sticky: true } } },
      requestHandler: async ({ json, request, pushData, addRequests }) => {
        const { items, next } = json as Body;
        await pushData(items);
        if (next !== null) await addRequests([`${request.url.split('?')[0]}?cursor=${next}`]);
      },
    });
    await crawler.run(starts());
    expect(server.strangers).toEqual([]);
    expect(server.pagesOf.size).toBeGreaterThan(1);
    const { items } = await crawler.getData();
    expect(items.map(({ id }) => String(id)).sort()).toEqual(allEntries(size));
  });
});
