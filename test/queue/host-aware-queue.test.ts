import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { HostAwareQueue } from '../../src/queue/host-aware-request-manager.ts';
import type { Taken } from '../../src/queue/host-scheduler.ts';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import type { NewRequest, Outcome, RunStore, UnitOfWork } from '../../src/storage/store.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';

const LEASE_MS = 60_000;
const DONE: Outcome = { kind: 'handled', result: 'succeeded', reason: null, patch: null };

let folder: string;
let clock: FakeClock;
let store: RunStore;
let queue: HostAwareQueue;
/** When a host may be asked again, or why it is given up; a host that is in neither may go at once. */
let askAt: Map<string, number>;
let appetites: Map<string, number>;
let givenUp: Map<string, string>;
let disallowed: Set<string>;
let events: string[];
let readies: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-queue-'));
  clock = new FakeClock();
  askAt = new Map();
  appetites = new Map();
  givenUp = new Map();
  disallowed = new Set();
  events = [];
  readies = 0;
  const ports = { clock, random: () => 0.5, log: silentLog };
  store = await openSqliteRun({ file: join(folder, 'run.sqlite'), durability: 'normal', ports });
  queue = open();
});
afterEach(async () => {
  await queue.close();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

function open(maxConcurrency = 10): HostAwareQueue {
  const opened = new HostAwareQueue({
    store: store.queue,
    gate: {
      tryAcquire: (host, nowMs) => {
        const atMs = askAt.get(host) ?? 0;
        return atMs > nowMs || givenUp.has(host) ? Math.max(atMs, nowMs + 1) : host;
      },
      givenUp: (host) => givenUp.get(host) ?? null,
      appetite: (host) => appetites.get(host) ?? (askAt.has(host) ? 0 : 1_000),
    },
    robots: {
      check: (url) => (disallowed.has(url) ? { disallowed: 'Disallow: /' } : 'allowed'),
      whenKnown: async () => {},
    },
    clock,
    maxConcurrency,
    leaseMs: LEASE_MS,
    rowsOfSkipped: () => ({ records: [], columns: [] }),
    onSkipped: (request, reason) => events.push(`skipped ${request.url}: ${reason}`),
    onGivenUp: (host, reason) => events.push(`given up ${host}: ${reason}`),
    onFatal: (error) => events.push(`fatal ${error}`),
  });
  opened.onReady = () => {
    readies += 1;
  };
  return opened;
}

function request(host: string, path: number | string = 0): NewRequest {
  const url = `http://${host}/${path}`;
  return { uniqueKey: url, url, host, method: 'GET', label: null, data: null };
}

const requests = (host: string, count: number): NewRequest[] =>
  Array.from({ length: count }, (_, index) => request(host, index));

/** Takes one, after letting a claim that is needed come in. */
async function take(): Promise<Taken | null> {
  const taken = queue.take();
  if (taken !== null) return taken;
  await settle();
  return queue.take();
}

async function settleAs(
  { request: { lease } }: Taken,
  outcome: Outcome,
  more: Partial<UnitOfWork> = {},
): Promise<void> {
  const done = queue.settle({ lease, outcome, records: [], requests: [], values: [], columns: [], ...more });
  await clock.advance(5);
  await done;
}

const retryIn = (delayMs: number): Outcome => ({
  kind: 'retry',
  notBeforeMs: clock.wallMs() + delayMs,
  patch: null,
  forefront: false,
});

/** Asked as the crawl does it: whenever something may have changed. */
async function isFinished(): Promise<boolean> {
  queue.take();
  await settle();
  return queue.isFinished();
}

describe('the end', () => {
  test('is found at once when there is nothing', async () => {
    expect(queue.isFinished()).toBe(false);
    expect(await isFinished()).toBe(true);
  });

  test('does not come while a request is under way, nor before its outcome is durable', async () => {
    await queue.add([request('a.test')]);
    const taken = await take();
    expect(await isFinished()).toBe(false);
    const done = queue.settle({
      lease: taken!.request.lease,
      outcome: DONE,
      records: [],
      requests: [],
      values: [],
      columns: [],
    });
    expect(await isFinished()).toBe(false);
    await clock.advance(5);
    await done;
    expect(await isFinished()).toBe(true);
  });

  test('waits for a delayed retry that is the last request, and wakes exactly when it is due', async () => {
    await queue.add([request('a.test')]);
    await settleAs((await take())!, retryIn(10_000));
    expect(await isFinished()).toBe(false);
    for (let passedMs = 0; passedMs < 9_900; passedMs += 100) {
      await clock.advance(100);
      expect(await take()).toBeNull();
      expect(queue.isFinished()).toBe(false);
    }
    readies = 0;
    await clock.advance(94);
    expect(await take()).toBeNull();
    await clock.advance(1);
    expect(readies).toBeGreaterThan(0);
    const again = await take();
    expect(again?.request.claims).toBe(2);
    await settleAs(again!, DONE);
    expect(await isFinished()).toBe(true);
  });

  test('waits for a source that is still open', async () => {
    const close = queue.openSource();
    expect(await isFinished()).toBe(false);
    readies = 0;
    close();
    close();
    expect(readies).toBe(1);
    expect(await isFinished()).toBe(true);
  });

  test('comes though requests of a host that was given up are pending, and they stay pending', async () => {
    givenUp.set('dead.test', 'no progress for 900 s');
    await queue.add([...requests('dead.test', 5), request('a.test')]);
    const taken = await take();
    expect(taken?.request.host).toBe('a.test');
    await settleAs(taken!, DONE);
    expect(await isFinished()).toBe(true);
    expect(events).toEqual(['given up dead.test: no progress for 900 s']);
    expect(await store.queue.counts()).toMatchObject({ succeeded: 1, pending: 5 });
    await queue.add([request('dead.test', 'more')]);
    expect(await take()).toBeNull();
    expect(await isFinished()).toBe(true);
  });

  test('tells once that a host is given up, though what was under way comes back to it', async () => {
    await queue.add(requests('a.test', 2));
    const taken = await take();
    givenUp.set('a.test', 'why');
    expect(await take()).toBeNull();
    queue.putBack(taken!.request);
    expect(await take()).toBeNull();
    await settle();
    expect(events).toEqual(['given up a.test: why']);
    expect(await isFinished()).toBe(true);
    expect((await store.queue.counts()).pending).toBe(2);
  });

  test('comes when everything left is forbidden by robots.txt, and all of it is handled', async () => {
    await queue.add(requests('a.test', 3));
    for (const { url } of requests('a.test', 3)) disallowed.add(url);
    expect(await take()).toBeNull();
    await clock.advance(5);
    expect(await isFinished()).toBe(true);
    expect(events).toHaveLength(3);
    expect(await store.queue.counts()).toMatchObject({ skipped: 3, pending: 0 });
  });
});

describe('what is added', () => {
  test('while all seemed done is taken, and told of', async () => {
    expect(await isFinished()).toBe(true);
    readies = 0;
    await queue.add([request('a.test')]);
    expect(readies).toBeGreaterThan(0);
    expect(queue.isFinished()).toBe(false);
    expect((await take())?.request.url).toBe('http://a.test/0');
  });

  test('during a claim that finds nothing is not missed', async () => {
    queue.take();
    const adding = queue.add([request('a.test')]);
    await adding;
    await settle();
    expect(queue.isFinished()).toBe(false);
    expect(await take()).not.toBeNull();
  });

  test('by a unit of work is taken after it, and the end does not come in between', async () => {
    await queue.add([request('a.test')]);
    const first = (await take())!;
    await settleAs(first, DONE, { requests: [request('a.test', 'next')] });
    expect(queue.isFinished()).toBe(false);
    expect((await take())?.request.url).toBe('http://a.test/next');
  });

  test('twice is handed out once', async () => {
    await queue.add([request('a.test'), request('a.test')]);
    await queue.add([request('a.test')]);
    expect(await take()).not.toBeNull();
    expect(await take()).toBeNull();
  });

  test('to the front goes before what is at hand', async () => {
    await queue.add(requests('a.test', 5));
    expect((await take())?.request.url).toBe('http://a.test/0');
    await queue.add([request('a.test', 'front')], { forefront: true });
    const order = [];
    for (let next = await take(); next !== null; next = await take()) order.push(next.request.url.split('/').at(-1));
    expect(order).toEqual(['front', '1', '2', '3', '4']);
  });

  test('to the front by a unit of work goes before what is at hand, and nothing is lost of several hosts', async () => {
    await queue.add([...requests('a.test', 5), ...requests('b.test', 5)]);
    const first = (await take())!;
    askAt.set('b.test', 1_000);
    expect((await take())?.request.host).toBe('a.test');
    expect((await take())?.request.host).toBe('a.test');
    await settleAs(first, DONE, { requests: [{ ...request('a.test', 'front'), forefront: true }] });
    await settle();
    expect((await take())?.request.url).toBe('http://a.test/front');
    askAt.clear();
    await clock.advance(1_000);
    let left = 0;
    for (let next = await take(); next !== null; next = await take()) left += 1;
    expect(left).toBe(2 + 5);
  });
});

describe('a slow host', () => {
  test('never keeps another from going: of 10 requests for one that must wait, none is handed out', async () => {
    askAt.set('slow.test', 5_000);
    await queue.add([...requests('slow.test', 10), ...requests('fast.test', 10)]);
    const hosts = [];
    for (let next = await take(); next !== null; next = await take()) hosts.push(next.request.host);
    expect(hosts).toEqual(Array(10).fill('fast.test'));
    expect(queue.isFinished()).toBe(false);
  });

  test('is woken for when it may go', async () => {
    askAt.set('slow.test', 5_000);
    await queue.add([request('slow.test')]);
    expect(await take()).toBeNull();
    await clock.advance(4_999);
    expect(await take()).toBeNull();
    readies = 0;
    await clock.advance(1);
    expect(readies).toBeGreaterThan(0);
    expect(await take()).toMatchObject({ politenessMs: 5_000 });
  });

  test('leaves room at hand for others that come later, however much of it waits', async () => {
    askAt.set('slow.test', 60_000);
    await queue.add(requests('slow.test', 5_000));
    expect(await take()).toBeNull();
    await queue.add(requests('fast.test', 10));
    await clock.advance(100);
    expect((await take())?.request.host).toBe('fast.test');
    expect(queue.leased).toBeLessThan(1_000);
  });
});

describe('fairness', () => {
  test('a host of 10,000 does not keep 50 hosts of 5 waiting', async () => {
    await queue.add(requests('big.test', 10_000));
    for (let host = 0; host < 50; host++) await queue.add(requests(`small-${host}.test`, 5));
    const small = new Map<string, number>();
    let taken = 0;
    while ([...small.values()].reduce((sum, count) => sum + count, 0) < 250) {
      const next = (await take())!;
      taken += 1;
      if (next.request.host !== 'big.test') small.set(next.request.host, (small.get(next.request.host) ?? 0) + 1);
      await settleAs(next, DONE);
    }
    expect(small.size).toBe(50);
    // Were the turns perfect, it would be 6 rounds of 51; what was at hand of the big one comes on top.
    expect(taken).toBeLessThan(700);
  });
});

describe('leases', () => {
  test('are renewed as long as the process lives', async () => {
    await queue.add([request('a.test')]);
    const taken = (await take())!;
    for (let minute = 0; minute < 10; minute++) await clock.advance(60_000);
    await settleAs(taken, DONE);
    expect(await store.queue.counts()).toMatchObject({ succeeded: 1, pending: 0 });
  });

  test('are given back on close, untouched, and what is on its way is committed', async () => {
    await queue.add(requests('a.test', 5));
    const [first, second] = [(await take())!, (await take())!];
    void queue.settle({
      lease: first.request.lease,
      outcome: DONE,
      records: [],
      requests: [],
      values: [],
      columns: [],
    });
    await queue.close();
    await queue.close();
    expect(await store.queue.counts()).toMatchObject({ succeeded: 1, pending: 4 });
    queue = open();
    const again = (await take())!;
    expect(again.request).toMatchObject({ url: second.request.url, claims: 1 });
    for (let left = 0; left < 3; left++) expect(await take()).not.toBeNull();
  });

  test('of a closed queue are not renewed, and it hands out nothing', async () => {
    await queue.add(requests('a.test', 5));
    await take();
    await queue.close();
    await clock.advance(LEASE_MS * 2);
    expect(queue.take()).toBeNull();
    expect(events).toEqual([]);
  });
});

describe('a store that refuses', () => {
  test('ends the crawl, be it a renewal or a claim', async () => {
    await queue.add(requests('a.test', 1));
    await take();
    await store.close();
    await clock.advance(LEASE_MS / 3);
    expect(events).toEqual([expect.stringContaining('fatal')]);
    // What afterEach closes is to be there.
    const ports = { clock, random: () => 0.5, log: silentLog };
    store = await openSqliteRun({ file: join(folder, 'run.sqlite'), durability: 'normal', ports });
    queue = open();
    const { claim } = store.queue;
    store.queue.claim = () => Promise.reject(new Error('disk full'));
    queue.take();
    await settle();
    expect(events.at(-1)).toBe('fatal Error: disk full');
    store.queue.claim = claim;
  });
});

describe('a store that is slow', () => {
  test('is seen at it while nothing is at hand, and not while there is something', async () => {
    await queue.add([request('a.example')]);
    expect(queue.storeWaitMs).toBeNull();
    const other = new DatabaseSync(join(folder, 'run.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    expect(queue.take()).toBeNull();
    await settle();
    await clock.advance(300);
    expect(queue.storeWaitMs).toBe(300);
    other.exec('COMMIT');
    other.close();
    await clock.advance(50);
    expect(await take()).not.toBeNull();
    await settle();
    expect(queue.storeWaitMs).toBeNull();
  });
});

describe('what is at hand', () => {
  test('stays bounded for a host that is fast but full, and is filled up as it goes', async () => {
    await queue.add(requests('a.test', 2_000));
    askAt.set('a.test', Number.POSITIVE_INFINITY);
    appetites.set('a.test', 100_000);
    for (let turn = 0; turn < 10; turn++) {
      expect(await take()).toBeNull();
      await clock.advance(100);
    }
    // A batch is 200 with ten slots.
    expect(queue.leased).toBeGreaterThanOrEqual(200);
    expect(queue.leased).toBeLessThanOrEqual(400);
    askAt.clear();
    queue.released('a.test');
    let taken = 0;
    // No time passes: what is at hand is enough, or filled up at once.
    while ((await take()) !== null) taken += 1;
    expect(taken).toBe(2_000);
  });

  test('of hundreds of parked hosts keeps no other host waiting', async () => {
    for (let host = 0; host < 300; host++) {
      askAt.set(`parked-${host}.test`, 3_600_000);
      await queue.add(requests(`parked-${host}.test`, 20));
    }
    for (let turn = 0; turn < 50; turn++) {
      expect(await take()).toBeNull();
      await clock.advance(60);
    }
    expect(queue.leased).toBeLessThanOrEqual(300 * 16);
    await queue.add(requests('free.test', 500));
    let taken = 0;
    while ((await take()) !== null) taken += 1;
    expect(taken).toBe(500);
  });
});
