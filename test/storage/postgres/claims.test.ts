import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openPostgresRun, type PostgresRunStore } from '../../../src/storage/postgres/open.ts';
import type { Lease, NewRequest, UnitOfWork } from '../../../src/storage/store.ts';
import { queryRows, startPostgres, type TestServer } from './server.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };
const WAITING = 10_000;
const CLAIMED = 50;

let server: TestServer;

beforeAll(async () => {
  // Without statistics of the tables, as they are when a run begins, and soon again.
  server = await startPostgres({ settings: ['autovacuum=off'] });
});
afterAll(() => server.end());

const open = (name: string): Promise<PostgresRunStore> => openPostgresRun({ url: server.url, name, ports });
const options = { limit: CLAIMED, perHost: CLAIMED, skipHosts: new Set<string>(), leaseMs: 60_000, claimsAgain: true };

function requestOf(n: number): NewRequest {
  const url = `https://one.example/${n}`;
  return { uniqueKey: url, url, host: 'one.example', method: 'GET', label: null, data: null };
}

function retryOf(lease: Lease, notBeforeMs: number): UnitOfWork {
  const outcome = { kind: 'retry', notBeforeMs, patch: null, forefront: false } as const;
  return { lease, outcome, records: [], requests: [], values: [], columns: [] };
}

/** Entries of the primary key and rows that were read of a table, so far. A session tells when it ends. */
async function entriesRead(table: string): Promise<number> {
  const [row] = await queryRows<{ count: string }>(
    server.url,
    `SELECT (i.idx_tup_read + t.seq_tup_read)::text AS count FROM pg_stat_user_indexes i
     JOIN pg_stat_user_tables t USING (relid) WHERE i.indexrelname = '${table}_pkey'`,
  );
  return Number(row!.count);
}

test('a claim reads what it hands out, and not all that waits', async () => {
  const adding = await open('run');
  await adding.queue.add(Array.from({ length: WAITING }, (_, n) => requestOf(n)));
  await adding.close();
  const before = await entriesRead('run_1_ready');
  const store = await open('run');
  const claims = [];
  for (let i = 0; i < 5; i++) claims.push(await store.queue.claim(options));
  await store.close();
  const urls = claims.flatMap(({ requests }) => requests.map(({ url }) => url));
  expect(urls).toEqual(Array.from({ length: 5 * CLAIMED }, (_, n) => requestOf(n).url));
  // Those handed out before, in the same moment, may be passed over once more.
  expect((await entriesRead('run_1_ready')) - before).toBeLessThan(WAITING / 2);
});

test('a claim that finds nothing reads nothing of the hosts it leaves alone', async () => {
  const before = await entriesRead('run_1_ready');
  const store = await open('run');
  const skipHosts = new Set(['one.example']);
  for (let i = 0; i < 5; i++) expect((await store.queue.claim({ ...options, skipHosts })).requests).toEqual([]);
  await store.close();
  expect((await entriesRead('run_1_ready')) - before).toBeLessThan(WAITING / 2);
});

test('nothing is read of what is due later', async () => {
  const store = await open('later');
  const count = 2_000;
  await store.queue.add(Array.from({ length: count }, (_, n) => requestOf(n)));
  const { requests } = await store.queue.claim({ ...options, limit: count, perHost: count });
  await store.queue.commit(requests.map(({ lease }) => retryOf(lease, systemClock.wallMs() + 3_600_000)));
  await store.close();
  const before = await entriesRead('run_2_delayed');
  const waiting = await open('later');
  for (let i = 0; i < 3; i++) {
    expect((await waiting.queue.claim(options)).requests).toEqual([]);
    // As long as it takes until what is due is looked for again.
    await systemClock.sleep(300);
  }
  await waiting.close();
  expect((await entriesRead('run_2_delayed')) - before).toBeLessThan(count / 2);
});

test('what is due is looked for at once when nothing else is there', async () => {
  const store = await open('retries');
  await store.queue.add([requestOf(0)]);
  const [first] = (await store.queue.claim(options)).requests;
  const dueAtMs = systemClock.wallMs() + 50;
  await store.queue.commit([retryOf(first!.lease, dueAtMs)]);
  while (systemClock.wallMs() <= dueAtMs + 5) await systemClock.sleep(5);
  // Nothing else is there: it is looked for at once.
  const [again] = (await store.queue.claim(options)).requests;
  expect(again).toMatchObject({ url: first!.url, claims: 2 });
  await store.close();
});
