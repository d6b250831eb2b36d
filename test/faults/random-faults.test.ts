import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FailureRecord } from '../../src/crawl/failure-record.ts';
import { hashOf } from '../../src/practice-api/seeded.ts';
import { CrawlerBench } from '../crawl/support/crawlers.ts';
import { type FixtureServer, type Reply, serve } from '../fixtures/servers/serve.ts';

const REQUESTS = 3_000;
// Each is slowed for its own 429s and 503s alone, which it means.
const HOSTS = 150;
const FAULTY_SHARE = 0.1;
// Of the faulty ones, so many never get well.
const HOPELESS_SHARE = 0.1;

/** What may go wrong, and the code of a request that it happens to every time; null = it waits, and is never given up. */
const FAULTS: { name: string; reply: Reply; code: string | null }[] = [
  { name: '500', reply: { status: 500, body: '{}' }, code: 'HTTP_500' },
  { name: '503', reply: { status: 503, body: '{}' }, code: 'HTTP_503' },
  { name: '503 with Retry-After', reply: { status: 503, headers: { 'retry-after': '1' }, body: '{}' }, code: null },
  { name: '429', reply: { status: 429, headers: { 'retry-after': '1' }, body: '{}' }, code: null },
  { name: 'reset', reply: { fault: 'reset' }, code: 'CONNECTION_RESET' },
  { name: 'truncated', reply: { fault: 'truncate' }, code: 'TRUNCATED_BODY' },
  { name: 'silence', reply: { fault: 'silence' }, code: 'TIMEOUT_FIRST_BYTE' },
  { name: 'no JSON', reply: { status: 200, body: '{"path":' }, code: 'INVALID_JSON' },
];

type Row = { url: string; data: { path: string } | null; error: string | null };
type Fate = { fault: (typeof FAULTS)[number]; isHopeless: boolean };

const seed = Number(process.env.MILLRACE_TEST_SEED ?? Date.now() % 1_000_000);

function fateOf(path: string): Fate | null {
  if (hashOf(seed, 'faulty', path) / 2 ** 32 >= FAULTY_SHARE) return null;
  const fault = FAULTS[hashOf(seed, 'fault', path) % FAULTS.length]!;
  return { fault, isHopeless: fault.code !== null && hashOf(seed, 'hopeless', path) / 2 ** 32 < HOPELESS_SHARE };
}

let bench: CrawlerBench;
let servers: FixtureServer[];

beforeEach(async () => {
  bench = new CrawlerBench('JsonCrawler');
  const start = (): Promise<FixtureServer> =>
    serve(({ path, earlier }) => {
      const fate = fateOf(path);
      if (fate !== null && (fate.isHopeless || earlier === 0)) return fate.fault.reply;
      return { status: 200, body: JSON.stringify({ path }) };
    });
  servers = await Promise.all(Array.from({ length: HOSTS }, start));
});
afterEach(async () => {
  await bench.end();
  for (const server of servers) await server.close();
});

test(`3,000 requests with 10 % faults of eight kinds are all accounted for (MILLRACE_TEST_SEED=${seed})`, async () => {
  const paths = Array.from({ length: REQUESTS }, (_, index) => `/items/${index}`);
  const urlOf = (path: string, index: number): string => servers[index % HOSTS]!.url + path;
  const isHopeless = (path: string): boolean => fateOf(path)?.isHopeless ?? false;
  const crawler = await bench.createOwn({
    maxRequestRetries: 2,
    hosts: { default: { timeouts: { firstByteMs: 5_000 }, retry: { baseDelayMs: 10, maxDelayMs: 100 } } },
  });
  const stats = await crawler.run(paths.map(urlOf));
  expect(stats.requestsFinished + stats.requestsFailed).toBe(REQUESTS);

  const rows = (await crawler.getData()).items as Row[];
  const expectedRows = paths.map((path, index) => {
    const { fault } = fateOf(path) ?? {};
    return [urlOf(path, index), isHopeless(path) ? fault!.code : path];
  });
  expect(rows.map(({ url, data, error }) => [url, data?.path ?? error]).sort()).toEqual(expectedRows.sort());

  const failures = (await (await crawler.getDataset('failures')).getData()).items as FailureRecord[];
  const expectedFailures = paths.flatMap((path, index) =>
    isHopeless(path) ? [[urlOf(path, index), fateOf(path)!.fault.code]] : [],
  );
  expect(failures.map(({ url, code }) => [url, code]).sort()).toEqual(expectedFailures.sort());
  expect(failures.length).toBeGreaterThan(0);

  // What had been answered well was not asked for again.
  const served = servers.flatMap((server) => Object.entries(server.stats().served));
  expect(served.filter(([path, times]) => times > 1 && fateOf(path)?.fault.name !== 'no JSON')).toEqual([]);
}, 480_000);
