import { expect, test } from 'vitest';
import { StatedPace } from '../../../src/governor/law/stated-pace.ts';
import type { StatedLimit } from '../../../src/governor/signals/stated-limit.ts';

function limit(read: Partial<StatedLimit>): StatedLimit {
  return { name: 'default', unit: 'requests', limit: null, remaining: null, windowMs: null, resetMs: null, ...read };
}

test('paces at 0.97 of a limit whose window is told', () => {
  const pace = new StatedPace();
  expect(pace.observe([limit({ limit: 200, windowMs: 10_000, remaining: 199 })], { nowMs: 0, inFlight: 1 })).toBe(true);
  expect(pace.requestsPerSecond).toBeCloseTo(19.4);
  expect(pace.limitRps).toBe(20);
});

test('the lowest of several limits binds', () => {
  const pace = new StatedPace();
  const limits = [limit({ name: 'a', limit: 10, windowMs: 1000 }), limit({ name: 'b', limit: 60, windowMs: 60_000 })];
  pace.observe(limits, { nowMs: 0, inFlight: 1 });
  expect(pace.requestsPerSecond).toBeCloseTo(0.97);
});

test('of an hour’s budget nine tenths may go freely, the rest evenly', () => {
  const pace = new StatedPace();
  const hour = { limit: 5000, windowMs: 3_600_000 };
  pace.observe([limit({ ...hour, remaining: 4999, resetMs: 3_000_000 })], { nowMs: 0, inFlight: 1 });
  expect(pace.requestsPerSecond).toBeNull();
  pace.observe([limit({ ...hour, remaining: 400, resetMs: 2_000_000 })], { nowMs: 1_000_000, inFlight: 1 });
  expect(pace.requestsPerSecond).toBeCloseTo(0.194);
});

test('never paces at what remains alone: the draft’s example of 10,000 left with 10 s to go', () => {
  const pace = new StatedPace();
  const reading = { limit: 10_000, windowMs: 1_000_000, remaining: 900, resetMs: 1_000_000 };
  pace.observe([limit(reading)], { nowMs: 0, inFlight: 1 });
  expect(pace.requestsPerSecond).toBeCloseTo(0.97 * 0.9 * 1);
});

test('waits for the reset when nothing is left of a long window, those on their way counted', () => {
  const pace = new StatedPace();
  const reading = limit({ limit: 5000, windowMs: 3_600_000, remaining: 3, resetMs: 60_000 });
  pace.observe([reading], { nowMs: 1000, inFlight: 3 });
  expect(pace.blockedUntilMs).toBe(0);
  pace.observe([reading], { nowMs: 1000, inFlight: 4 });
  expect(pace.blockedUntilMs).toBe(61_000);
});

test('headers that tell of requests left while the server refuses lose their authority', () => {
  const pace = new StatedPace();
  const reading = limit({ limit: 100, windowMs: 1000, remaining: 90 });
  pace.observe([reading], { nowMs: 0, inFlight: 1 });
  expect(pace.refused([reading], { nowMs: 0, inFlight: 1 })).toBe(false);
  expect(pace.isTrusted).toBe(true);
  expect(pace.refused([reading], { nowMs: 2000, inFlight: 1 })).toBe(false);
  expect(pace.isTrusted).toBe(false);
  expect(pace.observe([reading], { nowMs: 3000, inFlight: 1 })).toBe(false);
  expect(pace.requestsPerSecond).toBeNull();
});

test('a refusal that the headers explain only lowers the pace a little', () => {
  const pace = new StatedPace();
  const reading = limit({ limit: 100, windowMs: 1000, remaining: 0, resetMs: 500 });
  pace.observe([reading], { nowMs: 0, inFlight: 1 });
  expect(pace.refused([reading], { nowMs: 0, inFlight: 1 })).toBe(true);
  pace.observe([limit({ limit: 100, windowMs: 1000, remaining: 99 })], { nowMs: 1000, inFlight: 1 });
  expect(pace.requestsPerSecond).toBeCloseTo(97 * 0.98);
});

test('headers that say "nothing left" after every reset lose their authority', () => {
  const pace = new StatedPace();
  const reading = limit({ limit: 100, remaining: 0, resetMs: 1000 });
  for (let nowMs = 0; nowMs < 5_000; nowMs += 1100) pace.observe([reading], { nowMs, inFlight: 1 });
  expect(pace.isTrusted).toBe(false);
});

test('forgets a limit that is not stated any more', () => {
  const pace = new StatedPace();
  pace.observe([limit({ limit: 50, remaining: 1, resetMs: 7000 })], { nowMs: 0, inFlight: 1 });
  expect(pace.requestsPerSecond).toBeCloseTo(0.97 / 7);
  pace.observe([], { nowMs: 14_000, inFlight: 1 });
  expect(pace.requestsPerSecond).not.toBeNull();
  pace.observe([], { nowMs: 14_001, inFlight: 1 });
  expect(pace.requestsPerSecond).toBeNull();
});

test('takes a stated number of requests at once for the cap', () => {
  const pace = new StatedPace();
  pace.observe([limit({ unit: 'concurrent', limit: 4 })], { nowMs: 0, inFlight: 1 });
  expect(pace.concurrency).toBe(4);
  expect(pace.requestsPerSecond).toBeNull();
});

test('tells how much lateness a window bears: what is left free of it, less one send', () => {
  const pace = new StatedPace();
  pace.observe([limit({ limit: 1000, windowMs: 10_000 })], { nowMs: 0, inFlight: 1 });
  expect(pace.bearsLateMs).toBe(250);
  const short = new StatedPace();
  short.observe([limit({ limit: 100, windowMs: 1000 })], { nowMs: 0, inFlight: 1 });
  expect(short.bearsLateMs).toBeCloseTo(30.93 - 10.31, 1);
});
