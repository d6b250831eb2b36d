import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { EnvironmentError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { type OpenRun, openRun, readRun } from '../../src/storage/runs.ts';
import { openSqliteRunInThread } from '../../src/storage/sqlite/open-in-thread.ts';
import { describeDatasets } from './run-store/datasets.ts';
import { claimAll, request, requests, rowsOf, unit } from './run-store/harness.ts';
import { describeValues } from './run-store/values.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };

// The thread has the system's clock, so of the suite it runs what needs no other.
describe('SQLite on a thread as a run store', () => {
  const createRun = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-thread-'));
    const file = join(folder, 'run.sqlite');
    return {
      open: (given: typeof ports, access: 'own' | 'join' = 'own') =>
        openSqliteRunInThread({ file, durability: 'normal', ports: given, access }),
      remove: () => rm(folder, { recursive: true }),
    };
  };
  describeDatasets(createRun);
  describeValues(createRun);
});

describe('a run on a thread', () => {
  let storageDir: string;
  let run: OpenRun;

  beforeEach(async () => {
    storageDir = await mkdtemp(join(tmpdir(), 'millrace-thread-'));
    run = await openRun({ storageDir, name: 'x', durability: 'normal', ports, inThread: true });
  });

  afterEach(async () => {
    await run.close();
    await rm(storageDir, { recursive: true });
  });

  test('adds, claims, commits and puts back', async () => {
    const { store } = run;
    const added = await store.queue.add([...requests('a.example', 50), request('b.example', 1)]);
    expect(added.filter(({ wasAlreadyPresent }) => wasAlreadyPresent)).toEqual([]);
    const claimed = await claimAll(store, { skipHosts: new Set(['b.example']) });
    expect(claimed).toHaveLength(50);
    const failed = { kind: 'handled', result: 'failed', reason: 'HTTP_500', patch: null } as const;
    const units = claimed.map((one) => unit(one, { outcome: failed, records: [{ dataset: 'failures', json: '{}' }] }));
    const results = await store.queue.commit(units);
    expect(await store.queue.commit(units)).toEqual(results);
    expect(await rowsOf(store, 'failures')).toHaveLength(50);
    expect(await store.queue.requeue({ result: 'failed', reasons: ['HTTP_500'] })).toBe(50);
    expect(await store.queue.counts()).toEqual({ total: 51, succeeded: 0, failed: 0, skipped: 0, pending: 51 });
    const [first] = await claimAll(store, { limit: 1 });
    await store.queue.release([first!.lease]);
    expect(await store.queue.renew([first!.lease], 1_000)).toEqual([first!.lease]);
  });

  test('answers calls made at once, each its own', async () => {
    const { values } = run.store;
    await Promise.all(Array.from({ length: 50 }, (_, n) => values.set(`k${n}`, n)));
    const all = await Promise.all(Array.from({ length: 50 }, (_, n) => values.get(`k${n}`)));
    expect(all).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });

  test('says what went wrong as the same kind of error', async () => {
    await expect(openRun({ storageDir, name: 'x', durability: 'normal', ports, inThread: true })).rejects.toThrow(
      'in use',
    );
    const missing = { file: join(storageDir, 'none/run.sqlite'), durability: 'normal', ports } as const;
    await expect(openSqliteRunInThread(missing)).rejects.toThrow(EnvironmentError);
    await run.close();
    await expect(run.store.queue.counts()).rejects.toThrow('is closed');
    await run.close();
  });

  test('shares its file with Crawlee storages and readers', async () => {
    const { storageClient } = run.store;
    const { id } = await storageClient.datasets().getOrCreate('default');
    await storageClient.dataset(id).pushItems({ a: 1 });
    expect(await rowsOf(run.store, 'default')).toEqual(['{"a":1}']);
    const reader = await readRun({ storageDir, name: 'x', durability: 'normal', ports });
    expect(await reader!.datasets.list()).toEqual([{ name: 'default', count: 1 }]);
    await reader!.close();
  });
});
