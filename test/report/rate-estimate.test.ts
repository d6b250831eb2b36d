import { describe, expect, test } from 'vitest';
import { EtaEstimate, RateEstimate } from '../../src/report/rate-estimate.ts';

describe('rate', () => {
  test('is right from the first second on, without climbing from 0', () => {
    const rate = new RateEstimate(5_000);
    rate.update(0, 100);
    expect(rate.perSecond).toBeNull();
    rate.update(1_000, 150);
    expect(rate.perSecond).toBe(50);
  });

  test('follows a change with its half-life, whatever the intervals', () => {
    for (const everyMs of [100, 500, 2_500]) {
      const rate = new RateEstimate(5_000);
      for (let atMs = 0; atMs <= 100_000; atMs += everyMs) rate.update(atMs, atMs / 10);
      for (let atMs = everyMs; atMs <= 5_000; atMs += everyMs) rate.update(100_000 + atMs, 10_000);
      expect(rate.perSecond).toBeGreaterThan(45);
      expect(rate.perSecond).toBeLessThan(56);
    }
  });

  test('starts afresh when the counter falls', () => {
    const rate = new RateEstimate(5_000);
    rate.update(0, 0);
    rate.update(1_000, 1_000);
    rate.update(2_000, 5);
    rate.update(3_000, 15);
    expect(rate.perSecond).toBe(10);
  });
});

describe('time left', () => {
  const run = (eta: EtaEstimate, from: number, secs: number, at: (secs: number) => { done: number; total: number }) => {
    for (let second = 0; second <= secs; second++) eta.update((from + second) * 1_000, at(second));
  };

  test('is what is left over the rate', () => {
    const eta = new EtaEstimate();
    run(eta, 0, 20, (secs) => ({ done: secs * 50, total: 2_000 }));
    expect(eta.remainingSecs).toBeCloseTo(20);
  });

  test('ten seconds of a parked host double it at most', () => {
    const eta = new EtaEstimate();
    run(eta, 0, 120, (secs) => ({ done: secs * 50, total: 12_000 }));
    run(eta, 120, 10, () => ({ done: 6_000, total: 12_000 }));
    expect(eta.requestsPerSecond).toBeLessThan(20);
    expect(eta.remainingSecs).toBeGreaterThan(120);
    expect(eta.remainingSecs).toBeLessThan(200);
  });

  test('is unknown while work grows faster than it is done, and known again soon after', () => {
    const eta = new EtaEstimate();
    run(eta, 0, 60, (secs) => ({ done: secs * 10, total: secs * 30 }));
    expect(eta.remainingSecs).toBeNull();
    run(eta, 60, 60, (secs) => ({ done: 600 + secs * 10, total: 1_800 }));
    expect(eta.remainingSecs).toBeGreaterThan(60);
    expect(eta.remainingSecs).toBeLessThan(90);
  });

  test('nothing left takes no time, and nothing done yet says nothing', () => {
    const eta = new EtaEstimate();
    eta.update(0, { done: 0, total: 10 });
    expect(eta.remainingSecs).toBeNull();
    eta.update(1_000, { done: 10, total: 10 });
    expect(eta.remainingSecs).toBe(0);
  });
});
