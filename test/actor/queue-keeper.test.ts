import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlatformQueue, QueuedRequest } from '../../src/actor/platform.ts';
import { QueueKeeper } from '../../src/actor/queue-keeper.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { systemRandom } from '../../src/core/random.ts';
import { openRun } from '../../src/storage/runs.ts';
import type { NewRequest, RunStore, UnitOfWork } from '../../src/storage/store.ts';
import { MemoryRecords } from './memory-records.ts';

const HOST = 'api.example.com';
const ports = { clock: systemClock, random: systemRandom, log: silentLog };

class MemoryQueue implements PlatformQueue {
  readonly stored = new Map<string, QueuedRequest>();
  readonly calls: string[] = [];
  refuses = false;

  async add(
    requests: readonly QueuedRequest[],
    { forefront }: { forefront: boolean },
  ): Promise<{ unprocessed: number }> {
    this.calls.push(`add ${requests.length}${forefront ? ' in front' : ''}`);
    if (this.refuses) return { unprocessed: requests.length };
    for (const request of requests)
      if (!this.stored.has(request.uniqueKey)) this.stored.set(request.uniqueKey, request);
    return { unprocessed: 0 };
  }

  async update(request: QueuedRequest): Promise<void> {
    this.calls.push(`update ${request.uniqueKey}`);
    this.stored.set(request.uniqueKey, request);
  }

  async *list(): AsyncIterable<QueuedRequest> {
    yield* this.stored.values();
  }
}

let folder: string;
let queue: MemoryQueue;
let records: MemoryRecords;
const closes: (() => Promise<void>)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-keeper-'));
  queue = new MemoryQueue();
  records = new MemoryRecords();
});
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
  rmSync(folder, { recursive: true, force: true });
});

/** The store of one container, whose disk was empty. */
async function container(name: string, events: string[] = []): Promise<{ store: RunStore; keeper: QueueKeeper }> {
  const run = await openRun({ storageDir: folder, name, durability: 'normal', ports });
  closes.push(() => run.close());
  const keeper = new QueueKeeper({ queue, records }, systemClock);
  const handOver = async (): Promise<void> => void events.push('handed over');
  const fail = (error: unknown): never => {
    throw error;
  };
  return { keeper, store: await keeper.keep(run.store, { handOver, fail }) };
}

const request = (id: number, more: Partial<NewRequest> = {}): NewRequest => {
  const url = `https://${HOST}/${id}`;
  return { uniqueKey: url, url, host: HOST, method: 'GET', label: null, data: null, ...more };
};

const claimAll = async ({ queue: own }: RunStore) =>
  (await own.claim({ limit: 100, perHost: 100, skipHosts: new Set(), leaseMs: 60_000 })).requests;

const handledAs = (result: 'succeeded' | 'failed', reason: string | null): UnitOfWork['outcome'] => ({
  kind: 'handled',
  result,
  reason,
  patch: null,
});
const nothing = { records: [], requests: [], values: [], columns: [] };

test('what is added is in the queue of the platform first; what is known already is not sent', async () => {
  const { store } = await container('a');
  await store.queue.add([request(1), request(2)]);
  await store.queue.add([request(2), request(3)], { forefront: true });
  await store.queue.add([request(3)]);
  expect(queue.calls).toEqual(['add 2', 'add 1 in front']);
  queue.refuses = true;
  await expect(store.queue.add([request(4)])).rejects.toThrow('has refused 1 requests');
  expect(await store.queue.get(request(4).uniqueKey)).toBe(null);
});

test('a request is marked after its records were handed over, and its follow-ups are there before', async () => {
  const { store, keeper } = await container('a', queue.calls);
  await store.queue.add([request(1)]);
  const [first] = await claimAll(store);
  await store.queue.commit([
    { ...nothing, lease: first!.lease, outcome: handledAs('succeeded', null), requests: [request(2)] },
  ]);
  await keeper.finish();
  expect(queue.calls).toEqual(['add 1', 'add 1', 'handed over', `update ${request(1).uniqueKey}`]);
  expect(queue.stored.get(request(1).uniqueKey)!.handledAt).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(queue.stored.get(request(2).uniqueKey)!.handledAt).toBe(null);
});

test('a retry is not marked', async () => {
  const { store, keeper } = await container('a');
  await store.queue.add([request(1)]);
  const [first] = await claimAll(store);
  const outcome = { kind: 'retry', notBeforeMs: null, patch: null, forefront: false } as const;
  await store.queue.commit([{ ...nothing, lease: first!.lease, outcome }]);
  await keeper.finish();
  expect(queue.calls).toEqual(['add 1']);
});

test('the next container has every request as it was: labels, data, outcomes and their reasons', async () => {
  const { store, keeper } = await container('a');
  const labelled = request(3, { method: 'POST', label: 'detail', data: '{"payload":"{}"}' });
  await store.queue.add([request(1), request(2), labelled]);
  const claimed = await claimAll(store);
  const unit = (index: number, outcome: UnitOfWork['outcome']): UnitOfWork => ({
    ...nothing,
    lease: claimed[index]!.lease,
    outcome,
  });
  await store.queue.commit([unit(0, handledAs('succeeded', null)), unit(1, handledAs('failed', 'HTTP_404'))]);
  await store.values.set('feed', { line: 3 });
  await store.values.set('actor:dataset:default', { datasetId: 'd', seq: 9, count: 9 });
  await keeper.finish();

  const next = await container('b');
  expect(await next.store.queue.counts()).toEqual({ total: 3, succeeded: 1, failed: 1, skipped: 0, pending: 1 });
  expect(await next.store.queue.failureReasons()).toEqual({ HTTP_404: 1 });
  const [waiting, ...others] = await claimAll(next.store);
  expect(waiting).toMatchObject(labelled);
  expect(others).toEqual([]);
  expect(await next.store.values.get('feed')).toEqual({ line: 3 });
  // Rows of the new file are counted anew; the dataset is the same.
  expect(await next.store.values.get('actor:dataset:default')).toEqual({ datasetId: 'd', seq: 0, count: 9 });
});

test('values that the new container has set already stay', async () => {
  records.stored.set('MILLRACE-VALUES', Buffer.from('[["run",{"old":true}],["other",1]]'));
  const run = await openRun({ storageDir: folder, name: 'c', durability: 'normal', ports });
  closes.push(() => run.close());
  await run.store.values.set('run', { old: false });
  const keeper = new QueueKeeper({ queue, records }, systemClock);
  const store = await keeper.keep(run.store, { handOver: async () => {}, fail: () => {} });
  expect(await store.values.get('run')).toEqual({ old: false });
  expect(await store.values.get('other')).toBe(1);
});
