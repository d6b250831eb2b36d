import { expect, test } from 'vitest';
import { LevelDoubt } from '../../../src/governor/law/level-doubt.ts';

const FIRST = { failedRps: 100, formerRps: Number.POSITIVE_INFINITY, isOverload: true };

test('three faults that stood alone, a second or more apart, are enough', () => {
  const doubt = new LevelDoubt();
  expect(doubt.failedAt(FIRST)).toBe(false);
  expect([0, 500, 1_000, 1_900, 2_000].map((atMs) => doubt.faultBelow(atMs))).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
});

test('a level told by 429 is beyond doubt', () => {
  const doubt = new LevelDoubt();
  doubt.failedAt({ ...FIRST, isOverload: false });
  expect([0, 2_000, 4_000, 6_000].map((atMs) => doubt.faultBelow(atMs))).toEqual([false, false, false, false]);
});

test('faults count on when another level fails, unless that is told by 429', () => {
  const doubt = new LevelDoubt();
  doubt.failedAt(FIRST);
  expect([doubt.faultBelow(0), doubt.faultBelow(1_000)]).toEqual([false, false]);
  doubt.failedAt({ ...FIRST, formerRps: 100 });
  expect(doubt.faultBelow(2_000)).toBe(true);
  doubt.failedAt({ ...FIRST, formerRps: 100, isOverload: false });
  doubt.failedAt({ ...FIRST, formerRps: 100 });
  expect([doubt.faultBelow(3_000), doubt.faultBelow(4_000), doubt.faultBelow(5_000)]).toEqual([false, false, true]);
});

test('one that falls by 15 % and more three times in a row is no limit; one that stays in between is', () => {
  const fall = (levels: number[]): boolean[] => {
    const doubt = new LevelDoubt();
    return levels.map((failedRps, index) =>
      doubt.failedAt({ failedRps, formerRps: levels[index - 1] ?? Number.POSITIVE_INFINITY, isOverload: true }),
    );
  };
  expect(fall([100, 80, 60, 50])).toEqual([false, false, false, true]);
  expect(fall([100, 80, 60, 55, 40, 30])).toEqual([false, false, false, false, false, false]);
});

test('what is forgotten is not doubted', () => {
  const doubt = new LevelDoubt();
  doubt.failedAt(FIRST);
  doubt.faultBelow(0);
  doubt.faultBelow(1_000);
  doubt.forget('faults');
  expect([2_000, 3_000, 4_000].map((atMs) => doubt.faultBelow(atMs))).toEqual([false, false, false]);
});

let nowMs = 0;

/** The level fails, and as many faults as it takes stand alone below it. @returns how many that were, and what forget() says */
function forgetAt(doubt: LevelDoubt, failedRps: number): [faults: number, isAgain: boolean] {
  doubt.failedAt({ ...FIRST, failedRps });
  for (let faults = 1; ; faults++) {
    nowMs += 1_000;
    if (doubt.faultBelow(nowMs)) return [faults, doubt.forget('faults')];
  }
}

test('a level that comes back after it was forgotten is doubted after four times as many faults, 48 at most', () => {
  const doubt = new LevelDoubt();
  expect(forgetAt(doubt, 100)).toEqual([3, false]);
  expect(forgetAt(doubt, 125)).toEqual([12, true]);
  expect(forgetAt(doubt, 100)).toEqual([48, true]);
  expect(forgetAt(doubt, 100)).toEqual([48, true]);
  // Far above it is another one.
  expect(forgetAt(doubt, 126)).toEqual([3, true]);
});

test('a level told by 503 is refuted by a rate two fifths above it, one told by 429 by none', () => {
  const doubt = new LevelDoubt();
  doubt.failedAt(FIRST);
  expect([doubt.isRefutedBy(140, 100), doubt.isRefutedBy(141, 100)]).toEqual([false, true]);
  expect(doubt.forget('served')).toBe(false);
  expect(doubt.isRefutedBy(141, 100)).toBe(false);
  doubt.failedAt({ ...FIRST, isOverload: false });
  expect(doubt.isRefutedBy(1_000, 100)).toBe(false);
  // What was served far above is not forgotten for its faults.
  expect(doubt.forget('faults')).toBe(false);
});
