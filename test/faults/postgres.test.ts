import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { EnvironmentError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { PostgresDatabase } from '../../src/storage/postgres/database.ts';
import { MIGRATIONS, type Migration, migrate } from '../../src/storage/postgres/migrations.ts';
import { openPostgresRun, type PostgresRunStore } from '../../src/storage/postgres/open.ts';
import { queryRows, runSql, startPostgres, type TestServer } from '../storage/postgres/server.ts';
import { requestOf, requestsOf } from './postgres/task.ts';
import { WorkerProcess } from './postgres/worker-process.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };
const sleep = (ms: number): Promise<void> => systemClock.sleep(ms);
const LEASE_MS = 2_000;

let server: TestServer;
let runs = 0;
let run: string;
let store: PostgresRunStore;
const started: WorkerProcess[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.end());
beforeEach(async () => {
  run = `run-${++runs}`;
  store = await openPostgresRun({ url: server.url, name: run, ports });
});
afterEach(async () => {
  for (const worker of started.splice(0)) await worker.kill();
  // A test that has failed may have left it stopped.
  if (server.pid() === null) await server.start();
  await store.close();
});

function start(kind: 'work' | 'hold' | 'add', more: Partial<ConstructorParameters<typeof WorkerProcess>[0]> = {}) {
  const worker = new WorkerProcess({ url: server.url, run, kind, leaseMs: LEASE_MS, ...more });
  started.push(worker);
  return worker;
}

async function urlsOfRecords(): Promise<string[]> {
  const rows = await store.datasets.page('default', { afterSeq: 0, limit: 100_000 });
  return rows.map(({ json }) => (JSON.parse(json) as { url: string }).url);
}

/** Every request is handled, and has left one record. */
async function expectEachOnce(count: number): Promise<void> {
  const urls = await urlsOfRecords();
  expect(urls.toSorted()).toEqual(
    requestsOf(count)
      .map(({ url }) => url)
      .toSorted(),
  );
  expect(await store.queue.counts()).toEqual({ total: count, succeeded: count, failed: 0, skipped: 0, pending: 0 });
}

describe('a worker', () => {
  test('that is killed gives what it had to the others, after its lease and not before', async () => {
    await store.queue.add(requestsOf(100));
    const killed = start('hold', { batch: 30, leaseMs: 5_000 });
    expect(await killed.next<string[]>()).toHaveLength(30);
    await killed.kill();
    const other = start('work');
    await other.next();
    await sleep(1_000);
    expect((await store.queue.counts()).pending).toBeGreaterThanOrEqual(30);
    expect(await other.done()).toEqual({ committed: 100, lost: 0, added: 0 });
    await expectEachOnce(100);
  });

  test('that is paused past its lease writes nothing of what others have taken over', async () => {
    await store.queue.add(requestsOf(60));
    const paused = start('hold', { batch: 25 });
    const held = await paused.next<string[]>();
    expect(held).toHaveLength(25);
    paused.signal('SIGSTOP');
    const other = start('work');
    expect(await other.done()).toEqual({ committed: 60, lost: 0, added: 0 });
    paused.signal('SIGCONT');
    paused.tell('go on');
    expect(await paused.done()).toEqual({ committed: 0, lost: 25, added: 0 });
    await expectEachOnce(60);
  });

  test('that is paused within a transaction holds nobody up for more than ten seconds', async () => {
    await store.queue.add(requestsOf(300));
    const paused = start('work', { batch: 1 });
    await paused.next();
    paused.signal('SIGSTOP');
    const others = [start('work'), start('work')];
    const done = await Promise.all(others.map((other) => other.done()));
    paused.signal('SIGCONT');
    const late = await paused.done();
    expect(done.reduce((sum, { committed }) => sum + committed, late.committed)).toBe(300);
    await expectEachOnce(300);
  });

  test('whose clock is five minutes ahead, or behind, takes no leases before their time', async () => {
    await store.queue.add(requestsOf(90));
    const holding = start('hold', { batch: 30, leaseMs: 60_000 });
    await holding.next();
    const ahead = start('work', { skewMs: 300_000 });
    const behind = start('work', { skewMs: -300_000 });
    await Promise.all([ahead.untilIdle(), behind.untilIdle()]);
    await sleep(500);
    expect((await store.queue.counts()).pending).toBe(30);
    holding.tell('go on');
    expect(await holding.done()).toEqual({ committed: 30, lost: 0, added: 0 });
    const [first, second] = await Promise.all([ahead.done(), behind.done()]);
    expect(first.committed + second.committed).toBe(60);
    await expectEachOnce(90);
  });
});

test('a retry is due by the clock of who asked for it, whatever the database thinks the time is', async () => {
  const skewed = { ...systemClock, wallMs: () => systemClock.wallMs() + 300_000 };
  const other = await openPostgresRun({ url: server.url, name: run, ports: { ...ports, clock: skewed } });
  try {
    await other.queue.add([requestOf(1)]);
    const options = { limit: 1, perHost: 1, skipHosts: new Set<string>(), leaseMs: 60_000 };
    const [leased] = (await other.queue.claim(options)).requests;
    const outcome = { kind: 'retry', notBeforeMs: skewed.wallMs() + 1_000, patch: null, forefront: false } as const;
    await other.queue.commit([{ lease: leased!.lease, outcome, records: [], requests: [], values: [], columns: [] }]);
    const claim = await other.queue.claim(options);
    expect(claim.requests).toEqual([]);
    expect(Math.abs(claim.nextDueAtMs! - outcome.notBeforeMs)).toBeLessThan(500);
    await sleep(1_500);
    expect((await store.queue.claim(options)).requests).toHaveLength(1);
  } finally {
    await other.close();
  }
});

test('two workers that add the same 50,000 requests from both ends add each once', async () => {
  const count = 50_000;
  const adders = [false, true].map((isReverse) => start('add', { count, isReverse, batch: 2_500 }));
  await Promise.all(adders.map((adder) => adder.next()));
  for (const adder of adders) adder.tell('go');
  const done = await Promise.all(adders.map((adder) => adder.done()));
  expect(done.reduce((sum, { added }) => sum + added, 0)).toBe(count);
  expect(await store.queue.counts()).toMatchObject({ total: count, pending: count });
  const pending = await store.queue.pendingHosts(10);
  expect(pending.reduce((sum, host) => sum + host.pending, 0)).toBe(count);
}, 240_000);

describe('a database', () => {
  test('that is restarted, and then crashes, is waited for: nothing is lost, nothing doubled', async () => {
    const count = 4_000;
    await store.queue.add(requestsOf(count));
    const workers = [start('work'), start('work'), start('work')];
    await Promise.all(workers.map((worker) => worker.next()));
    await server.stop();
    await server.start();
    await Promise.all(workers.map((worker) => worker.next()));
    process.kill(server.pid()!, 'SIGKILL');
    await sleep(1_000);
    await startAgain(server);
    const done = await Promise.all(workers.map((worker) => worker.done()));
    expect(done.reduce((sum, { committed }) => sum + committed, 0)).toBeGreaterThan(0);
    await expectEachOnce(count);
  }, 240_000);

  test('that is away for 30 seconds is waited for', async () => {
    await store.queue.add(requestsOf(500));
    const worker = start('work', { batch: 5 });
    await worker.next();
    await server.stop();
    await sleep(30_000);
    await server.start();
    await worker.done();
    await expectEachOnce(500);
  }, 240_000);

  test('that never was there is named, without its password, when patience ends', async () => {
    const url = 'postgres://me:very-secret@127.0.0.1:1/nothing';
    const opening = openPostgresRun({ url, name: run, ports, patienceMs: 300 });
    await expect(opening).rejects.toThrow(EnvironmentError);
    await expect(opening).rejects.toThrow('PostgreSQL at 127.0.0.1:1/nothing cannot be reached');
    await expect(opening).rejects.not.toThrow('very-secret');
  });
});

describe('the schema', () => {
  const inSchema = (schema: string): string => `${server.url}?schema=${schema}`;

  test('is made once when ten workers start at the same moment, and so is their run', async () => {
    const url = inSchema('ten at once');
    const stores = await Promise.all(Array.from({ length: 10 }, () => openPostgresRun({ url, name: 'r', ports })));
    await Promise.all(stores.map(({ queue }, i) => queue.add([requestOf(i)])));
    expect(await stores[0]!.queue.counts()).toMatchObject({ total: 10 });
    await Promise.all(stores.map((one) => one.close()));
    expect(await queryRows(server.url, 'SELECT name FROM "ten at once".run')).toEqual([{ name: 'r' }]);
  });

  test('of a newer version is refused, and who is at work on the older one ends', async () => {
    const url = inSchema('newer');
    const worker = await openPostgresRun({ url, name: 'r', ports });
    await worker.heartbeat();
    await runSql(server.url, 'UPDATE newer.schema_version SET version = version + 1');
    await expect(openPostgresRun({ url, name: 'r', ports })).rejects.toThrow('written by another millrace');
    await expect(worker.heartbeat()).rejects.toThrow(EnvironmentError);
    await worker.close();
  });

  test('of an older version is brought up to date, with its runs, when nobody of that version is at work', async () => {
    const url = inSchema('older');
    const worker = await openPostgresRun({ url, name: 'r', ports });
    const addColumn: Migration = (schema, runIds) =>
      runIds.map((id) => `ALTER TABLE ${schema}.run_${id}_host ADD COLUMN note text`);
    const newer = new PostgresDatabase({ url, ports });
    try {
      const upgrade = () => migrate(newer, [...MIGRATIONS, addColumn]);
      await expect(upgrade()).rejects.toThrow('1 workers of that version are at work');
      await worker.heartbeat();
      await worker.close();
      await upgrade();
      await upgrade();
      const columns = await queryRows(
        server.url,
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'older' AND column_name = 'note'",
      );
      expect(columns).toEqual([{ table_name: 'run_1_host' }]);
    } finally {
      await newer.close();
    }
    await expect(openPostgresRun({ url, name: 'r', ports })).rejects.toThrow('written by another millrace');
  });

  test('belongs to who may not make one: it says what is missing', async () => {
    await runSql(server.url, "CREATE ROLE nobody LOGIN PASSWORD 'nobody'");
    const url = new URL(inSchema('forbidden'));
    url.username = 'nobody';
    url.password = 'nobody';
    await expect(openPostgresRun({ url: url.href, name: 'r', ports })).rejects.toThrow('lacks a privilege');
  });
});

/** After a crash the port and the lock file are free only when all of its processes have ended. */
async function startAgain(crashed: TestServer): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await crashed.start();
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(500);
    }
  }
}
