import { expect, test } from 'vitest';
import { Climb } from '../../../src/governor/law/climb.ts';
import { type CutFacts, cutAfter } from '../../../src/governor/law/cut.ts';
import { Goodput } from '../../../src/governor/law/goodput.ts';
import { Latency } from '../../../src/governor/law/latency.ts';
import { Outstanding } from '../../../src/governor/law/outstanding.ts';
import { Refill } from '../../../src/governor/law/refill.ts';
import { Slots } from '../../../src/governor/law/slots.ts';
import { capAtKnee, growthPerAnswer, isKnee, startIntervalMs } from '../../../src/governor/law/slow-start.ts';

const facts: CutFacts = {
  goodput: 100,
  openMs: 10_000,
  blockedMs: 1000,
  refusedForMs: 0,
  accepted: 900,
  acceptedShare: 0.75,
  isFirst: false,
  isWindow: false,
  headroom: 0.8,
};

test('a paced key that is refused goes on at headroom of what it reached', () => {
  expect(cutAfter(facts)).toEqual({ requestsPerSecond: 80, next: 'hold', kind: 'over', failedRps: 100 });
});

test('after the first refusal the share that was let through tells the rate', () => {
  const cut = cutAfter({ ...facts, isFirst: true });
  expect(cut).toEqual({ requestsPerSecond: 60, next: 'search', kind: 'first', failedRps: 100 });
});

test('after a full window the mean of the whole cycle is the rate', () => {
  const cut = cutAfter({
    ...facts,
    openMs: 3000,
    blockedMs: 7000,
    refusedForMs: 6000,
    accepted: 900,
    isWindow: true,
    goodput: 300,
  });
  expect(cut).toEqual({ requestsPerSecond: 81, next: 'hold', kind: 'window', failedRps: 100 });
});

test('a refusal soon after the last wait starts a search from below', () => {
  const cut = cutAfter({ ...facts, openMs: 1000, accepted: 60 });
  expect(cut).toEqual({ requestsPerSecond: 50, next: 'search', kind: 'short', failedRps: 100 });
});

const level = { requestsPerSecond: 100, surelyRps: 100, isFirst: false, isTinyBurst: false };

/** @param servedShare of the pace that was answered */
function advanced(climb: Climb, fromMs: number, toMs: number, servedShare = 1): void {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 50)
    climb.advance(nowMs, () => servedShare * climb.requestsPerSecond);
}

test('searches up to headroom of the level that failed, then holds', () => {
  const climb = new Climb(0.8);
  climb.failedAt(level);
  climb.start(0, 50, 'search');
  advanced(climb, 0, 1000);
  expect(climb.requestsPerSecond).toBeCloseTo(50 * Math.exp(0.16), 3);
  advanced(climb, 1050, 4000);
  expect(climb.requestsPerSecond).toBe(80);
  expect(climb.phase).toBe('hold');
});

test('beyond what is sure the search is slower', () => {
  const climb = new Climb(0.8);
  climb.failedAt({ ...level, surelyRps: 60 });
  climb.start(0, 50, 'search');
  advanced(climb, 0, 1000);
  expect(climb.requestsPerSecond).toBeCloseTo(50 * Math.exp(0.05), 3);
});

test('holds for 5 s, then creeps to nine tenths of the level, and looks beyond it after 30 s', () => {
  const climb = new Climb(0.8);
  climb.failedAt(level);
  climb.start(0, 80, 'hold');
  advanced(climb, 0, 5000);
  expect(climb.requestsPerSecond).toBe(80);
  advanced(climb, 5050, 29_950);
  expect(climb.requestsPerSecond).toBeCloseTo(90, 6);
  expect(climb.phase).toBe('hold');
  advanced(climb, 30_000, 31_050);
  expect(climb.phase).toBe('probe');
  expect(climb.requestsPerSecond).toBeCloseTo(90 * Math.exp(0.03), 2);
});

