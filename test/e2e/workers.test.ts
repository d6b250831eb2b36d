import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Summary } from '../../src/core/summary.ts';
import { createTestDatabase, type TestDatabase } from '../storage/postgres/server.ts';
import { type Finished, type Started, Workplace } from './millrace.ts';
import { goodputOf, mostWithin, serveLimited, serveLimitedApart } from './shared-limit.ts';

type Row = { url: string; status: number | null };

const LIMIT_RPS = 200;
const ports = { clock: systemClock, random: Math.random, log: silentLog };

let database: TestDatabase;
let place: Workplace;
let runs = 0;
let run: string;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await Workplace.open();
});
afterAll(async () => {
  await place.remove();
  await database.end();
});
beforeEach(() => {
  run = `run-${++runs}`;
});

function start(args: readonly string[]): Started {
  return place.start([...args, '--run', run, '--json'], { MILLRACE_DATABASE_URL: database.url });
}

function summaryOf({ code, stdout, stderr }: Finished): Summary {
  if (stdout === '') throw new Error(`No summary; exit ${code}:\n${stderr}`);
  return JSON.parse(stdout) as Summary;
}

function writeUrls(server: { url: string }, count: number): Promise<string> {
  const urls = Array.from({ length: count }, (_, i) => `${server.url}/items/${i}`);
  return place.write(`${run}.txt`, `${urls.join('\n')}\n`);
}

/** The `path` of each body in a JSON Lines file. */
async function pathsIn(name: string): Promise<string[]> {
  const lines = (await readFile(join(place.folder, name), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { data: { path: string } }).data.path);
}

test('four workers, one killed half-way, fetch 20,000 URLs at one limit of 200/s: each record once', async () => {
  const server = await serveLimitedApart({ requestsPerSecond: LIMIT_RPS, burst: LIMIT_RPS, latencyMs: 10 });
  const count = 20_000;
  await writeUrls(server, count);
  const crawl = start(['crawl', `${run}.txt`, '--requests-per-second', String(LIMIT_RPS)]);
  const workers = [start(['worker']), start(['worker']), start(['worker'])];
  await server.untilSeen(count / 2);
  workers[1]!.child.kill('SIGKILL');
  const [first, ...others] = await Promise.all([crawl.finished, workers[0]!.finished, workers[2]!.finished]);
  const killed = await workers[1]!.finished;
  const seen = await server.seen();
  await server.close();

  expect(killed.signal).toBe('SIGKILL');
  expect([first, ...others].map(({ code }) => code)).toEqual([0, 0, 0]);
  const records = await place.records<Row>(run);
  expect(records).toHaveLength(count);
  expect(new Set(records.map(({ url }) => url)).size).toBe(count);
  expect(records.every(({ status }) => status === 200)).toBe(true);
  expect(mostWithin(1_000, seen)).toBeLessThanOrEqual(1.05 * LIMIT_RPS);
  expect(mostWithin(10_000, seen)).toBeLessThanOrEqual(10 * LIMIT_RPS);
  expect(goodputOf(seen)).toBeGreaterThanOrEqual(0.76 * LIMIT_RPS);
  const summary = summaryOf(first);
  expect(summary.requests).toMatchObject({ total: count, succeeded: count, failed: 0, pending: 0 });
  expect(summary.workers).toHaveLength(4);
  const shares = summary.workers!.map(({ requests }) => requests);
  expect(shares.reduce((sum, requests) => sum + requests, 0)).toBe(count);
  expect(Math.min(...shares)).toBeGreaterThan(0);
}, 400_000);

