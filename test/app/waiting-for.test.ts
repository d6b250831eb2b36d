import { expect, test } from 'vitest';
import { type Standstill, waitingFor } from '../../src/app/waiting-for.ts';
import type { KeySnapshot } from '../../src/core/key-snapshot.ts';

const WALL_MS = 1_000_000;
const STILL: Standstill = {
  nowMs: 5_000,
  wallMs: WALL_MS,
  inFlight: 0,
  pending: [
    { host: 'a.example', pending: 20 },
    { host: 'b.example', pending: 5 },
  ],
  leased: 0,
  snapshots: [],
  missingRobots: () => null,
  storeWaitMs: null,
  nextReadyAtMs: null,
};

function parked(host: string, forMs: number): KeySnapshot {
  return {
    key: host,
    host,
    inFlight: 0,
    concurrency: 1,
    requestsPerSecond: null,
    limitRps: null,
    limitSource: null,
    parkedUntilMs: WALL_MS + forMs,
    parkedReason: 'status 429',
    givenUp: null,
    rateLimited: 1,
  };
}

test.each<[string, Partial<Standstill>]>([
  ['a request is under way', { inFlight: 1, nextReadyAtMs: 9_000 }],
  ['nothing is left', { pending: [], nextReadyAtMs: 9_000 }],
  ['something may be sent now', { nextReadyAtMs: 5_000 }],
  ['nothing is known to hold it back', {}],
])('it waits for nothing while %s', (_name, changes) => {
  expect(waitingFor({ ...STILL, ...changes })).toBeNull();
});

test('it waits for retries that are due later, those at hand not counted', () => {
  expect(waitingFor({ ...STILL, nextReadyAtMs: 8_000, leased: 3 })).toEqual({
    kind: 'retries',
    count: 22,
    nextInMs: 3_000,
  });
});

test('it waits for the parked host that may be asked first', () => {
  const snapshots = [parked('a.example', 9_000), parked('b.example', 4_000)];
  expect(waitingFor({ ...STILL, snapshots, nextReadyAtMs: 9_000 })).toEqual({
    kind: 'parked',
    host: 'b.example',
    reason: 'status 429',
    forMs: 4_000,
    others: 1,
  });
});

test('a park that is over holds nobody back', () => {
  expect(waitingFor({ ...STILL, snapshots: [parked('a.example', 0)] })).toBeNull();
});

test('it waits for robots.txt where that of every host is missing, the next try first', () => {
  const missing = { 'a.example': 9_000, 'b.example': 7_000 };
  const missingRobots = (host: string) => ({
    reason: 'it answered 503',
    nextFetchAtMs: missing[host as keyof typeof missing],
  });
  expect(waitingFor({ ...STILL, missingRobots })).toEqual({
    kind: 'robots',
    host: 'b.example',
    reason: 'it answered 503',
    nextInMs: 2_000,
    others: 1,
  });
  const ofOne = (host: string) => (host === 'a.example' ? missingRobots(host) : null);
  expect(waitingFor({ ...STILL, missingRobots: ofOne })).toBeNull();
});

test('it waits for the store when that takes longer than a look should', () => {
  expect(waitingFor({ ...STILL, storeWaitMs: 700 })).toEqual({ kind: 'store', forMs: 700 });
  expect(waitingFor({ ...STILL, storeWaitMs: 400 })).toBeNull();
});
