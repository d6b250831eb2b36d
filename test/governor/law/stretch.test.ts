import { expect, test } from 'vitest';
import { Stretch } from '../../../src/governor/law/stretch.ts';

function found(): Stretch {
  const stretch = new Stretch();
  stretch.start({ cap: 10, latencyMs: 30 });
  return stretch;
}

test('latency that stays up for a second needs as many slots more', () => {
  const stretch = found();
  const at = (nowMs: number): number => stretch.capFor({ nowMs, latencyMs: 60, intervalMs: 4 });
  expect([at(0), at(999), at(1_000), at(2_000)]).toEqual([0, 0, 19, 19]);
});

test('no more than in proportion, however many the pace could use', () => {
  const stretch = found();
  const at = (nowMs: number): number => stretch.capFor({ nowMs, latencyMs: 45, intervalMs: 1 });
  expect([at(0), at(1_000)]).toEqual([0, 15]);
});

test('a hiccup changes nothing: the second begins anew', () => {
  const stretch = found();
  const at = (nowMs: number): number => stretch.capFor({ nowMs, latencyMs: 60, intervalMs: 4 });
  expect(at(0)).toBe(0);
  stretch.answered(31);
  expect([at(1_000), at(1_999), at(2_000)]).toEqual([0, 0, 19]);
});

test('a little longer is as long', () => {
  const stretch = found();
  const at = (nowMs: number): number => stretch.capFor({ nowMs, latencyMs: 37, intervalMs: 4 });
  expect([at(0), at(5_000)]).toEqual([0, 0]);
});
