import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

vi.setConfig({ testTimeout: 120_000 });

let place: Workplace;
let server: FixtureServer;
let latencyMs = 0;
/** Every so many items one fails for good. */
let failsEvery = Number.POSITIVE_INFINITY;

beforeEach(async () => {
  latencyMs = 0;
  failsEvery = Number.POSITIVE_INFINITY;
  place = await Workplace.open();
  server = await serve(({ path }) => {
    const id = Number(path.split('/').at(-1));
    if (id % failsEvery === 0) return { status: 404, body: '{"error":"gone"}' };
    return { status: 200, body: JSON.stringify({ id }), afterMs: latencyMs };
  });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

async function begin(limit: string, count: number) {
  await place.write('urls.txt', urlList(server.url, count));
  const document = `urlsFile: urls.txt\nmaxConcurrency: 4\nhosts: {default: {discovery: off}}\n${limit}\n`;
  return place.crawl([await place.write('crawl.yaml', document)]);
}

const LIMITLESS = ['--run', 'default'];

/** The rows there are, each once: what a limit has cut short must neither lose nor repeat one. */
async function rowCount(): Promise<number> {
  const rows = await place.records<{ url: string }>('default');
  expect(new Set(rows.map(({ url }) => url)).size).toBe(rows.length);
  return rows.length;
}

test('--max-requests ends a crawl after exactly so many, and the next start does as many again', async () => {
  await place.write('urls.txt', urlList(server.url, 250));
  const first = await place.crawl(['urls.txt', '--max-requests', '100', '--no-discovery']);
  expect(first.code, first.stderr).toBe(3);
  expect(first.stderr).toContain('maxRequestsPerCrawl (100) is reached');
  expect(first.summary).toMatchObject({ state: 'incomplete', requests: { succeeded: 100, failed: 0 } });
  const second = await place.crawl(LIMITLESS);
  expect(second.summary).toMatchObject({ state: 'incomplete', requests: { succeeded: 200 } });
  const third = await place.crawl([...LIMITLESS, '--max-requests', '1000']);
  expect(third.code, third.stderr).toBe(0);
  expect(third.summary).toMatchObject({ state: 'finished', requests: { total: 250, succeeded: 250, pending: 0 } });
  expect(await rowCount()).toBe(250);
  // robots.txt once.
  expect(server.stats().requests).toBe(251);
});

test('a limit that is just what there is to do leaves nothing undone', async () => {
  await place.write('urls.txt', urlList(server.url, 20));
  const { code, summary, stderr } = await place.crawl(['urls.txt', '--max-requests', '20']);
  expect(code, stderr).toBe(0);
  expect(summary).toMatchObject({ state: 'finished', requests: { succeeded: 20, pending: 0 } });
});

test('maxFailures ends it early; continued, it counts anew', async () => {
  failsEvery = 2;
  latencyMs = 20;
  const first = await begin('maxFailures: 10', 400);
  expect(first.code, first.stderr).toBe(3);
  expect(first.stderr).toMatch(/\d+ requests have failed: maxFailures is 10/);
  expect(first.summary.state).toBe('incomplete');
  expect(first.summary.requests.failed).toBeGreaterThanOrEqual(10);
  expect(first.summary.requests.pending).toBeGreaterThan(0);
  failsEvery = Number.POSITIVE_INFINITY;
  const second = await place.crawl(LIMITLESS);
  expect(second.summary).toMatchObject({ state: 'finished', requests: { total: 400, pending: 0 } });
  expect(second.summary.requests.failed).toBe(first.summary.requests.failed);
  expect(await rowCount()).toBe(400);
});

test('maxFailureShare ends it once a hundred are handled', async () => {
  failsEvery = 2;
  latencyMs = 10;
  const { code, stderr, summary } = await begin('maxFailureShare: 0.3', 2000);
  expect(code, stderr).toBe(3);
  expect(stderr).toMatch(/\d+ of \d+ requests have failed: maxFailureShare is 0.3/);
  expect(summary.state).toBe('incomplete');
  const { succeeded, failed, pending } = summary.requests;
  expect(succeeded + failed).toBeGreaterThanOrEqual(100);
  expect(pending).toBeGreaterThan(0);
});

test('maxDurationSecs ends it while it goes well, and it is resumed from there', async () => {
  latencyMs = 100;
  const first = await begin('maxDurationSecs: 1', 200);
  expect(first.code, first.stderr).toBe(3);
  expect(first.stderr).toContain('maxDurationSecs (1) is reached');
  expect(first.summary).toMatchObject({ state: 'incomplete', requests: { failed: 0 } });
  expect(first.summary.requests.pending).toBeGreaterThan(0);
  latencyMs = 0;
  await place.write('crawl.yaml', 'urlsFile: urls.txt\nmaxDurationSecs: 600\n');
  const second = await place.crawl(['crawl.yaml']);
  expect(second.code, second.stderr).toBe(0);
  expect(second.summary).toMatchObject({ state: 'finished', requests: { total: 200, succeeded: 200 } });
  expect(await rowCount()).toBe(200);
  expect(server.stats().requests).toBe(201);
});
