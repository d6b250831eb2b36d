import { beforeEach, expect, test } from 'vitest';
import { GrantLine } from '../../src/crawl/grant-line.ts';
import type { SendGate } from '../../src/crawl/parts.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';

let clock: FakeClock;
/** Places free now; askAgainAtMs while there is none. */
let free: number;
let askAgainAtMs: number;
let asked: number;
let givenUp: string | null;
let line: GrantLine;

beforeEach(() => {
  clock = new FakeClock();
  free = 0;
  askAgainAtMs = Number.POSITIVE_INFINITY;
  asked = 0;
  givenUp = null;
  const gate: Pick<SendGate, 'tryAcquire' | 'givenUp'> = {
    tryAcquire: (host) => {
      asked += 1;
      if (free === 0) return askAgainAtMs;
      free -= 1;
      return host;
    },
    givenUp: () => givenUp,
  };
  line = new GrantLine({ gate: gate as SendGate, clock });
});

function waitAs(name: string, order: string[], signal?: AbortSignal): void {
  line.wait('a.test', signal).then(
    () => order.push(name),
    (error: Error) => order.push(`${name}: ${error.message}`),
  );
}

test('grants at once while there is a place and nobody waits', () => {
  free = 1;
  expect(line.tryNow('a.test')).toBe('a.test');
  expect(line.tryNow('a.test')).toBeNull();
});

test('serves those who wait in order, when a request has ended, and lets nobody pass', async () => {
  const order: string[] = [];
  waitAs('first', order);
  waitAs('second', order);
  free = 1;
  expect(line.tryNow('a.test')).toBeNull();
  line.released('other.test');
  await settle();
  expect(order).toEqual([]);
  line.released('a.test');
  await settle();
  expect(order).toEqual(['first']);
  free = 2;
  line.released('a.test');
  await settle();
  expect(order).toEqual(['first', 'second']);
  expect(line.tryNow('a.test')).toBe('a.test');
});

test('asks again when it was told to, and at the latest after 250 ms, once for all who wait', async () => {
  askAgainAtMs = 100;
  const order: string[] = [];
  for (let count = 0; count < 1_000; count++) waitAs(String(count), order);
  asked = 0;
  askAgainAtMs = Number.POSITIVE_INFINITY;
  await clock.advance(99);
  expect(asked).toBe(0);
  await clock.advance(1);
  expect(asked).toBe(1);
  await clock.advance(250);
  expect(asked).toBe(2);
  free = 3;
  await clock.advance(250);
  expect(order).toEqual(['0', '1', '2']);
});

test('refuses all who wait when the host is given up', async () => {
  const order: string[] = [];
  waitAs('first', order);
  waitAs('second', order);
  givenUp = 'no progress for 900 s';
  await clock.advance(250);
  expect(order).toEqual([
    'first: a.test was given up: no progress for 900 s',
    'second: a.test was given up: no progress for 900 s',
  ]);
  givenUp = null;
  free = 1;
  expect(line.tryNow('a.test')).toBe('a.test');
});

test('takes no place for one that was aborted', async () => {
  const order: string[] = [];
  const controller = new AbortController();
  waitAs('first', order, controller.signal);
  waitAs('second', order);
  controller.abort(new Error('stopped'));
  waitAs('third', order, controller.signal);
  free = 1;
  line.released('a.test');
  await settle();
  expect(order.sort()).toEqual(['first: stopped', 'second', 'third: stopped']);
  expect(free).toBe(0);
});