describe('a shared run', () => {
  test('can be looked at, exported and ended from anywhere; who comes after the end says so', async () => {
    const server = await serveLimited({ requestsPerSecond: 1_000, burst: 1_000 });
    await writeUrls(server, 300);
    const crawled = summaryOf(await start(['crawl', `${run}.txt`]).finished);
    await server.close();
    expect(crawled).toMatchObject({ state: 'finished', requests: { total: 300, succeeded: 300 } });

    const elsewhere = ['--storage-dir', 'elsewhere', '--run', run];
    const env = { MILLRACE_DATABASE_URL: database.url };
    const status = summaryOf(await place.run(['status', ...elsewhere, '--json'], env));
    expect(status).toMatchObject({ state: 'finished', records: { default: 300 }, input: { lines: 300 } });
    expect(status.workers).toMatchObject([{ requests: 300, records: 300 }]);
    const exported = await place.run(['export', ...elsewhere, '--format', 'jsonl', '--output', '-'], env);
    expect(exported.stdout.trim().split('\n')).toHaveLength(300);

    const late = await start(['crawl', `${run}.txt`]).finished;
    expect(late.code).toBe(0);
    expect(late.stderr).toContain(`Run "${run}" is finished: nothing is left to do.`);
    expect(summaryOf(late)).toMatchObject({ state: 'finished', requests: { total: 300 } });
    expect((await start(['worker']).finished).stderr).toContain('nothing is left to do');
  });

  test('retries failed requests, and a record takes the place of the failure', async () => {
    let isBroken = true;
    const { serve } = await import('../fixtures/servers/serve.ts');
    const server = await serve(({ path }) =>
      path.endsWith('/7') && isBroken ? { status: 404 } : { status: 200, body: JSON.stringify({ path }) },
    );
    const urls = Array.from({ length: 10 }, (_, i) => `${server.url}/items/${i}`).join('\n');
    await place.write(`${run}.txt`, urls);
    const env = { MILLRACE_DATABASE_URL: database.url };
    const first = await start(['crawl', `${run}.txt`]).finished;
    expect([first.code, summaryOf(first).requests.failed]).toEqual([3, 1]);
    isBroken = false;
    const retried = await place.run(['retry-failed', '--run', run, '--json'], env);
    expect([retried.code, summaryOf(retried).requests.succeeded]).toEqual([0, 10]);
    const records = await place.records<Row>(run);
    await server.close();
    expect(records.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  });

  test('remembers its files: retry-failed by whoever leads completes them', async () => {
    let isBroken = true;
    const { serve } = await import('../fixtures/servers/serve.ts');
    const server = await serve(({ path }) =>
      path.endsWith('/7') && isBroken ? { status: 404 } : { status: 200, body: JSON.stringify({ path }) },
    );
    await place.write(`${run}.txt`, Array.from({ length: 10 }, (_, i) => `${server.url}/items/${i}`).join('\n'));
    const file = `${run}.jsonl`;
    const first = await start(['crawl', `${run}.txt`, '--output', file]).finished;
    expect(first.code, first.stderr).toBe(3);
    expect(await pathsIn(file)).toHaveLength(9);
    isBroken = false;
    const retried = await start(['retry-failed']).finished;
    await server.close();
    expect(retried.code, retried.stderr).toBe(0);
    expect((await pathsIn(file)).sort()).toEqual(Array.from({ length: 10 }, (_, i) => `/items/${i}`));
    const files = [file, `${run}.failures.jsonl`].map((name) => join(place.folder, name));
    expect(summaryOf(retried).exports).toEqual(files);
  });

  test('refuses another input, and begins anew when asked to, keeping the one before', async () => {
    const server = await serveLimited({ requestsPerSecond: 1_000, burst: 1_000 });
    await writeUrls(server, 20);
    expect((await start(['crawl', `${run}.txt`]).finished).code).toBe(0);
    await place.write('other.txt', `${server.url}/other\n`);
    const other = await start(['crawl', 'other.txt']).finished;
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('another input')]);
    const fresh = summaryOf(await start(['crawl', 'other.txt', '--fresh']).finished);
    await server.close();
    expect(fresh.requests.total).toBe(1);
    const env = { MILLRACE_DATABASE_URL: database.url };
    const kept = summaryOf(await place.run(['status', '--run', `${run}.previous`, '--json'], env));
    expect(kept.requests).toMatchObject({ total: 20, succeeded: 20 });
  });

  test('tells no password, whatever goes wrong', async () => {
    const secret = 'not-the-pass-word';
    const wrong = new URL(database.url);
    wrong.password = secret;
    const args = ['status', '--run', run, '--database', wrong.href, '--verbose'];
    const refused = await place.run(args);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      `PostgreSQL at ${wrong.host}/${wrong.pathname.slice(1)} refuses the user or password`,
    );
    const nonsense = await place.run(['status', '--run', run, '--database', `mysql://me:${secret}@host/db`]);
    expect(nonsense.code).toBe(2);
    for (const { stdout, stderr } of [refused, nonsense]) expect(stdout + stderr).not.toContain(secret);
  });

  test('has no work for a worker that names no run or database', async () => {
    const finished = await place.run(['worker']);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain('--run names the run');
    expect(finished.stderr).toContain('--database, or MILLRACE_DATABASE_URL');
  });
});

test('a crawl that is killed while it adds the input is taken over by another: each URL once, files at the end', async () => {
  const { serve } = await import('../fixtures/servers/serve.ts');
  const server = await serve(({ path }) => ({ status: 200, body: JSON.stringify({ path }) }));
  const count = 30_000;
  const urls = Array.from({ length: count }, (_, i) => `${server.url}/items/${i}`);
  await place.write(`${run}.txt`, `${urls.join('\n')}\n`);
  const { openPostgresRun } = await import('../../src/storage/postgres/open.ts');
  const crawl = () => start(['crawl', `${run}.txt`, '--max-requests-per-minute', '120000']);
  const first = crawl();
  const store = await untilBegun(() => openPostgresRun({ url: database.url, name: run, ports, access: 'read' }));
  while ((await store.queue.counts()).total === 0) await systemClock.sleep(10);
  first.child.kill('SIGKILL');
  const added = (await store.queue.counts()).total;
  const second = crawl();
  const finished = await second.finished;
  await first.finished;
  await store.close();
  await server.close();
  expect(added).toBeLessThan(count);
  expect(finished.code).toBe(0);
  expect(summaryOf(finished)).toMatchObject({
    state: 'finished',
    requests: { total: count, succeeded: count },
    input: { lines: count, malformed: 0 },
  });
  const records = await place.records<Row>(run);
  expect(records).toHaveLength(count);
  expect(new Set(records.map(({ url }) => url)).size).toBe(count);
}, 300_000);

