import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Arrival, type FixtureServer, type Reply, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

vi.setConfig({ testTimeout: 120_000 });

const TOO_LARGE = 4;
const WITHOUT_VALIDATORS = 5;

let place: Workplace;
let server: FixtureServer;
let versions: Map<string, number>;
let seen: Arrival[];

beforeEach(async () => {
  versions = new Map();
  seen = [];
  place = await Workplace.open();
  server = await serve((arrival): Reply => {
    seen.push(arrival);
    const { path, headers } = arrival;
    if (path === '/robots.txt') return { status: 404 };
    const version = versions.get(path) ?? 1;
    const id = Number(/\d+$/.exec(path)?.[0]);
    const etag = `"${path}-${version}"`;
    if (path.startsWith('/moved/')) return { status: 302, headers: { location: `/items/${id}` } };
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag, 'x-served': 'again' } };
    const item = { id, version, pad: id === TOO_LARGE ? 'x'.repeat(2 ** 20) : '' };
    const body = path.startsWith('/list') ? { next: id < 3 ? `/list/${id + 1}` : null, items: [item] } : item;
    return { status: 200, headers: id === WITHOUT_VALIDATORS ? {} : { etag }, body: JSON.stringify(body) };
  });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

type Row = { url: string; status: number; data: { id: number; version: number } };

/** The rows of the run: version by path. */
async function versionsCrawled(): Promise<Record<string, number>> {
  const rows = await place.records<Row>('default');
  expect(rows.every(({ status }) => status === 200)).toBe(true);
  return Object.fromEntries(rows.map(({ url, data }) => [new URL(url).pathname, data.version]));
}

test('what has not changed is carried over from the finished run before, and counted', async () => {
  await place.write('urls.txt', `${urlList(server.url, 5)}${server.url}/moved/6\n`);
  const first = await place.crawl(['urls.txt', '--refresh']);
  expect(first.summary.requests).toMatchObject({ succeeded: 6, notModified: 0 });

  versions.set('/items/2', 2);
  const second = await place.crawl(['urls.txt', '--refresh']);
  expect(second.code, second.stderr).toBe(0);
  // 1, 3 and, behind its redirect, 6; 2 has changed, 4 was too large to keep, 5 cannot be asked so.
  expect(second.summary.requests).toMatchObject({ total: 6, succeeded: 6, notModified: 3 });
  const expected = { '/items/1': 1, '/items/2': 2, '/items/3': 1, '/items/4': 1, '/items/5': 1, '/moved/6': 1 };
  expect(await versionsCrawled()).toEqual(expected);

  // Carried over once more, the changed one too; by the run's name alone.
  const third = await place.crawl(['--run', 'default']);
  expect(third.summary.requests).toMatchObject({ succeeded: 6, notModified: 4 });
  expect(await versionsCrawled()).toEqual(expected);

  const plain = await place.crawl(['urls.txt']);
  expect(plain.summary.requests).toMatchObject({ succeeded: 6, notModified: 0 });
});

test('an interrupted refresh goes on asking by the run before; another input asks plainly', async () => {
  await place.write('urls.txt', urlList(server.url, 3));
  await place.crawl(['urls.txt', '--refresh']);
  const cut = await place.crawl(['urls.txt', '--refresh', '--max-requests', '1']);
  expect(cut.summary).toMatchObject({ state: 'incomplete', requests: { succeeded: 1, notModified: 1 } });
  const rest = await place.crawl(['--run', 'default', '--max-requests', '100']);
  expect(rest.summary).toMatchObject({ state: 'finished', requests: { succeeded: 3, notModified: 3 } });
  await place.write('other.txt', urlList(server.url, 2));
  const other = await place.crawl(['other.txt', '--refresh']);
  expect(other.summary.requests).toMatchObject({ succeeded: 2, notModified: 0 });
});

test('pages of an api are followed from what was kept', async () => {
  await place.write(
    'api.yaml',
    `
api:
  baseUrl: ${server.url}
  resources:
    - name: items
      primaryKey: id
      endpoint: {path: /list/1, dataSelector: "$.items[*]", paginator: {type: jsonLink, nextUrlPath: "$.next"}}
`,
  );
  await place.crawl(['api.yaml', '--refresh']);
  versions.set('/list/2', 2);
  seen = [];
  const second = await place.crawl(['api.yaml', '--refresh']);
  expect(second.code, second.stderr).toBe(0);
  expect(second.summary.requests).toMatchObject({ succeeded: 3, notModified: 2 });
  const items = await place.records<{ id: number; version: number }>('default', 'items');
  expect(items.map(({ id, version }) => [id, version]).sort()).toEqual([
    [1, 1],
    [2, 2],
    [3, 1],
  ]);
  expect(seen.filter(({ path }) => path.startsWith('/list')).map(({ headers }) => headers['if-none-match'])).toEqual([
    '"/list/1-1"',
    '"/list/2-1"',
    '"/list/3-1"',
  ]);
});
