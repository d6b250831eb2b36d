import { describe, expect, test } from 'vitest';
import { Health } from '../../src/sessions/health.ts';

const healthOf = () => new Health({ firstRestMs: 1000, longestRestMs: 8000 });

describe('health', () => {
  test('a failure means a rest, doubled with each failure in a row, up to the longest', () => {
    const health = healthOf();
    const rests: number[] = [];
    let nowMs = 0;
    for (let failure = 0; failure < 6; failure++) {
      health.fail(nowMs);
      rests.push(health.readyAtMs - nowMs);
      nowMs = health.readyAtMs;
    }
    expect(rests).toEqual([1000, 2000, 4000, 8000, 8000, 8000]);
  });

  test('failures of one burst count once', () => {
    const health = healthOf();
    const counted = [0, 1, 2, 999].map((nowMs) => health.fail(nowMs));
    expect(counted).toEqual([true, false, false, false]);
    expect(health.readyAtMs).toBe(1000);
  });

  test('after a rest one use tries it, and others wait for what becomes of that one', () => {
    const health = healthOf();
    health.fail(0);
    expect([health.canUse(999), health.canUse(1000)]).toEqual([false, true]);
    health.use(1000);
    expect(health.canUse(1001)).toBe(false);
    health.heal();
    expect(health.canUse(1001)).toBe(true);
  });

  test('a trial that fails means the next longer rest', () => {
    const health = healthOf();
    health.fail(0);
    health.use(1000);
    expect(health.fail(1100)).toBe(true);
    expect(health.readyAtMs).toBe(3100);
  });

  test('a trial whose answer never comes is followed by another', () => {
    const health = healthOf();
    health.fail(0);
    health.use(1000);
    expect([health.canUse(30_999), health.canUse(31_000)]).toEqual([false, true]);
  });

  test('a success forgets all failures', () => {
    const health = healthOf();
    expect(health.heal()).toBe(false);
    health.fail(0);
    health.use(1000);
    expect(health.heal()).toBe(true);
    health.fail(5000);
    expect(health.readyAtMs).toBe(6000);
  });

  test('is not back by an answer to what was sent before it failed', () => {
    const health = healthOf();
    health.fail(0);
    expect(health.heal(999)).toBe(false);
    expect(health.canUse(999)).toBe(false);
    health.use(1000);
    expect(health.heal(1001)).toBe(true);
  });

  test('a rest goes on where it was after a restart, and ends in its time', () => {
    const before = healthOf();
    before.fail(0);
    before.use(1000);
    before.fail(1000);
    const saved = before.save({ nowMs: 1500, wallMs: 1_000_000 })!;
    const restsUntil = (wallMs: number) => {
      const after = healthOf();
      after.load(saved, { nowMs: 10, wallMs });
      return [after.failures, after.readyAtMs];
    };
    expect(restsUntil(1_000_500)).toEqual([2, 1010]);
    expect(restsUntil(9_000_000)).toEqual([2, 10]);
    expect(restsUntil(0)).toEqual([2, 8010]);
    expect(healthOf().save({ nowMs: 0, wallMs: 0 })).toBeNull();
  });
});
