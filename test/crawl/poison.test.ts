import { type SpawnOptions, spawn } from 'node:child_process';
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
    for (const claims of [2, 3, 4])
      expect(await new Suspects(values).begin(claimed(request, claims))).toBeInstanceOf(Function);
    expect(await new Suspects(values).begin(claimed(request, 5))).toBe('poison');
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
    const end = (await suspects.begin(claimed(first, 3))) as () => void;
    let hasBegun = false;
    const waiting = suspects.begin(claimed(second, 3)).then(() => {
      hasBegun = true;
    });
    expect(await suspects.begin(claimed(fresh, 2))).toBeInstanceOf(Function);
    await settle();
    expect(hasBegun).toBe(false);
    // It has no mark yet for this claim: a death now would not be held against it.
    expect(await values.get(markKeyOf(second))).toEqual({ claims: 2, started: 1 });
    end();
    await waiting;
  });

  test('lets who has died with a process go after all others, and the least suspect first', async () => {
    const values = new MapValues();
    const [worse, bad] = [leased('a.test'), leased('b.test')];
    for (const claims of [2, 3]) await new Suspects(values).begin(claimed(worse, claims));
    await new Suspects(values).begin(claimed(bad, 3));
    const suspects = new Suspects(values);
    expect(await suspects.begin(claimed(bad, 4), 7)).toBe('later');
    expect(await suspects.begin(claimed(worse, 4), 7)).toBe('later');
    // Nothing else is at hand any more.
    expect(await suspects.begin(claimed(worse, 5), 0)).toBe('later');
    const end = (await suspects.begin(claimed(bad, 5), 0)) as () => void;
    expect(end).toBeInstanceOf(Function);
    // The other one at hand is the one that is alone now: it is next.
    const next = suspects.begin(claimed(worse, 6), 1);
    await settle();
    end();
    expect(await next).toBeInstanceOf(Function);
    // Having waited is no death.
    expect(await values.get(markKeyOf(worse))).toEqual({ claims: 6, started: 3 });
  });

  test('lets those that are left go, when all that is at hand has died with a process', async () => {
    const values = new MapValues();
    const requests = ['a.test', 'b.test', 'c.test', 'd.test'].map((host) => leased(host));
    for (const request of requests) await new Suspects(values).begin(claimed(request, 2));
    const suspects = new Suspects(values);
    const others = requests.length - 1;
    const first = await Promise.all(requests.map((request) => suspects.begin(claimed(request, 3), others)));
    expect(first.filter((begun) => begun === 'later').length).toBeLessThan(requests.length);
    for (const begun of first) if (typeof begun === 'function') begun();
    let left = requests.filter((_, index) => first[index] === 'later');
    for (let claims = 4; left.length > 0; claims++) {
      const later: LeasedRequest[] = [];
      for (const request of left) {
        const begun = await suspects.begin(claimed(request, claims), left.length - 1);
        if (begun === 'later') later.push(request);
        else (begun as () => void)();
      }
      expect(claims).toBeLessThan(4 + requests.length);
      left = later;
    }
  });

  test('does not keep it waiting for ever where others at hand cannot go', async () => {
    const values = new MapValues();
    const request = leased('a.test');
    await new Suspects(values).begin(claimed(request, 2));
    const suspects = new Suspects(values);
    let claims = 3;
    while ((await suspects.begin(claimed(request, claims), 50)) === 'later') claims += 1;
    expect(claims).toBe(3 + 60);
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

  // The first death is held against nobody: until then nothing was watched. Out of memory, V8 aborts.
  test('each time by the same request, in whatever way, ends with that one as POISON, and all others done', async () => {
    const ways = ['kill', 'exit', 'memory', 'exit', 'kill', 'kill'];
    const ends: (number | string)[] = [];
    for (const way of ways)
      if (ends.at(-1) !== 0) ends.push(await crawl(folder, server.url, [`${way}-always`, 'many']));
    expect(ends).toEqual(['SIGKILL', 7, 'SIGABRT', 7, 0]);
    const store = await open();
    const failures = await datasetOf(store, 'failures');
    expect(failures.map(({ url, code }) => [url, code])).toEqual([[`${server.url}/kill`, 'POISON']]);
    const paths = (await datasetOf(store, 'default')).map(({ path }) => path);
    expect(new Set(paths).size).toBe(301);
    expect(paths).toHaveLength(301);
    expect(await store.values.entries('suspect:')).toEqual([]);
    await store.close();
  });

  test('by somebody else, five times, each time as soon as its first request is out, fails nobody', async () => {
    for (let kill = 0; kill < 5; kill++) {
      const before = server.seen.length;
      const { child, exited } = spawnCrawl(folder, server.url, ['many']);
      await expect.poll(() => server.seen.length, { timeout: 60_000, interval: 2 }).toBeGreaterThan(before);
      child.kill('SIGKILL');
      await exited;
    }
    expect(await crawl(folder, server.url, ['many'])).toBe(0);
    const store = await open();
    expect(await store.queue.counts()).toMatchObject({ total: 302, succeeded: 302, failed: 0, pending: 0 });
    expect(await store.values.entries('suspect:')).toEqual([]);
    await store.close();
  });
});

/** Runs support/killed-crawl.ts to its end. @returns its exit code, or the signal that ended it */
async function crawl(folder: string, url: string, flags: string[]): Promise<number | string> {
  const [code, signal] = await spawnCrawl(folder, url, flags).exited;
  return signal ?? code!;
}

function spawnCrawl(folder: string, url: string, flags: string[]) {
  const script = new URL('support/killed-crawl.ts', import.meta.url).pathname;
  // In its own folder, should it leave a core file. V8 tells at length of memory it does not get.
  const options = { cwd: folder, stdio: ['ignore', 'ignore', flags.includes('memory-always') ? 'ignore' : 'inherit'] };
  const argv = ['--max-old-space-size=64', script, folder, url, ...flags];
  const child = spawn(process.execPath, argv, options as SpawnOptions);
  return { child, exited: once(child, 'exit') as Promise<[number | null, string | null]> };
}
