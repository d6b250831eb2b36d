import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { markKeyOf, Suspects, suspicionOf, timesLost } from '../../src/crawl/poison.ts';
import { readRun } from '../../src/storage/runs.ts';
import type { LeasedRequest } from '../../src/storage/store.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';
import { leased } from '../queue/leased.ts';
import { type EchoServer, startEcho } from './support/echo-server.ts';
import { datasetOf, MapValues } from './support/stores.ts';

// Processes that import Crawlee take seconds to start on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

describe('suspicion', () => {
  test('is poison after three losses of work that had begun, twice of it alone', () => {
    const isPoison = (startedBefore: number): boolean => suspicionOf({ startedBefore }).isPoison;
    expect([isPoison(0), isPoison(1), isPoison(2), isPoison(3), isPoison(4)]).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
  });

  test('is not one that was only at hand, however often its process died', () => {
    expect(suspicionOf({ startedBefore: 0 })).toEqual({ isPoison: false, mustBeAlone: false });
  });

  test('counts losses, not retries and waits', () => {
    expect(timesLost({ claims: 40 }, 39)).toBe(0);
    expect(timesLost({ claims: 40 }, 36)).toBe(3);
  });
});

describe('Suspects', () => {
  const claimed = (request: LeasedRequest, claims: number): LeasedRequest => ({ ...request, claims });

  test('finds the one that kills its process', async () => {
    const values = new MapValues();
    const request = leased('a.test');
    // Each process has a Suspects of its own; all die while the request is worked on.
    expect(await new Suspects(values).begin(claimed(request, 2))).not.toBeNull();
    expect(await new Suspects(values).begin(claimed(request, 3))).not.toBeNull();
    expect(await new Suspects(values).begin(claimed(request, 4))).not.toBeNull();
    expect(await new Suspects(values).begin(claimed(request, 5))).toBeNull();
  });

  test('does not count the same claim twice: the server had asked for less', async () => {
    const values = new MapValues();
    const request = claimed(leased('a.test'), 2);
    for (let again = 0; again < 5; again++) await new Suspects(values).begin(request);
    await expect(values.get(markKeyOf(request))).resolves.toEqual({ claims: 2, started: 1 });
  });

  test('lets those that had begun when a process died begin one at a time, and no others wait', async () => {
    const values = new MapValues();
    const [first, second, fresh] = [leased('a.test'), leased('b.test'), leased('c.test')];
    for (const request of [first, second]) await new Suspects(values).begin(claimed(request, 2));
    const suspects = new Suspects(values);
    const end = await suspects.begin(claimed(first, 3));
    let hasBegun = false;
    const waiting = suspects.begin(claimed(second, 3)).then(() => {
      hasBegun = true;
    });
    expect(await suspects.begin(claimed(fresh, 2))).not.toBeNull();
    await settle();
    expect(hasBegun).toBe(false);
    // It has no mark yet for this claim: a death now would not be held against it.
    expect(await values.get(markKeyOf(second))).toEqual({ claims: 2, started: 1 });
    end?.();
    await waiting;
  });
});

describe('a process that dies', () => {
  let folder: string;
  let server: EchoServer;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-killed-'));
    server = await startEcho(({ path }) => (path === '/first' ? undefined : { afterMs: 20 }));
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const runs = { storageDir: '', name: 'killed', durability: 'normal' as const };
  const open = async () => {
    const ports = { clock: new FakeClock(Date.now()), random: Math.random, log: silentLog };
    const store = await readRun({ ...runs, storageDir: folder, ports });
    return store!;
  };

  test('inside a handler leaves nothing of it: no record, no request, no state', async () => {
    expect(await crawl(folder, server.url, ['kill-once'])).toBe('SIGKILL');
    const store = await open();
    expect(await datasetOf(store, 'default')).toEqual([{ path: '/first' }]);
    expect(await store.values.get('CRAWLEE_STATE')).toEqual({ handled: 1 });
    expect((await store.queue.counts()).pending).toBe(1);
    await store.close();
    expect(await crawl(folder, server.url, [])).toBe(0);
    const after = await open();
    const records = await datasetOf(after, 'default');
    expect(records.map(({ path }) => path).sort()).toEqual(['/found', '/first', '/kill'].sort());
    await after.close();
  });

  test('each time by the same request ends with that one as POISON, and all others done', async () => {
    const ends: (number | string)[] = [];
    while (ends.at(-1) !== 0 && ends.length < 10) ends.push(await crawl(folder, server.url, ['kill-always', 'many']));
    expect(ends).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL', 'SIGKILL', 0]);
    const store = await open();
    const failures = await datasetOf(store, 'failures');
    expect(failures.map(({ url, code }) => [url, code])).toEqual([[`${server.url}/kill`, 'POISON']]);
    const paths = (await datasetOf(store, 'default')).map(({ path }) => path);
    expect(new Set(paths).size).toBe(301);
    expect(paths).toHaveLength(301);
    expect(await store.values.entries('suspect:')).toEqual([]);
    await store.close();
  });
});

/** Runs support/killed-crawl.ts to its end. @returns its exit code, or the signal that ended it */
async function crawl(folder: string, url: string, flags: string[]): Promise<number | string> {
  const script = new URL('support/killed-crawl.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, folder, url, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal ?? code!;
}