test('waits twice as long each time the same level fails, and 30 s again at another one', () => {
  const climb = new Climb(0.8);
  const quiet = [100, 95, 105, 150].map((requestsPerSecond) => {
    climb.failedAt({ ...level, requestsPerSecond });
    return climb.quietMs;
  });
  expect(quiet).toEqual([30_000, 60_000, 120_000, 30_000]);
});

test('a level that fell far is tried again after 10 s, and returns faster to what was once sustained', () => {
  const climb = new Climb(0.8);
  climb.failedAt(level);
  climb.failedAt({ ...level, requestsPerSecond: 50, surelyRps: 50 });
  expect(climb.quietMs).toBe(10_000);
  climb.start(0, 51, 'probe');
  advanced(climb, 0, 1000);
  expect(climb.requestsPerSecond).toBeCloseTo(51 * Math.exp(0.1), 3);
});

test('where a level was forgotten, goes up by a tenth a second', () => {
  const climb = new Climb(0.8);
  climb.failedAt(level);
  climb.forget();
  climb.start(0, 80, 'probe');
  advanced(climb, 0, 1000);
  expect(climb.requestsPerSecond).toBeCloseTo(80 * Math.exp(0.1), 3);
});

test('says in which phase it is', () => {
  const climb = new Climb(0.8);
  climb.failedAt(level);
  climb.start(0, 80, 'hold');
  expect(climb.describe()).toBe('holding 80/s, below the 100/s that was refused');
  advanced(climb, 0, 31_000);
  expect(climb.describe()).toBe('nothing was refused for 30 s: looking upward from 92.6/s, gently');
});

test('does not look beyond a pace that something else holds back', () => {
  const climb = new Climb(0.8);
  climb.failedAt(level);
  climb.start(0, 90, 'probe');
  advanced(climb, 0, 5000, 0.6);
  expect(climb.requestsPerSecond).toBe(90);
  advanced(climb, 5050, 6050, 0.7);
  expect(climb.requestsPerSecond).toBeCloseTo(90 * Math.exp(0.0315), 2);
});

test('below 5 requests/s, where a second is too short to tell, it looks on', () => {
  const climb = new Climb(0.8);
  climb.failedAt({ ...level, requestsPerSecond: 4, surelyRps: 4 });
  climb.start(0, 3, 'probe');
  climb.advance(500, () => 0);
  expect(climb.requestsPerSecond).toBeCloseTo(3 * Math.exp(0.03 * 0.5), 6);
});

test('time in which nobody asked to send teaches nothing', () => {
  const climb = new Climb(0.8);
  climb.failedAt(level);
  climb.start(0, 50, 'search');
  climb.advance(60_000, () => 50);
  expect(climb.requestsPerSecond).toBeCloseTo(50 * Math.exp(0.016), 6);
});

test('a growing cap stays small while the budget may be a small one', () => {
  expect(growthPerAnswer(2, 30, 1)).toBe(0.04);
  expect(growthPerAnswer(5, 30, 100)).toBe(0);
  expect(growthPerAnswer(5, 30, 183)).toBe(0.024);
  expect(growthPerAnswer(30, 30, 1500)).toBe(0.1);
  // On a slow host by time rather than by round trips; late, when much is on its way, without haste.
  expect(growthPerAnswer(10, 300, 1500)).toBeCloseTo(0.024 * 3, 6);
  expect(growthPerAnswer(30, 300, 1500)).toBeCloseTo(0.1 / Math.sqrt(3), 6);
});

test('a growing cap is spread over a round trip', () => {
  expect(startIntervalMs(10, 115)).toBeCloseTo(10);
});

test('a knee is a doubling that only made the server slower', () => {
  const knee = { goodput: 110, goodputBefore: 100, latencyMs: 70, leastLatencyMs: 30 };
  expect(isKnee(knee)).toBe(true);
  expect(isKnee({ ...knee, goodput: 130 })).toBe(false);
  expect(isKnee({ ...knee, latencyMs: 50 })).toBe(false);
  expect([capAtKnee(100, 30), capAtKnee(20, 30), capAtKnee(1, 30)]).toEqual([7, 1, 1]);
});

