import { describe, expect, test } from 'vitest';
import { RetryBudget } from '../../src/crawl/retry-budget.ts';

const budgetOf = (share = 0.2, longestWaitMs = 60_000) => new RetryBudget({ share, longestWaitMs, nowMs: 0 });

/** Decides `count` retries at one instant. @returns the waits */
function retries(budget: RetryBudget, count: number, nowMs: number): number[] {
  return Array.from({ length: count }, () => {
    const waitMs = budget.waitMs(nowMs);
    budget.onRetry(nowMs);
    return waitMs;
  });
}

describe('retry budget', () => {
  test('a small crawl never meets it: a hundred retries at once go without a wait', () => {
    expect(Math.max(...retries(budgetOf(0), 100, 0))).toBe(0);
  });

  test('beyond that retries are spaced evenly, ten a second', () => {
    const waits = retries(budgetOf(0), 105, 0);
    expect(waits.slice(100)).toEqual([100, 200, 300, 400, 500]);
  });

  test('a crawl with one failure in ten requests never waits, however long it runs', () => {
    const budget = budgetOf();
    const waits: number[] = [];
    for (let nowMs = 0; nowMs < 60_000; nowMs++) {
      budget.onRequest(nowMs);
      if (nowMs % 10 === 9) waits.push(...retries(budget, 1, nowMs));
    }
    expect(waits).toHaveLength(6000);
    expect(Math.max(...waits)).toBe(0);
  });

  test('when every request fails, retries go at their share and the minimum', () => {
    const budget = budgetOf(0.2, Number.POSITIVE_INFINITY);
    const dueAtMs: number[] = [];
    for (let nowMs = 0; nowMs < 30_000; nowMs += 10) {
      budget.onRequest(nowMs);
      dueAtMs.push(nowMs + (retries(budget, 1, nowMs)[0] ?? Number.NaN));
    }
    // 3,000 requests in 30 s earn 600, the minimum gives 100 at the start and 300 on the way.
    const withinThirtySecs = dueAtMs.filter((atMs) => atMs <= 30_000).length;
    expect(withinThirtySecs).toBeGreaterThan(780);
    expect(withinThirtySecs).toBeLessThanOrEqual(1000);
  });

  test('no retry waits longer than the longest backoff, and the debt is forgotten as fast', () => {
    const budget = budgetOf(0.2, 2000);
    expect(Math.max(...retries(budget, 10_000, 0))).toBe(2000);
    expect(budget.waitMs(2100)).toBe(0);
  });

  test('what was earned long ago is not there to be spent now', () => {
    const budget = budgetOf(1);
    for (let request = 0; request < 1000; request++) budget.onRequest(0);
    expect(Math.max(...retries(budget, 200, 100_000))).toBeGreaterThan(0);
  });

  test('time that stands still or steps back changes nothing', () => {
    const budget = budgetOf(0);
    retries(budget, 101, 1000);
    expect(budget.waitMs(0)).toBe(budget.waitMs(1000));
  });
});
