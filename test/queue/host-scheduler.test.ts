import { beforeEach, describe, expect, test } from 'vitest';
import { HostScheduler } from '../../src/queue/host-scheduler.ts';
import type { LeasedRequest } from '../../src/storage/store.ts';
import { settle } from '../fixtures/fake-clock.ts';
import { leased, leasedFor } from './leased.ts';

const INFINITY = Number.POSITIVE_INFINITY;

let answers: Map<string, string | number>;
let givenUp: Map<string, string>;
let robots: Map<string, 'unknown' | { disallowed: string }>;
let robotsKnown: (() => void)[];
let skipped: { url: string; rule: string }[];
let handedBack: { host: string; reason: string; left: LeasedRequest[] }[];
let excess: LeasedRequest[];
let deferred: { left: LeasedRequest[]; untilMs: number }[];
let wakes: number;
let scheduler: HostScheduler;

beforeEach(() => {
  answers = new Map();
  givenUp = new Map();
  robots = new Map();
  robotsKnown = [];
  skipped = [];
  handedBack = [];
  excess = [];
  deferred = [];
  wakes = 0;
  scheduler = new HostScheduler({
    gate: {
      // A session's answer goes before its host's.
      tryAcquire: (host, _nowMs, sessionId) => answers.get(sessionId ?? host) ?? host,
      givenUp: (host) => givenUp.get(host) ?? null,
      appetite: (host) => (host === 'slow.test' ? 1 : 1_000),
    },
    robots: {
      check: (url) => robots.get(url) ?? 'allowed',
      whenKnown: () => new Promise((resolve) => robotsKnown.push(resolve)),
    },
    onSkip: (request, rule) => skipped.push({ url: request.url, rule }),
    onGivenUp: (host, reason, left) => handedBack.push({ host, reason, left }),
    onExcess: (left) => excess.push(...left),
    onDeferred: (left, untilMs) => deferred.push({ left, untilMs }),
    wake: () => {
      wakes += 1;
    },
  });
});

function takeHosts(nowMs: number, count: number): string[] {
  return Array.from({ length: count }, () => scheduler.take(nowMs)?.request.host ?? '-');
}

test('hosts take turns, however many requests one of them has', () => {
  scheduler.add(
    [...Array(5)].map(() => leased('a.test')),
    0,
  );
  scheduler.add([leased('b.test')], 0);
  expect(takeHosts(0, 4)).toEqual(['a.test', 'b.test', 'a.test', 'a.test']);
});

test('a host that must wait stands aside until its time and holds up no other', () => {
  answers.set('slow.test', 50);
  scheduler.add([leased('slow.test'), leased('fast.test'), leased('fast.test')], 0);
  expect(takeHosts(0, 3)).toEqual(['fast.test', 'fast.test', '-']);
  expect(scheduler.nextDueAtMs).toBe(50);
  answers.delete('slow.test');
  expect(takeHosts(49, 1)).toEqual(['-']);
  expect(takeHosts(50, 1)).toEqual(['slow.test']);
});

test('a full host goes on when one of its requests has ended, and not before', () => {
  answers.set('a.test', INFINITY);
  scheduler.add([leased('a.test')], 0);
  expect(scheduler.take(0)).toBeNull();
  answers.delete('a.test');
  expect(scheduler.take(1_000_000)).toBeNull();
  scheduler.released('a.test', 7);
  expect(scheduler.take(7)?.request.host).toBe('a.test');
});

test('a host that waits for long is asked again when one of its requests has ended: the wait may have been for that', () => {
  answers.set('a.test', 2_000);
  scheduler.add([leased('a.test'), leased('a.test')], 0);
  expect(scheduler.take(0)).toBeNull();
  answers.delete('a.test');
  expect(scheduler.take(100)).toBeNull();
  scheduler.released('a.test', 100);
  expect(scheduler.take(100)?.request.host).toBe('a.test');
});

