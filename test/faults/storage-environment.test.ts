import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { EnvironmentError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { SqliteStorageClient } from '../../src/storage/crawlee/sqlite-storage-client.ts';
import { recoverRun } from '../../src/storage/recover-run.ts';
import { moveToPrevious, openRun, runExists } from '../../src/storage/runs.ts';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import type { RunStore } from '../../src/storage/store.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { mountSmall } from '../fixtures/small-disk.ts';
import { claimAll, Place, realPorts, rowsOf } from './storage/place.ts';
import { requestOf } from './storage/task.ts';

// Processes are started, and a busy machine takes seconds for one.
vi.setConfig({ testTimeout: 120_000 });

let place: Place;

beforeEach(async () => {
  place = await Place.create();
});

afterEach(() => place.remove());

describe('the write lock held by another process', () => {
  test('for seconds delays a write, and the event loop goes on', async () => {
    const store = await place.open();
    const holder = place.start({ kind: 'hold-write-lock', file: place.database, holdMs: 2_000 });
    await holder.next();
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 10);
    await store.queue.add([requestOf(1)]);
    clearInterval(timer);
    expect(await holder.next()).toBe('released');
    expect(ticks).toBeGreaterThan(20);
    expect(await store.queue.counts()).toMatchObject({ total: 1 });
  });

  test('does not keep anybody from reading', async () => {
    const store = await place.open();
    await store.datasets.push('default', ['1']);
    const holder = place.start({ kind: 'hold-write-lock', file: place.database, holdMs: 60_000 });
    await holder.next();
    expect(await rowsOf(store)).toEqual([1]);
    expect(await store.queue.counts()).toMatchObject({ total: 0 });
    await holder.kill();
    await store.datasets.push('default', ['2']);
  });

  test('for too long ends the wait with a message that names the file', async () => {
    await place.open();
    await place.close();
    const options = { file: place.database, durability: 'normal', ports: realPorts, busyTimeoutMs: 300 } as const;
    const store = await openSqliteRun(options);
    const holder = place.start({ kind: 'hold-write-lock', file: place.database, holdMs: 60_000 });
    await holder.next();
    await expect(store.values.set('k', 1)).rejects.toThrow(`write lock of ${place.database}`);
    await holder.kill();
    await store.values.set('k', 2);
    expect(await store.values.get('k')).toBe(2);
    await store.close();
  });
});

describe('a full disk', () => {
  test('stops with a clear message, loses nothing committed, and the run goes on when there is room', async (context) => {
    const disk = await mountSmall(8);
    if (!disk) return context.skip('mounting a tmpfs is not permitted here');
    const filler = join(disk.folder, 'filler');
    try {
      writeFileSync(filler, Buffer.alloc(5 * 1024 * 1024));
      const file = join(disk.folder, 'run.sqlite');
      const store = await openSqliteRun({ file, durability: 'normal', ports: realPorts });
      let pushed = 0;
      const fill = async () => {
        for (; ; pushed++)
          await store.datasets.push('default', [JSON.stringify({ n: pushed, pad: 'x'.repeat(20_000) })]);
      };
      const failure = await fill().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(EnvironmentError);
      expect(String(failure)).toContain(`The disk is full: ${file}`);
      expect((await rowsOf<{ n: number }>(store)).map(({ n }) => n)).toEqual([...Array(pushed).keys()]);
      await rm(filler);
      await store.datasets.push('default', ['{"n":"after"}']);
      expect(await rowsOf(store)).toHaveLength(pushed + 1);
      expect(await store.datasets.list()).toEqual([{ name: 'default', count: pushed + 1 }]);
      await store.close();
    } finally {
      disk.unmount();
      await rm(disk.folder, { recursive: true, force: true });
    }
  });
});

describe('a write-ahead log', () => {
  async function killedWriter(rows: number): Promise<string> {
    const victim = place.start({ kind: 'push-and-wait', storageDir: place.storageDir, rows });
    await victim.next();
    await victim.kill();
    return `${place.database}-wal`;
  }

  test('left by a killed process is read whole', async () => {
    await killedWriter(300);
    expect(await rowsOf(await place.open())).toHaveLength(300);
  });

  test.each([0.9, 0.5, 0.1])('truncated to %d of its length gives an unbroken beginning', async (share) => {
    const wal = await killedWriter(300);
    truncateSync(wal, Math.floor(statSync(wal).size * share));
    const store = await place.open();
    const rows = await rowsOf<{ n: number }>(store);
    expect(rows.map(({ n }) => n)).toEqual([...Array(rows.length).keys()]);
    expect(rows.length).toBeLessThan(300);
    await store.datasets.push('default', ['{"n":"more"}']);
    const count = rows.length + 1;
    expect(await store.datasets.list()).toEqual([{ name: 'default', count }]);
    await place.close();
    place.expectSound();
  });

  test('with garbage in its middle gives what lies before it', async () => {
    const wal = await killedWriter(300);
    overwrite(wal, Math.floor(statSync(wal).size / 2), Buffer.alloc(10_000, 0xab));
    const rows = await rowsOf<{ n: number }>(await place.open());
    expect(rows.map(({ n }) => n)).toEqual([...Array(rows.length).keys()]);
    expect(rows.length).toBeLessThan(300);
    await place.close();
    place.expectSound();
  });
});

