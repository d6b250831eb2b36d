import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openPostgresRun, type PostgresRunStore } from '../../../src/storage/postgres/open.ts';
import type { NewRequest, UnitOfWork } from '../../../src/storage/store.ts';
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

const open = (): Promise<PostgresRunStore> => openPostgresRun({ url: server.url, name: 'run', ports });
const options = { limit: CLAIMED, perHost: CLAIMED, skipHosts: new Set<string>(), leaseMs: 60_000, claimsAgain: true };

function requestOf(n: number): NewRequest {
  const url = `https://one.example/${n}`;
  return { uniqueKey: url, url, host: 'one.example', method: 'GET', label: null, data: null };
}

/** Index entries that were read of what waits, so far. A session tells when it ends. */
async function entriesRead(): Promise<number> {
  const [row] = await queryRows<{ count: string }>(
    server.url,
    `SELECT (i.idx_tup_read + t.seq_tup_read)::text AS count FROM pg_stat_user_indexes i
     JOIN pg_stat_user_tables t USING (relid) WHERE i.indexrelname = 'run_1_ready_pkey'`,
  );
  return Number(row!.count);
}

test('a claim reads what it hands out, and not all that waits', async () => {
  const adding = await open();
  await adding.queue.add(Array.from({ length: WAITING }, (_, n) => requestOf(n)));
  await adding.close();
  const before = await entriesRead();
  const store = await open();
  const claims = [];
  for (let i = 0; i < 5; i++) claims.push(await store.queue.claim(options));
  await store.close();
  const urls = claims.flatMap(({ requests }) => requests.map(({ url }) => url));
  expect(urls).toEqual(Array.from({ length: 5 * CLAIMED }, (_, n) => requestOf(n).url));
  // Those handed out before, in the same moment, may be passed over once more.
  expect((await entriesRead()) - before).toBeLessThan(WAITING / 2);
});

test('what is due is looked for at once when nothing else is there', async () => {
  const store = await openPostgresRun({ url: server.url, name: 'retries', ports });
  const unit = ({ lease }: { lease: UnitOfWork['lease'] }, notBeforeMs: number): UnitOfWork => ({
    lease,
    outcome: { kind: 'retry', notBeforeMs, patch: null, forefront: false },
    records: [],
    requests: [],
    values: [],
    columns: [],
  });
  await store.queue.add([requestOf(0)]);
  const [first] = (await store.queue.claim(options)).requests;
  const dueAtMs = systemClock.wallMs() + 50;
  await store.queue.commit([unit(first!, dueAtMs)]);
  while (systemClock.wallMs() <= dueAtMs + 5) await systemClock.sleep(5);
  // Nothing else is there: it is looked for at once.
  const [again] = (await store.queue.claim(options)).requests;
  expect(again).toMatchObject({ url: first!.url, claims: 2 });
  await store.close();
});