test('a host that went on before its time and waits anew is not woken by the old time', () => {
  answers.set('a.test', 1_000);
  scheduler.add([leased('a.test')], 0);
  expect(scheduler.take(0)).toBeNull();
  answers.set('a.test', 5_000);
  scheduler.released('a.test', 100);
  expect(scheduler.take(100)).toBeNull();
  answers.delete('a.test');
  expect(scheduler.take(1_000)).toBeNull();
  expect(scheduler.take(4_999)).toBeNull();
  expect(scheduler.take(5_000)?.request.host).toBe('a.test');
  expect(scheduler.nextDueAtMs).toBeNull();
});

test('counts time held back by the governor as politeness, and the rest as waiting for a slot', () => {
  answers.set('a.test', 30);
  scheduler.add([leased('a.test'), leased('a.test')], 0);
  expect(scheduler.take(10)).toBeNull();
  answers.delete('a.test');
  expect(scheduler.take(40)).toMatchObject({ politenessMs: 30, queueMs: 10 });
  expect(scheduler.take(45)).toMatchObject({ politenessMs: 0, queueMs: 5 });
});

test('skips what robots.txt forbids, with its rule, and takes no grant for it', () => {
  robots.set('http://a.test/private', { disallowed: 'Disallow: /private' });
  scheduler.add([leased('a.test', '/private'), leased('a.test', '/public')], 0);
  expect(scheduler.take(0)?.request.url).toBe('http://a.test/public');
  expect(skipped).toEqual([{ url: 'http://a.test/private', rule: 'Disallow: /private' }]);
  expect(scheduler.size).toBe(0);
});

test('waits for an unknown robots.txt once, while others go on, and wakes when it is known', async () => {
  robots.set('http://a.test/', 'unknown');
  scheduler.add([leased('a.test'), leased('b.test')], 0);
  expect(takeHosts(0, 2)).toEqual(['b.test', '-']);
  expect(robotsKnown).toHaveLength(1);
  expect(scheduler.satedHosts(0, 100)).toEqual(new Set(['a.test']));
  robots.clear();
  robotsKnown[0]!();
  await settle();
  expect(wakes).toBe(1);
  expect(scheduler.take(9)).toMatchObject({ politenessMs: 9 });
});

test('hands everything of a host that was given up back, with the reason', () => {
  const requests = [leased('a.test'), leased('a.test')];
  answers.set('a.test', 5_000);
  givenUp.set('a.test', 'no progress for 900 s');
  scheduler.add(requests, 0);
  expect(scheduler.take(0)).toBeNull();
  expect(handedBack).toEqual([{ host: 'a.test', reason: 'no progress for 900 s', left: requests }]);
  expect(scheduler.size).toBe(0);
  expect(scheduler.nextDueAtMs).toBeNull();
});

test('a request that is put back goes first', () => {
  const first = leased('a.test', '/1');
  scheduler.add([first, leased('a.test', '/2')], 0);
  expect(scheduler.take(0)?.request).toBe(first);
  scheduler.putBack(first, 1);
  expect(scheduler.take(1)?.request).toBe(first);
});

test('wants nothing more of a host that has enough at hand', () => {
  scheduler.add(
    [...Array(8)].map(() => leased('slow.test')),
    0,
  );
  scheduler.add(
    [...Array(8)].map(() => leased('fast.test')),
    0,
  );
  expect(scheduler.satedHosts(0, 100)).toEqual(new Set(['slow.test']));
});

test('drains all that is at hand', () => {
  scheduler.add([leased('a.test'), leased('b.test'), leased('a.test')], 0);
  expect(scheduler.drain().map((request) => request.host)).toEqual(['a.test', 'a.test', 'b.test']);
  expect(scheduler.size).toBe(0);
  expect(scheduler.take(0)).toBeNull();
});

test('counts what could go now apart from what waits: for a time, for a place, or for robots.txt', async () => {
  answers.set('timed.test', 50);
  answers.set('full.test', INFINITY);
  robots.set('http://robots.test/', 'unknown');
  scheduler.add(
    ['timed.test', 'full.test', 'robots.test', 'free.test'].flatMap((host) => [leased(host), leased(host)]),
    0,
  );
  expect([scheduler.size, scheduler.available]).toEqual([8, 8]);
  expect(takeHosts(0, 3)).toEqual(['free.test', 'free.test', '-']);
  expect([scheduler.size, scheduler.available]).toEqual([6, 0]);
  scheduler.putBack(leased('full.test'), 0);
  expect([scheduler.size, scheduler.available]).toEqual([7, 0]);
  answers.clear();
  robots.clear();
  scheduler.released('full.test', 1);
  expect(scheduler.available).toBe(3);
  robotsKnown[0]!();
  await settle();
  expect(scheduler.available).toBe(5);
  expect(takeHosts(50, 7)).not.toContain('-');
  expect([scheduler.size, scheduler.available]).toEqual([0, 0]);
});

