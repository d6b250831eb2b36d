import { expect, test } from 'vitest';
import { Trim } from '../../../src/governor/law/trim.ts';

/** The caps a server that serves `goodputOf(cap)` ends with, from a cap on. */
function trimmed(cap: number, goodputOf: (cap: number) => number): number {
  const trim = new Trim();
  trim.start(0, cap);
  let now = cap;
  for (let nowMs = 1000; nowMs < 100_000; nowMs += 1000) {
    now = trim.step({ nowMs, goodput: goodputOf(now), cap: now }) ?? now;
  }
  expect(trim.isOn).toBe(false);
  return now;
}

test('takes slots away while the server serves as much as before', () => {
  expect(trimmed(4, () => 20)).toBe(1);
  expect(trimmed(20, (cap) => Math.min(cap * 10, 100))).toBe(9);
});

test('gives the last one back when goodput falls with it', () => {
  expect(trimmed(10, (cap) => cap * 10)).toBe(9);
});

test('waits 2 s between tries', () => {
  const trim = new Trim();
  trim.start(0, 8);
  expect(trim.step({ nowMs: 1999, goodput: 50, cap: 8 })).toBeNull();
  expect(trim.step({ nowMs: 2000, goodput: 50, cap: 8 })).toBe(7);
});
