import { describe, expect, test } from 'vitest';
import type { Cell, LimiterKind } from '../../../bench/zoo/cells.ts';
import { mostRequests, type RampAnswer, RampPlan } from '../../../src/measure/ramp/ramp-plan.ts';
import { playRamp } from './play-ramp.ts';

function cellOf(limiter: LimiterKind, changes: Partial<Cell> = {}): Cell {
  return {
    name: limiter,
    limiter,
    rate: 20,
    headers: 'none',
    refusalStatus: 429,
    latencyMs: 30,
    jitter: 0.1,
    ...changes,
  };
}

const RATED: LimiterKind[] = [
  'token bucket',
  'fixed window 1 s',
  'fixed window 10 s',
  'sliding log',
  'leaky bucket',
  'adaptive',
];
const LATENCIES = [
  { latencyMs: 30, jitter: 0.1 },
  { latencyMs: 300, jitter: 0.5 },
];

describe('a ramp against the limiters of the zoo', () => {
  const cells = RATED.flatMap((limiter) =>
    [20, 100].flatMap((rate) =>
      LATENCIES.flatMap((latency) =>
        (['none', 'retry-after'] as const).map((headers) => cellOf(limiter, { rate, headers, ...latency })),
      ),
    ),
  );

  test.each(
    cells.map((cell) => [`${cell.limiter} of ${cell.rate}/s, ${cell.latencyMs} ms, ${cell.headers}`, cell] as const),
  )('finds the limit within 15 %%: %s', (_name, cell) => {
    for (const seed of [1, 2, 3]) {
      const result = playRamp(cell, { maxRate: cell.rate * 3, seed, startMs: seed * 3_333 });
      const found = `seed ${seed}: ${result.kind}, ${result.limitRps}`;
      expect(['rate', 'window'], found).toContain(result.kind);
      expect(Math.abs(result.limitRps! / cell.rate - 1), found).toBeLessThan(0.15);
      expect(result.fastestRps).toBeLessThanOrEqual(cell.rate * 3);
      expect(result.requests).toBeLessThanOrEqual(mostRequests(cell.rate * 3));
      // What it says holds does hold.
      expect(result.limitRps! * 0.8).toBeLessThan(cell.rate);
    }
  });

  test.each(LATENCIES)('finds a limit of 10 at once within 15 %%, at $latencyMs ms', (latency) => {
    for (const seed of [1, 2, 3]) {
      const result = playRamp(cellOf('concurrency 10', latency), { maxRate: 1_000, seed });
      expect(result).toMatchObject({ kind: 'concurrency', limitRps: null });
      expect(Math.abs(result.concurrency! / 10 - 1)).toBeLessThan(0.15);
      expect(result.refused).toBeLessThan(10);
    }
  });

  test.each(LATENCIES)('finds none where there is none, at $latencyMs ms', (latency) => {
    const result = playRamp(cellOf('no limit', latency), { maxRate: 50 });
    expect(result).toMatchObject({ kind: 'none found', limitRps: null, refused: 0, shownBy: null });
    expect(result.fastestRps).toBe(50);
  });

  test('finds none where the limit is above what it may send', () => {
    expect(playRamp(cellOf('token bucket', { rate: 100 }), { maxRate: 50 })).toMatchObject({
      kind: 'none found',
      refused: 0,
    });
  });

  test('takes the limit from headers, without a refusal', () => {
    const result = playRamp(cellOf('token bucket', { headers: 'ietf' }), { maxRate: 50 });
    expect(result).toMatchObject({ shownBy: 'headers', refused: 0, limitRps: 20 });
  });

  test('tells a window that stays shut from a rate', () => {
    const result = playRamp(cellOf('fixed window 10 s', { rate: 100 }), { maxRate: 300 });
    expect(result.kind).toBe('window');
    expect(result.windowMs).toBeGreaterThanOrEqual(5_000);
    expect(playRamp(cellOf('token bucket', { rate: 100 }), { maxRate: 300 })).toMatchObject({
      kind: 'rate',
      windowMs: null,
    });
  });

  test('shows by slowness where requests are held back instead of refused', () => {
    expect(playRamp(cellOf('leaky bucket'), { maxRate: 50 })).toMatchObject({
      kind: 'rate',
      shownBy: 'slowness',
      refused: 0,
    });
  });

  test('refuses are few', () => {
    for (const limiter of RATED) expect(playRamp(cellOf(limiter), { maxRate: 50 }).refused).toBeLessThanOrEqual(6);
  });

  test('works with bursts of 1 and of 200, and with 503', () => {
    for (const burst of [1, 200]) {
      const { limitRps } = playRamp(cellOf('token bucket', { burst, refusalStatus: 503 }), { maxRate: 60 });
      expect(Math.abs(limitRps! / 20 - 1), `burst ${burst}: ${limitRps}`).toBeLessThan(0.15);
    }
  });
});

