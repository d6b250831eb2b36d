import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { EnvironmentError, UsageError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { InUseError } from '../../src/storage/run-lock.ts';
import {
  isRunInUse,
  listRuns,
  moveToPrevious,
  type OpenRun,
  openRun,
  readRun,
  runExists,
  runPaths,
} from '../../src/storage/runs.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };

let storageDir: string;
let opened: OpenRun[];

beforeEach(async () => {
  storageDir = await mkdtemp(join(tmpdir(), 'millrace-runs-'));
  opened = [];
});

afterEach(async () => {
  for (const run of opened) await run.close();
  await rm(storageDir, { recursive: true });
});

async function open(name = 'default', access: 'own' | 'join' = 'own'): Promise<OpenRun> {
  const run = await openRun({ storageDir, name, durability: 'normal', ports, access });
  opened.push(run);
  return run;
}

const address = (name = 'default') => ({ storageDir, name, clock: systemClock });

describe('run names', () => {
  test.each(['default', 'my run', 'produkte-2026_01', 'v1.2', 'größe', 'default.previous', 'a'.repeat(100)])(
    'may be %j',
    (name) => {
      expect(runPaths('/s', name).folder).toBe(join('/s/runs', name));
    },
  );

  test.each(['', '.', '..', '../x', 'a/b', 'a\\b', '.hidden', 'a..b', 'x\0', 'tab\t', 'end.', 'end ', 'a'.repeat(101)])(
    'may not be %j, and the message says what may',
    (name) => {
      expect(() => runPaths('/s', name)).toThrow(UsageError);
      expect(() => runPaths('/s', name)).toThrow('letters, digits');
    },
  );
});

describe('a run', () => {
  test('has one folder for all of it', async () => {
    const { paths } = await open();
    expect(paths).toEqual({
      name: 'default',
      folder: join(storageDir, 'runs/default'),
      database: join(storageDir, 'runs/default/run.sqlite'),
      lock: join(storageDir, 'runs/default/lock.sqlite'),
      exports: join(storageDir, 'runs/default/exports'),
      reportJson: join(storageDir, 'runs/default/report.json'),
      reportHtml: join(storageDir, 'runs/default/report.html'),
    });
    expect(existsSync(paths.database)).toBe(true);
  });

  test('is refused to a second process, by name', async () => {
    await open('products');
    await expect(open('products')).rejects.toThrow(InUseError);
    await expect(open('products')).rejects.toThrow('Run "products" is in use by another process');
    await open('other');
  });

  test('takes joiners beside its owner, and an owner only when all are gone', async () => {
    const owner = await open();
    const joiner = await open('default', 'join');
    await owner.close();
    await expect(open()).rejects.toThrow(InUseError);
    await joiner.close();
    await open();
  });

  test('tells whether it is in use', async () => {
    expect(await isRunInUse(address())).toBe(false);
    const run = await open();
    expect(await isRunInUse(address())).toBe(true);
    await run.close();
    expect(await isRunInUse(address())).toBe(false);
  });

  test('is read while it is worked on, and nothing is created to read', async () => {
    expect(await runExists(storageDir, 'default')).toBe(false);
    expect(await readRun({ storageDir, name: 'default', durability: 'normal', ports })).toBeNull();
    expect(await readdir(storageDir)).toEqual([]);
    const run = await open();
    await run.store.datasets.push('default', ['1']);
    const reader = await readRun({ storageDir, name: 'default', durability: 'normal', ports });
    expect(await reader!.datasets.list()).toEqual([{ name: 'default', count: 1 }]);
    await expect(reader!.values.set('k', 1)).rejects.toThrow(EnvironmentError);
    await reader!.close();
    expect(await runExists(storageDir, 'default')).toBe(true);
  });

  test('is kept as previous by one rename, in place of an older one', async () => {
    for (const value of ['first', 'second']) {
      const run = await open();
      await run.store.values.set('value', value);
      await run.close();
      await moveToPrevious(address());
    }
    expect(await runExists(storageDir, 'default')).toBe(false);
    const previous = await readRun({ storageDir, name: 'default.previous', durability: 'normal', ports });
    expect(await previous!.values.get('value')).toBe('second');
    await previous!.close();
    expect(await readdir(join(storageDir, 'runs'))).toEqual(['default.previous']);
  });

  test('is not moved while in use, nor is its previous lost', async () => {
    await (await open()).close();
    await moveToPrevious(address());
    await open();
    await expect(moveToPrevious(address())).rejects.toThrow(InUseError);
    expect((await readdir(join(storageDir, 'runs'))).sort()).toEqual(['default', 'default.previous']);
  });

  test('that does not exist need not be moved', async () => {
    await moveToPrevious(address('nothing'));
    expect(await listRuns(storageDir)).toEqual([]);
  });

  test('clears away what a killed process left of an older previous', async () => {
    await (await open()).close();
    await mkdir(join(storageDir, 'runs/default.previous.removed-0a/exports'), { recursive: true });
    await moveToPrevious(address());
    expect(await readdir(join(storageDir, 'runs'))).toEqual(['default.previous']);
  });

  test('that is not writable says which folder', async () => {
    await writeFile(join(storageDir, 'runs'), 'a file where the folder should be');
    await expect(open()).rejects.toThrow(EnvironmentError);
    await expect(open()).rejects.toThrow(join(storageDir, 'runs/default'));
  });

  test('has Crawlee storages in the same file, which are exported with it', async () => {
    const { store } = await open();
    const { storageClient } = store;
    const { id } = await storageClient.datasets().getOrCreate('default');
    await store.datasets.push('default', ['{"from":"run"}']);
    await storageClient.dataset(id).pushItems({ from: 'crawlee' });
    await store.datasets.push('default', ['{"from":"run again"}']);
    const rows = await store.datasets.page('default', { afterSeq: 0, limit: 10 });
    expect(rows.map(({ json }) => json)).toEqual(['{"from":"run"}', '{"from":"crawlee"}', '{"from":"run again"}']);
    await storageClient.purge!();
    expect(await store.datasets.list()).toEqual([{ name: 'default', count: 3 }]);
    expect((await storageClient.requestQueues().list()).items).toEqual([]);
  });
});

test('runs are listed by name, with whether a previous one is kept', async () => {
  await (await open('b')).close();
  await (await open('a')).close();
  await moveToPrevious(address('b'));
  await (await open('b')).close();
  expect(await listRuns(storageDir)).toEqual([
    { name: 'a', hasPrevious: false },
    { name: 'b', hasPrevious: true },
  ]);
});
