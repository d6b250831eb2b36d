import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DatasetHandover } from '../../src/actor/dataset-handover.ts';
import { endText, progressText } from '../../src/actor/status-text.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { systemRandom } from '../../src/core/random.ts';
import type { Summary } from '../../src/core/summary.ts';
import { type OpenRun, openRun } from '../../src/storage/runs.ts';
import { MemoryRecords } from './memory-records.ts';

let folder: string;
let run: OpenRun;
let pushed: Record<string, unknown[]>;
let failing: boolean;
let platform: ConstructorParameters<typeof DatasetHandover>[0]['platform'] & { records: MemoryRecords };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-handover-'));
  const ports = { clock: systemClock, random: systemRandom, log: silentLog };
  run = await openRun({ storageDir: folder, name: 'run', durability: 'normal', ports });
  pushed = {};
  failing = false;
  let created = 0;
  platform = {
    defaultDatasetId: 'the-default',
    records: new MemoryRecords(),
    createDataset: async () => `created-${++created}`,
    itemCount: async (id) => pushed[id]?.length ?? 0,
    push: async (id, json) => {
      if (failing) throw new Error('502');
      pushed[id] = [...(pushed[id] ?? []), ...(JSON.parse(json) as unknown[])];
    },
  };
});
afterEach(async () => {
  await run.close();
  rmSync(folder, { recursive: true, force: true });
});

const handover = (mainDataset = 'default') =>
  new DatasetHandover({ platform, store: run.store, mainDataset, log: silentLog });
const push = (dataset: string, ...ids: number[]) =>
  run.store.datasets.push(
    dataset,
    ids.map((id) => `{"id":${id}}`),
  );

test('each dataset goes to one of its own, the main one to the default', async () => {
  await push('failures', 1);
  await push('other', 2);
  await push('default', 3);
  const own = handover();
  await own.catchUp();
  expect(pushed).toEqual({ 'the-default': [{ id: 3 }], 'created-1': [{ id: 1 }], 'created-2': [{ id: 2 }] });
  expect(own.datasets).toEqual([
    { name: 'default', id: 'the-default', count: 1 },
    { name: 'failures', id: 'created-1', count: 1 },
    { name: 'other', id: 'created-2', count: 1 },
  ]);
});

test('without a record of the main one the first of the others takes the default, failures never do', async () => {
  const own = handover();
  await push('failures', 1);
  await own.catchUp();
  await push('products', 2);
  await push('reviews', 3);
  await own.catchUp();
  expect(own.datasets.map(({ name, id }) => [name, id])).toEqual([
    ['failures', 'created-1'],
    ['products', 'the-default'],
    ['reviews', 'created-2'],
  ]);
});

test('what was handed over is not handed over again, by another process neither', async () => {
  await push('default', 1, 2);
  await handover().catchUp();
  await push('default', 3);
  const next = handover();
  await next.catchUp();
  await next.catchUp();
  expect(pushed['the-default']).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  expect(next.datasets).toEqual([{ name: 'default', id: 'the-default', count: 3 }]);
});

test('rows that come while some are handed over go with the next call', async () => {
  await push('default', 1);
  const { push: send } = platform;
  platform.push = async (id, json) => {
    await push('default', 2);
    await send(id, json);
  };
  const own = handover();
  await own.catchUp();
  expect(pushed['the-default']).toEqual([{ id: 1 }]);
  platform.push = send;
  await own.catchUp();
  expect(pushed['the-default']).toEqual([{ id: 1 }, { id: 2 }]);
});

test('a container whose file is gone hands over to the same datasets', async () => {
  await push('default', 1);
  await push('failures', 2);
  await handover().catchUp();
  for (const [key] of await run.store.values.entries('actor:')) await run.store.values.delete(key);
  await push('products', 3);
  const next = handover();
  await next.catchUp();
  // At least once: how far the first one had got is not known.
  expect(pushed['the-default']).toEqual([{ id: 1 }, { id: 1 }]);
  expect(next.datasets).toEqual([
    { name: 'default', id: 'the-default', count: 2 },
    { name: 'failures', id: 'created-1', count: 2 },
    { name: 'products', id: 'created-2', count: 1 },
  ]);
});

test('what could not be handed over is, the next time', async () => {
  await push('default', 1);
  const own = handover();
  failing = true;
  await expect(own.catchUp()).rejects.toThrow('502');
  failing = false;
  await own.catchUp();
  expect(pushed['the-default']).toEqual([{ id: 1 }]);
});

test('a record that no dataset takes is kept beside them', async () => {
  const large = JSON.stringify({ text: 'x'.repeat(9_000_000) });
  await run.store.datasets.push('big things', ['{"id":1}', large, '{"id":2}']);
  await handover('big things').catchUp();
  expect(pushed['the-default']).toEqual([{ id: 1 }, { id: 2 }]);
  expect(platform.records.stored.get('RECORD-big-things-2')!.toString()).toBe(large);
});

test('status messages say how it goes, and how it ended', () => {
  const counts = { total: 50_000, succeeded: 1_200, failed: 3, skipped: 0, pending: 48_797 };
  expect(progressText(counts)).toBe('1,203 of 50,000 requests done, 3 failed');
  expect(progressText({ ...counts, failed: 0 })).toBe('1,200 of 50,000 requests done');
  const failures = [{ code: 'HTTP_500', host: 'a.b', count: 2, example: '', advice: '' }];
  const summary = { state: 'incomplete', requests: counts, failures };
  expect(endText({ ...summary, requests: { ...counts, skipped: 4 } } as unknown as Summary, 1_000)).toBe(
    'Ended: 1,200 of 50,000 requests succeeded, 3 failed, most often HTTP_500 at a.b, 4 were skipped, 48,797 are left, 1,000 records.',
  );
});
