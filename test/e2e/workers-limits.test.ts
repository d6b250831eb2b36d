import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Summary } from '../../src/core/summary.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { createTestDatabase, type TestDatabase } from '../storage/postgres/server.ts';
import { type Finished, Workplace } from './millrace.ts';

let database: TestDatabase;
let place: Workplace;
let server: FixtureServer;
let runs = 0;
let run: string;
/** Of the items up to this one every tenth fails for good. */
let lastToFail: number;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await Workplace.open();
});
afterAll(async () => {
  await place.remove();
  await database.end();
});
beforeEach(async () => {
  run = `run-${++runs}`;
  lastToFail = 0;
  server = await serve(({ path }) => {
    const id = Number(path.split('/').at(-1));
    if (id % 10 === 0 && id <= lastToFail) return { status: 404, body: '{"error":"gone"}' };
    return { status: 200, body: JSON.stringify({ id }), afterMs: 10 };
  });
});
afterEach(() => server.close());

/** A crawl of so many URLs and one worker more. */
async function crawlTogether(limit: string, count: number): Promise<Finished[]> {
  const urls = Array.from({ length: count }, (_, i) => `${server.url}/items/${i + 1}`);
  await place.write(`${run}.txt`, urls.join('\n'));
  const hosts = 'hosts: {default: {requestsPerSecond: 100}}';
  const document = await place.write(`${run}.yaml`, `urlsFile: ${run}.txt\n${hosts}\n${limit}\n`);
  return together(['crawl', document]);
}

/** The worker comes when the crawl is under way. */
async function together(crawl: string[]): Promise<Finished[]> {
  const env = { MILLRACE_DATABASE_URL: database.url };
  const own = ['--run', run, '--json'];
  const before = asked();
  const lead = place.start([...crawl, ...own], env);
  while (asked() === before) await systemClock.sleep(20);
  const worker = place.start(['worker', ...own], env);
  return Promise.all([worker.finished, lead.finished]);
}

const summaryOf = ({ stdout }: Finished): Summary => JSON.parse(stdout) as Summary;
/** Without robots.txt, which each process asks for. */
const asked = (): number =>
  Object.entries(server.stats().served).reduce((sum, [path, times]) => sum + (path === '/robots.txt' ? 0 : times), 0);

test('--max-requests holds for both workers together, to the request; continued, it counts anew', async () => {
  const first = await crawlTogether('maxRequestsPerCrawl: 700', 2_000);
  for (const { code, stderr } of first) {
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('maxRequestsPerCrawl (700) is reached');
  }
  expect(asked()).toBe(700);
  const summary = summaryOf(first[1]!);
  expect(summary).toMatchObject({ state: 'incomplete', requests: { succeeded: 700, failed: 0 } });
  const shares = summary.workers!.map(({ requests }) => requests);
  expect(shares.filter((share) => share > 0 && share < 700)).toHaveLength(2);
  const second = await together(['crawl', '--max-requests', '500']);
  expect(second[0]!.stderr).toContain('maxRequestsPerCrawl (500) is reached');
  expect(summaryOf(second[1]!)).toMatchObject({ state: 'incomplete', requests: { succeeded: 1_200 } });
  expect(asked()).toBe(1_200);
});

test('maxFailures counts the failures of both', async () => {
  // Eighty, and each has its share: too few for one alone.
  lastToFail = 800;
  const ended = await crawlTogether('maxFailures: 60', 4_000);
  for (const { code, stderr } of ended) {
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(/\d+ requests have failed: maxFailures is 60/);
  }
  const { state, requests } = summaryOf(ended[1]!);
  expect(state).toBe('incomplete');
  expect(requests.failed).toBeGreaterThanOrEqual(60);
  expect(requests.pending).toBeGreaterThan(0);
});

test('maxDurationSecs counts from when the first of them came', async () => {
  const ended = await crawlTogether('maxDurationSecs: 4', 4_000);
  for (const { code, stderr } of ended) {
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('maxDurationSecs (4) is reached');
  }
  expect(summaryOf(ended[1]!)).toMatchObject({ state: 'incomplete', requests: { failed: 0 } });
});