describe('a ramp plan', () => {
  const answer = (nowMs: number, changes: Partial<RampAnswer> = {}): RampAnswer => ({
    nowMs,
    status: 200,
    isRefused: false,
    retryAfterMs: null,
    limits: [],
    ...changes,
  });

  test('begins with one request a second and grows by 5 % a second', () => {
    const plan = new RampPlan({ maxRate: 50, nowMs: 0 });
    const sentMs: number[] = [];
    for (let nowMs = 0; nowMs <= 30_000; nowMs++) {
      if (plan.nextSendMs(nowMs) > nowMs) continue;
      plan.answered(plan.sent(nowMs), answer(nowMs));
      sentMs.push(nowMs);
    }
    expect(sentMs.slice(0, 3)).toEqual([0, 1_000, 1_952]);
    // e^(0.05 x 30) is 4.48: as many in the last second.
    expect(sentMs.filter((atMs) => atMs > 29_000)).toHaveLength(4);
  });

  test('never sends faster than the greatest rate', () => {
    const plan = new RampPlan({ maxRate: 2, nowMs: 0 });
    const sentMs: number[] = [];
    for (let nowMs = 0; nowMs < 60_000; nowMs++) {
      if (plan.nextSendMs(nowMs) > nowMs || plan.isDone) continue;
      plan.answered(plan.sent(nowMs), answer(nowMs));
      sentMs.push(nowMs);
    }
    const gaps = sentMs.slice(1).map((atMs, index) => atMs - sentMs[index]!);
    expect(Math.min(...gaps)).toBe(500);
    expect(plan.isDone).toBe(true);
  });

  test('waits for as long as it is told, and not for hours', () => {
    const plan = new RampPlan({ maxRate: 50, nowMs: 0 });
    plan.nextSendMs(0);
    plan.answered(plan.sent(0), answer(10, { status: 429, isRefused: true, retryAfterMs: 30_000 }));
    expect(plan.nextSendMs(11)).toBe(30_010);
    plan.nextSendMs(30_010);
    plan.answered(plan.sent(30_010), answer(30_020, { status: 429, isRefused: true, retryAfterMs: 3_600_000 }));
    plan.nextSendMs(30_021);
    expect(plan.isDone).toBe(true);
    expect(plan.result()).toMatchObject({ kind: 'window', reason: 'after 0 requests it asked for a pause of 3600 s' });
  });

  test.each([404, 401, 500])('ends when the server answers %i: there is nothing to measure', (status) => {
    const plan = new RampPlan({ maxRate: 50, nowMs: 0 });
    for (let index = 0; index < 3; index++) {
      const nowMs = plan.nextSendMs(index * 2_000);
      plan.answered(plan.sent(nowMs), answer(nowMs + 1, { status }));
    }
    expect(plan.isDone).toBe(true);
    expect(plan.result()).toMatchObject({
      kind: 'none found',
      reason: `it answers ${status}: there is nothing to measure`,
    });
  });

  test('ends when nothing answers', () => {
    const plan = new RampPlan({ maxRate: 50, nowMs: 0 });
    for (let index = 0; index < 3; index++) {
      const nowMs = plan.nextSendMs(index * 2_000);
      plan.answered(plan.sent(nowMs), answer(nowMs + 1, { status: null }));
    }
    expect(plan.result().reason).toBe('it answers nothing: there is nothing to measure');
  });
});
