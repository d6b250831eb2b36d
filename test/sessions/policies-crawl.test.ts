import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunCrawler } from '../../src/index.ts';
import { CrawlerBench } from '../crawl/support/crawlers.ts';
import { type Answering, type EchoServer, startEcho } from '../crawl/support/echo-server.ts';
import { Workplace } from '../e2e/millrace.ts';
import { startCursorServer } from './fixtures/cursor-server.ts';
import { startProxyProcess } from './fixtures/proxy-process.ts';

let bench: CrawlerBench;
const closers: (() => unknown)[] = [];

beforeEach(() => {
  bench = new CrawlerBench('JsonCrawler');
});
afterEach(async () => {
  await bench.end();
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(answering?: Answering): Promise<EchoServer> {
  const server = await startEcho(answering);
  closers.push(() => server.close());
  return server;
}

async function rowsOf(crawler: RunCrawler, dataset: string): Promise<Record<string, unknown>[]> {
  return (await (await crawler.getDataset(dataset)).getData()).items;
}

describe('two hosts in one crawl', () => {
  test('each have their own retries, statuses and refusals', async () => {
    const [strict, patient] = [await start(), await start()];
    const crawler = await bench.createOwn({
      hosts: {
        [strict.host]: { retry: { maxRetries: 0 } },
        [patient.host]: { retry: { maxRetries: 3, statusCodes: [418], baseDelayMs: 1, maxDelayMs: 5 } },
      },
    });
    await crawler.run([strict, patient].flatMap(({ url }) => [500, 418].map((status) => `${url}/status/${status}`)));
    const failures = await rowsOf(crawler, 'failures');
    const attempts = Object.fromEntries(failures.map(({ url, attempts: count }) => [url, count]));
    expect(attempts).toEqual({
      [`${strict.url}/status/500`]: 1,
      [`${strict.url}/status/418`]: 1,
      [`${patient.url}/status/500`]: 1,
      [`${patient.url}/status/418`]: 4,
    });
    expect([strict.seen.length, patient.seen.length]).toEqual([2, 5]);
  });

  test('each see their own cookies and credentials, and none of the other’s', async () => {
    const welcome: Answering = () => ({ headers: { 'set-cookie': 'visitor=1; Path=/' } });
    const [known, open] = [await start(welcome), await start(welcome)];
    const crawler = await bench.createOwn({
      hosts: { [known.host]: { sessionPool: { credentials: [{ name: 'me', headers: { 'X-Key': 'secret' } }] } } },
    });
    await crawler.run([known, open].flatMap(({ url }) => Array.from({ length: 12 }, (_, at) => `${url}/${at}`)));
    expect(new Set(known.seen.map(({ headers }) => headers['x-key']))).toEqual(new Set(['secret']));
    expect(new Set(open.seen.map(({ headers }) => headers['x-key']))).toEqual(new Set([undefined]));
    for (const { seen } of [known, open]) {
      expect(new Set(seen.map(({ headers }) => headers.cookie ?? ''))).toEqual(new Set(['', 'visitor=1']));
    }
  });
});

describe('several credentials', () => {
  test('share the work of a host, each within what the server allows it', async () => {
    const server = await startCursorServer({
      lists: 60,
      pages: 1,
      latencyMs: 20,
      budgets: { 'key-a': 15, 'key-b': 15 },
    });
    closers.push(() => server.close());
    const credentials = ['a', 'b'].map((name) => ({ name, headers: { 'X-Key': `key-${name}` } }));
    const crawler = await bench.createOwn({ hosts: { default: { sessionPool: { credentials } } } });
    await crawler.run(Array.from({ length: 60 }, (_, at) => `${server.url}/lists/${at + 1}/entries`));
    expect(await bench.countsOf(crawler)).toMatchObject({ total: 60, succeeded: 60, failed: 0 });
    const pages = { a: 0, b: 0 };
    for (const [visitor, count] of server.pagesOf) pages[visitor.startsWith('key-a') ? 'a' : 'b'] += count;
    expect(pages.a + pages.b).toBe(60);
    expect(Math.min(pages.a, pages.b)).toBeGreaterThan(10);
  });
});

describe('a proxy that dies in mid-crawl', () => {
  // What it was relaying when it died may look like a fault of the host's, and then costs a retry.
  test.each(['perSession', 'perRequest', 'sticky'] as const)('costs no URL (%s)', async (rotation) => {
    const proxies = [await startProxyProcess(), await startProxyProcess()];
    for (const { kill } of proxies) closers.push(kill);
    let hasDied: Promise<void> | null = null;
    const server = await start((_, earlier) => {
      if (server.seen.length === 20) hasDied = proxies[0]!.kill();
      return earlier === 0 ? { afterMs: 5 } : undefined;
    });
    const crawler = await bench.createOwn({
      maxConcurrency: 4,
      hosts: { default: { sessionPool: { proxyUrls: proxies.map(({ url }) => url), rotation, maxPoolSize: 4 } } },
    });
    const stats = await crawler.run(Array.from({ length: 80 }, (_, at) => `${server.url}/${at}`));
    await hasDied;
    expect(hasDied).not.toBeNull();
    expect(stats).toMatchObject({ requestsFinished: 80, requestsFailed: 0 });
    expect(stats.retryHistogram[0]).toBeGreaterThanOrEqual(80 - 4);
    expect(await rowsOf(crawler, 'failures')).toEqual([]);
    expect(new Set(server.seen.map(({ path }) => path)).size).toBe(80);
  });
});

describe('a retry', () => {
  test('waits in the store: after a kill it is made by the next process, at its time, and keeps that one alive', async () => {
    const workplace = await Workplace.open();
    closers.push(() => workplace.remove());
    const times: number[] = [];
    const server = await start((_, earlier) => {
      times.push(Date.now());
      return earlier === 0 ? { status: 500, body: '{}' } : { body: '{"ok":true}' };
    });
    const retry = { maxRetries: 1, baseDelayMs: 6_000, jitter: 'none' };
    const document = { startUrls: [{ url: `${server.url}/a` }], hosts: { default: { robots: 'ignore', retry } } };
    const file = await workplace.write('crawl.yaml', stringify(document));
    const { child, finished } = workplace.start(['crawl', file, '--quiet']);
    await expect.poll(() => times.length, { timeout: 60_000 }).toBe(1);
    // Until the retry is in the store; the process has nothing else to do, and waits for it.
    await sleep(2_500);
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await finished;
    const { code, stderr, summary } = await workplace.crawl(['crawl', file]);
    expect(code, stderr).toBe(0);
    expect(summary.requests).toMatchObject({ total: 1, succeeded: 1, failed: 0, pending: 0 });
    expect(times).toHaveLength(2);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(6_000);
  });
});