function overwrite(file: string, position: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

describe('a damaged file', () => {
  async function filled(): Promise<void> {
    const store = await place.open();
    await store.queue.add(Array.from({ length: 5_000 }, (_, n) => requestOf(n)));
    await place.close();
  }

  test('at its head is refused with how to recover, and left as it is', async () => {
    await filled();
    overwrite(place.database, 0, Buffer.alloc(4_096, 0xcd));
    const before = readFileSync(place.database);
    const failure = await place.open().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(String(failure)).toContain(`${place.database} is damaged`);
    expect(String(failure)).toContain('millrace recover --run NAME --to NEW-NAME');
    expect(readFileSync(place.database).equals(before)).toBe(true);
    const { storageDir } = place;
    const rescue = recoverRun({ storageDir, from: 'default', to: 'rescued', ports: realPorts });
    await expect(rescue).rejects.toThrow('is damaged');
    expect(await runExists(storageDir, 'rescued')).toBe(false);
  });

  test('inside stops the work that meets it, with how to recover', async () => {
    await filled();
    const { size } = statSync(place.database);
    overwrite(place.database, 65_536, Buffer.alloc(size - 65_536, 0xcd));
    const work = async () => {
      const store = await place.open();
      await claimAll(store);
      await store.queue.add(Array.from({ length: 5_000 }, (_, n) => requestOf(n + 10_000)));
    };
    const failure = await work().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(String(failure)).toContain('is damaged');
    expect(String(failure)).toContain('no new run was started');
  });

  test('gives up what can still be read to a new run, and what is lost is crawled again, once', async () => {
    const count = 5_000;
    const store = await place.open();
    await store.queue.add(Array.from({ length: count }, (_, n) => requestOf(n)));
    const work = async (target: RunStore, limit: number) => {
      const options = { limit, perHost: limit, skipHosts: new Set<string>(), leaseMs: 60_000 };
      const { requests } = await target.queue.claim(options);
      await target.queue.commit(
        requests.map(({ lease, url }) => ({
          lease,
          outcome: { kind: 'handled', result: 'succeeded', reason: null, patch: null },
          records: [{ dataset: 'default', json: JSON.stringify({ url, pad: 'x'.repeat(500) }) }],
          requests: [],
          values: [],
          columns: [],
        })),
      );
    };
    await work(store, 3_000);
    await store.values.set('fingerprint', 'f');
    await place.close();
    const { size } = statSync(place.database);
    // A few pages all over the file, beyond the schema.
    for (const share of [0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
      overwrite(place.database, 4_096 * Math.floor((size * share) / 4_096), Buffer.alloc(4_096, 0xcd));
    const { storageDir } = place;
    const recovered = await recoverRun({ storageDir, from: 'default', to: 'rescued', ports: realPorts });
    expect(recovered.requests.rows).toBeGreaterThan(count / 2);
    expect(recovered.records.default!.rows).toBeGreaterThan(1_500);
    expect(recovered.requests.gaps + recovered.handled.gaps + recovered.records.default!.gaps).toBeGreaterThan(0);
    const run = await openRun({ storageDir, name: 'rescued', durability: 'normal', ports: realPorts });
    const rescued = run.store;
    expect(await rescued.values.get('fingerprint')).toBe('f');
    await rescued.queue.add(Array.from({ length: count }, (_, n) => requestOf(n)));
    await work(rescued, count);
    const urls = (await rowsOf<{ url: string }>(rescued)).map(({ url }) => url);
    expect(await rescued.queue.counts()).toMatchObject({ total: count, succeeded: count, pending: 0 });
    expect(new Set(urls).size).toBe(urls.length);
    // A record may be lost while its request's acknowledgement is not; nothing is there twice.
    expect(urls.length).toBeGreaterThan(count - 600);
    await run.close();
  });

  test('cut short is never taken for a fresh one', async () => {
    await filled();
    truncateSync(place.database, 20_000);
    const failure = await place
      .open()
      .then((store) => claimAll(store))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(statSync(place.database).size).toBeLessThanOrEqual(20_000);
  });
});

describe('the schema', () => {
  test('of a newer program is refused, and left as it is', async () => {
    await place.open();
    await place.close();
    const db = new DatabaseSync(place.database);
    db.exec('PRAGMA user_version = 99');
    db.close();
    const before = readFileSync(place.database);
    await expect(place.open()).rejects.toThrow(EnvironmentError);
    await expect(place.open()).rejects.toThrow('schema version 99, written by a newer millrace');
    expect(readFileSync(place.database).equals(before)).toBe(true);
  });

  test('of another program is refused', async () => {
    const file = join(place.storageDir, 'foreign.sqlite');
    const db = new DatabaseSync(file);
    db.exec('CREATE TABLE precious (x)');
    db.close();
    await expect(openSqliteRun({ file, durability: 'normal', ports: realPorts })).rejects.toThrow(
      'not one of millrace',
    );
    expect(new DatabaseSync(file).prepare('SELECT count(*) AS n FROM sqlite_schema').get()).toEqual({ n: 1 });
  });
});

describe('a clock that is set', () => {
  /** As FakeClock, with a wall clock that can be set. */
  class SteppableClock extends FakeClock {
    #stepMs = 0;

    override wallMs(): number {
      return super.wallMs() + this.#stepMs;
    }

    step(byMs: number): void {
      this.#stepMs += byMs;
    }
  }

  const HOUR_MS = 3_600_000;
  let clock: SteppableClock;
  const ports = () => ({ clock, random: Math.random, log: silentLog });

  beforeEach(() => {
    clock = new SteppableClock();
  });

  const retryIn = (delayMs: number) =>
    ({ kind: 'retry', notBeforeMs: clock.wallMs() + delayMs, patch: null, forefront: false }) as const;
  const unit = { records: [], requests: [], values: [], columns: [] };

  test('back an hour makes nobody wait longer', async () => {
    const store = await place.open('own', ports());
    await store.queue.add([requestOf(1), requestOf(2)]);
    const [first] = await claimAll(store);
    await store.queue.commit([{ ...unit, lease: first!.lease, outcome: retryIn(5_000) }]);
    clock.step(-HOUR_MS);
    await store.queue.add([requestOf(3)]);
    expect((await claimAll(store)).map(({ url }) => url)).toEqual([requestOf(3).url]);
    await clock.advance(5_000);
    expect((await claimAll(store)).map(({ url }) => url)).toEqual([first!.url]);
  });

  test('forward an hour takes no lease away from a worker that is there', async () => {
    const store = await place.open('own', ports());
    await store.queue.add([requestOf(1)]);
    const [leased] = await claimAll(store, 60_000);
    clock.step(HOUR_MS);
    expect(await claimAll(store)).toEqual([]);
    await clock.advance(59_000);
    expect(await claimAll(store)).toEqual([]);
    await clock.advance(1_000);
    expect((await claimAll(store)).map(({ url }) => url)).toEqual([leased!.url]);
  });

  test('back between two starts makes nobody wait longer', async () => {
    const store = await place.open('own', ports());
    await store.queue.add([requestOf(1)]);
    const [first] = await claimAll(store);
    await store.queue.commit([{ ...unit, lease: first!.lease, outcome: retryIn(5_000) }]);
    await place.close();
    clock.step(-HOUR_MS);
    const again = await place.open('own', ports());
    await clock.advance(4_999);
    expect(await claimAll(again)).toEqual([]);
    await clock.advance(1);
    expect(await claimAll(again)).toHaveLength(1);
  });
});

describe('purging', () => {
  test('on start spares what a process uses, and not what a killed one left', async () => {
    const file = join(place.storageDir, 'crawlee/storages.sqlite');
    await mkdir(join(place.storageDir, 'crawlee'));
    const victim = place.start({ kind: 'use-crawlee', file });
    await victim.next();
    const client = new SqliteStorageClient({ file });
    await client.purge();
    expect(await client.dataset('default').get()).toMatchObject({ itemCount: 1 });
    expect((await client.requestQueue('default').listAndLockHead({ lockSecs: 1 })).items).toEqual([]);
    await client.close();
    await victim.kill();
    const next = new SqliteStorageClient({ file });
    expect((await next.requestQueue('default').listAndLockHead({ lockSecs: 1 })).items).toHaveLength(1);
    await next.purge();
    expect(await next.dataset('default').get()).toBeUndefined();
    await next.close();
  });

  test('a run to .previous is refused while a process works on it', async () => {
    const { storageDir } = place;
    const victim = place.start({ kind: 'open-and-wait', storageDir, access: 'join' });
    await victim.next();
    const address = { storageDir, name: 'default', clock: systemClock };
    await expect(moveToPrevious(address)).rejects.toThrow('in use');
    await victim.kill();
    await moveToPrevious(address);
  });
});

test('the event loop is free again as soon as the last store is closed', async () => {
  // A checkpoint thread or a timer that is left would keep a process alive.
  const script = `
    const { openRun } = await import(${JSON.stringify(new URL('../../src/storage/runs.ts', import.meta.url).href)});
    const { systemClock } = await import(${JSON.stringify(new URL('../../src/core/clock.ts', import.meta.url).href)});
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const ports = { clock: systemClock, random: Math.random, log };
    const run = await openRun({ storageDir: process.argv[1], name: 'x', durability: 'normal', ports });
    for (let i = 0; i < 50; i++) await run.store.datasets.push('d', Array(1000).fill(JSON.stringify('x'.repeat(1000))));
    await run.close();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, place.storageDir], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect(() => statSync(join(place.storageDir, 'runs/x/run.sqlite-wal'))).toThrow('ENOENT');
});