test('counts goodput over the span asked for, or over what has passed', () => {
  const goodput = new Goodput();
  goodput.reset(0);
  for (let nowMs = 5; nowMs < 2000; nowMs += 10) goodput.add(nowMs);
  expect(goodput.perSecond(2000, 1000)).toBeCloseTo(100, 0);
  goodput.reset(2000);
  for (let nowMs = 2005; nowMs < 2100; nowMs += 5) goodput.add(nowMs);
  expect(goodput.perSecond(2100, 1000)).toBeCloseTo(190, 0);
  expect(goodput.perSecond(60_000, 1000)).toBe(0);
});

test('the mean of the latency moves by a tenth of each sample, from the plain mean of the first ones', () => {
  const latency = new Latency();
  latency.add(10);
  latency.add(30);
  expect(latency.meanMs).toBe(20);
  for (let count = 0; count < 10; count++) latency.add(20);
  latency.add(120);
  expect(latency.meanMs).toBeCloseTo(30);
  expect(latency.leastMs).toBe(10);
});

test('tries one slot more every 2 s, and not again for a minute after it was refused', () => {
  const slots = new Slots(50, 1);
  slots.set(10, 0);
  slots.tryMore({ nowMs: 1999, latencyMs: 30 });
  expect(slots.cap).toBe(10);
  slots.tryMore({ nowMs: 2000, latencyMs: 30 });
  expect(slots.cap).toBe(11);
  expect(slots.takeBack({ nowMs: 2100, sentAtMs: 2050, inFlight: 11 })).toBe(true);
  expect(slots.cap).toBe(10);
  slots.tryMore({ nowMs: 62_000, latencyMs: 30 });
  expect(slots.cap).toBe(10);
  slots.tryMore({ nowMs: 62_100, latencyMs: 30 });
  expect(slots.cap).toBe(11);
});

test('takes a slot back that only made the server slower', () => {
  const slots = new Slots(50, 1);
  slots.set(1, 0);
  slots.tryMore({ nowMs: 2000, latencyMs: 50 });
  expect(slots.cap).toBe(2);
  slots.tryMore({ nowMs: 4000, latencyMs: 95 });
  expect(slots.cap).toBe(1);
});

test('remembers how many at once were refused', () => {
  const slots = new Slots(50, 20);
  slots.refusedAt(11, 0);
  expect(slots.cap).toBe(10);
  slots.tryMore({ nowMs: 59_000, latencyMs: 30 });
  expect(slots.cap).toBe(10);
  slots.tryMore({ nowMs: 60_000, latencyMs: 30 });
  expect(slots.cap).toBe(11);
});

test('what was refused is tried at once where it was no limit', () => {
  const slots = new Slots(50, 20);
  slots.refusedAt(11, 0);
  slots.forgetRefusal();
  slots.tryMore({ nowMs: 2_000, latencyMs: 30 });
  expect(slots.cap).toBe(11);
});

test('counts requests whose answer never comes', () => {
  const outstanding = new Outstanding();
  outstanding.sent(1000);
  outstanding.sent(1500);
  outstanding.sent(9000);
  expect(outstanding.olderThan(2000, 9000)).toBe(2);
  outstanding.ended(1500);
  expect(outstanding.olderThan(2000, 9000)).toBe(1);
  expect(outstanding.olderThan(2000, 100_000)).toBe(2);
  outstanding.ended(1000);
  outstanding.ended(9000);
  expect(outstanding.olderThan(2000, 100_000)).toBe(0);
});

test('sees a token bucket come back while it is used, and a window not', () => {
  const bucket = new Refill();
  for (let nowMs = 0; nowMs <= 1000; nowMs += 10) bucket.add(nowMs, 1000 - nowMs / 20);
  expect(bucket.perSecond).toBeCloseTo(50);
  const window = new Refill();
  for (let nowMs = 0; nowMs <= 1000; nowMs += 10) window.add(nowMs, 1000 - nowMs / 10);
  expect(window.perSecond).toBe(0);
  const idle = new Refill();
  for (let nowMs = 0; nowMs <= 1000; nowMs += 10) idle.add(nowMs, 19);
  expect(idle.perSecond).toBeNull();
});