test('keeps eight of a host that has to wait for long, and gives the rest back', () => {
  const requests = [...Array(20)].map((_, index) => leased('a.test', `/${index}`));
  answers.set('a.test', 2_001);
  scheduler.add(requests, 0);
  expect(scheduler.take(0)).toBeNull();
  expect(excess).toEqual(requests.slice(8));
  expect([scheduler.size, scheduler.available]).toEqual([8, 0]);
  answers.clear();
  expect(scheduler.take(2_001)?.request).toBe(requests[0]);
  expect(scheduler.satedHosts(2_001, 100)).toEqual(new Set());
});

describe('requests that only one session may send', () => {
  const takePaths = (nowMs: number, count: number): string[] =>
    Array.from({ length: count }, () => new URL(scheduler.take(nowMs)?.request.url ?? 'x://-/-').pathname);

  test('wait for it, in order, while others of their host go on', () => {
    answers.set('alice', 500);
    scheduler.add(
      [
        leasedFor('alice', 'a.test', '/alice/1'),
        leasedFor('alice', 'a.test', '/alice/2'),
        leasedFor('bob', 'a.test', '/bob'),
        leased('a.test', '/any'),
      ],
      0,
    );
    expect(takePaths(0, 3)).toEqual(['/bob', '/any', '/-']);
    expect([scheduler.size, scheduler.available, scheduler.nextDueAtMs]).toEqual([2, 0, 500]);
    answers.clear();
    expect(takePaths(500, 3)).toEqual(['/alice/1', '/alice/2', '/-']);
    expect([scheduler.size, scheduler.activeHosts]).toEqual([0, 0]);
  });

  test('go on, each of them, when a request of their host has ended', () => {
    for (const session of ['alice', 'bob']) answers.set(session, INFINITY);
    scheduler.add([leasedFor('alice', 'a.test', '/alice'), leasedFor('bob', 'a.test', '/bob')], 0);
    expect(takePaths(0, 1)).toEqual(['/-']);
    answers.delete('bob');
    scheduler.released('a.test', 1);
    expect(takePaths(1, 2)).toEqual(['/bob', '/-']);
    answers.delete('alice');
    scheduler.released('a.test', 2);
    expect(takePaths(2, 1)).toEqual(['/alice']);
  });

  test('are deferred to the store where its wait is long, but for eight, so that others are fetched meanwhile', () => {
    const bound = [...Array(20)].map((_, index) => leasedFor('alice', 'a.test', `/${index}`));
    answers.set('alice', 30_000);
    scheduler.add(bound.slice(0, 12), 0);
    expect(scheduler.take(0)).toBeNull();
    expect(deferred).toEqual([{ left: bound.slice(8, 12), untilMs: 30_000 }]);
    expect(scheduler.satedHosts(0, 4)).toEqual(new Set());
    scheduler.add(bound.slice(12), 10);
    expect(deferred.flatMap(({ left }) => left)).toEqual(bound.slice(8));
    expect([scheduler.size, scheduler.available]).toEqual([8, 0]);
    expect(excess).toEqual([]);
    answers.clear();
    expect(takePaths(30_000, 9)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5', '/6', '/7', '/-']);
  });

  test('count as at hand while its wait is short: no more of the host is wanted than it can take', () => {
    for (const session of ['alice', 'bob']) answers.set(session, 100);
    const requests = ['alice', 'bob'].flatMap((session) => [...Array(4)].map(() => leasedFor(session, 'slow.test')));
    scheduler.add(requests, 0);
    expect(scheduler.take(0)).toBeNull();
    expect(scheduler.satedHosts(0, 100)).toEqual(new Set(['slow.test']));
    expect(scheduler.drain()).toEqual(requests);
  });
});
