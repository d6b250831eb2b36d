import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openPostgresRun, type PostgresRunStore } from '../../../src/storage/postgres/open.ts';
import type { HandledResult, LeasedRequest, UnitOfWork } from '../../../src/storage/store.ts';
import { requestOf, requestsOf } from '../../faults/postgres/task.ts';
import { createTestDatabase, runSql, type TestDatabase } from './server.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };
let database: TestDatabase;
let runs = 0;
let run: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.end());
beforeEach(() => {
  run = `run-${++runs}`;
});

const open = (): Promise<PostgresRunStore> => openPostgresRun({ url: database.url, name: run, ports });

async function claim(store: PostgresRunStore, limit: number): Promise<LeasedRequest[]> {
  const options = { limit, perHost: limit, skipHosts: new Set<string>(), leaseMs: 60_000 };
  return (await store.queue.claim(options)).requests;
}

function unitOf({ lease }: LeasedRequest, result: HandledResult): UnitOfWork {
  const outcome = { kind: 'handled', result, reason: result === 'failed' ? 'HTTP_404' : null, patch: null } as const;
  return { lease, outcome, records: [], requests: [], values: [], columns: [] };
}

async function handle(store: PostgresRunStore, count: number, result: HandledResult = 'succeeded'): Promise<void> {
  const requests = await claim(store, count);
  expect(requests).toHaveLength(count);
  await store.queue.commit(requests.map((request) => unitOf(request, result)));
}

async function handledInSpell(store: PostgresRunStore): Promise<{ succeeded: number; failed: number }> {
  const { succeeded, failed } = (await store.progress()).spell;
  return { succeeded, failed };
}

describe('a spell of work', () => {
  test('counts what all workers have done since a crawl has begun it', async () => {
    const crawl = await open();
    expect(await crawl.begin()).toBe(true);
    await crawl.queue.add(requestsOf(30));
    await handle(crawl, 5);
    const worker = await open();
    await handle(worker, 4, 'failed');
    for (const store of [crawl, worker]) expect(await handledInSpell(store)).toEqual({ succeeded: 5, failed: 4 });
    expect((await worker.progress()).counts).toEqual({ total: 30, succeeded: 5, failed: 4, skipped: 0, pending: 21 });
    await crawl.close();
    await worker.close();
  });

  test('is over when another crawl continues the run, not when a worker comes alone', async () => {
    const first = await open();
    await first.begin();
    await first.queue.add(requestsOf(10));
    await handle(first, 3);
    await handle(first, 2, 'failed');
    await first.close();
    const worker = await open();
    expect(await handledInSpell(worker)).toEqual({ succeeded: 3, failed: 2 });
    const second = await open();
    expect(await second.begin()).toBe(true);
    await handle(second, 1);
    for (const store of [worker, second]) expect(await handledInSpell(store)).toEqual({ succeeded: 1, failed: 0 });
    await worker.close();
    await second.close();
  });

  test('goes on with another lead while there are others at work', async () => {
    const first = await open();
    await first.begin();
    await first.queue.add(requestsOf(10));
    await handle(first, 3);
    const second = await open();
    expect(await second.begin()).toBe(false);
    // As when the first was killed some time ago.
    await runSql(database.url, `UPDATE millrace.run SET lead_until = 0 WHERE name = '${run}'`);
    const third = await open();
    expect(await third.begin()).toBe(true);
    expect(await handledInSpell(third)).toEqual({ succeeded: 3, failed: 0 });
    for (const store of [first, second, third]) await store.close();
  });

  test('takes nothing back when failed requests are put back in its course', async () => {
    const first = await open();
    await first.queue.add(requestsOf(10));
    await handle(first, 3, 'failed');
    const second = await open();
    expect(await second.queue.requeue({ result: 'failed' })).toBe(3);
    expect(await handledInSpell(second)).toEqual({ succeeded: 0, failed: 3 });
    expect((await second.progress()).counts).toMatchObject({ failed: 0, pending: 10 });
    await first.close();
    await second.close();
  });

  test('has the age of the crawl that began it, for who comes later too', async () => {
    const first = await open();
    await first.begin();
    await systemClock.sleep(300);
    const second = await open();
    const { elapsedMs } = (await second.progress()).spell;
    expect(elapsedMs).toBeGreaterThanOrEqual(300);
    await first.close();
    await second.close();
    const openedAtMs = systemClock.nowMs();
    const third = await open();
    await third.begin();
    const age = (await third.progress()).spell.elapsedMs;
    // Clocks of whole ms may round either way.
    expect(age).toBeLessThanOrEqual(systemClock.nowMs() - openedAtMs + 2);
    await third.close();
  });
});

describe('a limit of requests', () => {
  test('holds for what two workers are handed out together, however often they ask at once', async () => {
    const stores = await Promise.all([open(), open()]);
    await stores[0].queue.add(requestsOf(100));
    for (const store of stores) store.handleAtMost(30);
    const claims = await Promise.all(Array.from({ length: 10 }, (_, i) => claim(stores[i % 2]!, 7)));
    const given = claims.flat();
    expect(given).toHaveLength(30);
    expect(new Set(given.map(({ lease }) => lease.requestId)).size).toBe(30);
    // One that is given back may be handed out again, by whomever: no more.
    const [last] = given;
    const owner = stores[claims[0]!.includes(last!) ? 0 : 1]!;
    await owner.queue.release([last!.lease]);
    expect(await claim(stores[1], 7)).toHaveLength(1);
    expect(await claim(stores[0], 7)).toEqual([]);
    for (const store of stores) await store.close();
  });

  test('says to look again while it holds something back, and counts what was handled', async () => {
    const store = await open();
    await store.queue.add([requestOf(1), requestOf(2), requestOf(3)]);
    store.handleAtMost(2);
    await handle(store, 1);
    await handle(store, 1, 'failed');
    const options = { limit: 5, perHost: 5, skipHosts: new Set<string>(), leaseMs: 60_000 };
    const { requests, nextDueAtMs } = await store.queue.claim(options);
    expect(requests).toEqual([]);
    expect(nextDueAtMs).toBeGreaterThan(systemClock.wallMs());
    store.handleAtMost(null);
    expect(await claim(store, 5)).toHaveLength(1);
    await store.close();
  });
});
