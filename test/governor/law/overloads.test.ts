import { expect, test } from 'vitest';
import { Overloads, type RatePlace } from '../../../src/governor/law/overloads.ts';

const BELOW: RatePlace = { isNearLimit: false, isSearching: false };
const NEAR: RatePlace = { isNearLimit: true, isSearching: false };
const SEARCHING: RatePlace = { isNearLimit: false, isSearching: true };

function answer(overloads: Overloads, count: number): void {
  for (let index = 0; index < count; index++) overloads.answered();
}

/** Which 503s (from 1) are taken for a limit when every nth of `count` answers is one. */
function takenForLimit(count: number, everyNth: number): number[] {
  const overloads = new Overloads();
  const taken: number[] = [];
  for (let index = 1; index <= count; index++) {
    if (index % everyNth !== 0) overloads.answered();
    else if (!overloads.refused(BELOW)) taken.push(index / everyNth);
  }
  return taken;
}

test('one in a hundred, or in fifty, stands alone', () => {
  expect(takenForLimit(10_000, 100)).toEqual([]);
  expect(takenForLimit(10_000, 50)).toEqual([]);
});

test('one in ten does not from the third on, one in fifteen from the fourth', () => {
  expect(takenForLimit(50, 10)).toEqual([3, 4, 5]);
  expect(takenForLimit(90, 15)).toEqual([4, 5, 6]);
});

test('two close together do not', () => {
  expect(takenForLimit(8, 4)).toEqual([2]);
});

test('of a server that has failed for nothing, one near the limit is not enough', () => {
  const overloads = new Overloads();
  expect(overloads.refused(BELOW)).toBe(true);
  answer(overloads, 80);
  expect([overloads.refused(NEAR), overloads.refused(NEAR)]).toEqual([true, true]);
});

test('of a server that has failed for nothing, those acted upon do not count for the next', () => {
  const overloads = new Overloads();
  overloads.refused(BELOW);
  answer(overloads, 80);
  const burst = (): boolean[] => Array.from({ length: 4 }, () => overloads.refused(BELOW));
  expect(burst()).toEqual([true, true, true, false]);
  expect(burst()).toEqual([true, true, true, false]);
});

test('of a server that never fails for nothing, one near the limit is enough', () => {
  const overloads = new Overloads();
  answer(overloads, 10);
  expect(overloads.refused(BELOW)).toBe(true);
  answer(overloads, 10);
  expect(overloads.refused(NEAR)).toBe(false);
});

test('on the way to the limit one is enough after 500 answers without a failure, and not before', () => {
  const early = new Overloads();
  answer(early, 400);
  expect(early.refused(SEARCHING)).toBe(true);
  const late = new Overloads();
  answer(late, 600);
  expect(late.refused(SEARCHING)).toBe(false);
  const failing = new Overloads();
  answer(failing, 300);
  failing.refused(BELOW);
  answer(failing, 300);
  expect(failing.refused(SEARCHING)).toBe(true);
});

test('a failure has stood alone once twenty other answers came after it, and not near the limit', () => {
  const overloads = new Overloads();
  const answers = (count: number): number[] =>
    Array.from({ length: count }, (_, index) => (overloads.answered() ? index + 1 : 0)).filter((at) => at > 0);
  expect(answers(30)).toEqual([]);
  overloads.refused(BELOW);
  expect(answers(50)).toEqual([20]);
  overloads.refused(NEAR);
  expect(answers(50)).toEqual([]);
  overloads.refused(BELOW);
  expect(answers(10)).toEqual([]);
  overloads.refused(BELOW);
  // Of two that came within twenty, one.
  expect(answers(50)).toEqual([20]);
});

test('where one in thirty fails anyway, two close together are chance, and five are not', () => {
  const overloads = new Overloads();
  for (let index = 1; index <= 3_000; index++) {
    if (index % 30 !== 0) overloads.answered();
    else expect(overloads.refused(BELOW)).toBe(true);
  }
  expect(Array.from({ length: 5 }, () => overloads.refused(BELOW))).toEqual([true, true, true, true, false]);
});

test('what it fails at any rate is taken as usual', () => {
  const overloads = new Overloads();
  const oneInTen = (): boolean => {
    for (let count = 0; count < 9; count++) overloads.answered();
    return overloads.refused(BELOW);
  };
  const before = Array.from({ length: 10 }, oneInTen);
  overloads.takeAsUsual();
  const after = Array.from({ length: 100 }, oneInTen);
  expect(before.slice(2)).toEqual(Array(8).fill(false));
  expect(after).toEqual(Array(100).fill(true));
});