async function untilBegun<T>(open: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await open();
    if (found !== null) return found;
    await systemClock.sleep(20);
  }
}

test('headers for the start URLs are sent by every worker, from its first request on', async () => {
  const { serve } = await import('../fixtures/servers/serve.ts');
  const keys: unknown[] = [];
  const server = await serve(({ path, headers }) => {
    if (path !== '/robots.txt') keys.push(headers['x-key']);
    return { status: 200, body: '{}', afterMs: 20 };
  });
  const urls = Array.from({ length: 2_000 }, (_, i) => `${server.url}/items/${i}`).join('\n');
  await place.write(`${run}.txt`, urls);
  const header = ['--header', 'X-Key: k'];
  const worker = start(['worker', ...header]);
  const crawl = start(['crawl', `${run}.txt`, ...header, '--requests-per-second', '200']);
  const ended = await Promise.all([crawl.finished, worker.finished]);
  await server.close();
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(summaryOf(ended[0]!).workers).toHaveLength(2);
  expect(keys).toEqual(Array.from({ length: 2_000 }, () => 'k'));
}, 120_000);

test('a rate that was found out holds for workers that come later', async () => {
  const server = await serveLimitedApart({ requestsPerSecond: LIMIT_RPS, burst: LIMIT_RPS / 4, latencyMs: 10 });
  await writeUrls(server, 3_000);
  const crawl = start(['crawl', `${run}.txt`]);
  await server.untilSeen(800);
  const worker = start(['worker']);
  const [first, second] = await Promise.all([crawl.finished, worker.finished]);
  const seen = await server.seen();
  await server.close();
  expect([first.code, second.code]).toEqual([0, 0]);
  const answered = seen.filter(({ status }) => status === 200);
  expect(answered).toHaveLength(3_000);
  expect(seen.length - answered.length).toBeLessThan(150);
  expect(summaryOf(second).workers).toHaveLength(2);
}, 200_000);

test('one that is told to wait has all wait within half a second', async () => {
  const { serve } = await import('../fixtures/servers/serve.ts');
  const count = 2_000;
  const waitMs = 4_000;
  const arrivalsMs: number[] = [];
  let mayRefuse = false;
  let refusedAtMs: number | null = null;
  const server = await serve(({ path, atMs }) => {
    if (path === '/robots.txt') return { status: 404 };
    arrivalsMs.push(atMs);
    if (!mayRefuse || refusedAtMs !== null) return { status: 200, body: JSON.stringify({ path }), afterMs: 10 };
    refusedAtMs = atMs;
    return { status: 429, headers: { 'retry-after': String(waitMs / 1_000) } };
  });
  await writeUrls(server, count);
  const crawl = start(['crawl', `${run}.txt`, '--requests-per-second', '150']);
  const workers = [start(['worker']), start(['worker'])];
  await untilAllWork(3);
  mayRefuse = true;
  const ended = await Promise.all([crawl, ...workers].map(({ finished }) => finished));
  await server.close();
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const since = (atMs: number): number => atMs - refusedAtMs!;
  // The rate was shared: those who were not refused themselves would have sent a hundred a second.
  expect(arrivalsMs.filter((atMs) => since(atMs) > -1_000 && since(atMs) <= 0).length).toBeGreaterThan(50);
  expect(arrivalsMs.filter((atMs) => since(atMs) > 500 && since(atMs) < waitMs)).toEqual([]);
  const shares = summaryOf(ended[0]!).workers!.map(({ requests }) => requests);
  expect(shares.reduce((sum, requests) => sum + requests, 0)).toBe(count);
  expect(arrivalsMs).toHaveLength(count + 1);
}, 200_000);

/** Waits until so many workers of the run have done something. */
async function untilAllWork(workers: number): Promise<void> {
  const { openPostgresRun } = await import('../../src/storage/postgres/open.ts');
  const store = await untilBegun(() => openPostgresRun({ url: database.url, name: run, ports, access: 'read' }));
  const atWork = async (): Promise<number> =>
    (await store.workerShares()).filter(({ requests }) => requests > 0).length;
  while ((await atWork()) < workers) await systemClock.sleep(50);
  await store.close();
}
