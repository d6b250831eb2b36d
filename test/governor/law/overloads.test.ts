import { expect, test } from 'vitest';
import { Overloads } from '../../../src/governor/law/overloads.ts';

/** Which 503s (from 1) are taken for a limit when every nth of `count` answers is one. */
function takenForLimit(count: number, everyNth: number): number[] {
  const overloads = new Overloads();
  const taken: number[] = [];
  for (let index = 1; index <= count; index++) {
    if (index % everyNth !== 0) overloads.answered();
    else if (!overloads.refused(false)) taken.push(index / everyNth);
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

test('near the limit that is known one is enough, once there have been many', () => {
  const overloads = new Overloads();
  expect(overloads.refused(true)).toBe(true);
  for (let count = 0; count < 20; count++) overloads.answered();
  expect([overloads.refused(true), overloads.refused(true)]).toEqual([true, false]);
  for (let count = 0; count < 60; count++) overloads.answered();
  expect(overloads.refused(false)).toBe(true);
  for (let count = 0; count < 60; count++) overloads.answered();
  expect(overloads.refused(true)).toBe(false);
  for (let count = 0; count < 300; count++) overloads.answered();
  expect(overloads.refused(true)).toBe(true);
});

test('a failure has stood alone once twenty other answers came after it, and not near the limit', () => {
  const overloads = new Overloads();
  const answers = (count: number): number[] =>
    Array.from({ length: count }, (_, index) => (overloads.answered() ? index + 1 : 0)).filter((at) => at > 0);
  expect(answers(30)).toEqual([]);
  overloads.refused(false);
  expect(answers(50)).toEqual([20]);
  overloads.refused(true);
  expect(answers(50)).toEqual([]);
  overloads.refused(false);
  expect(answers(10)).toEqual([]);
  overloads.refused(false);
  // Of two that came within twenty, one.
  expect(answers(50)).toEqual([20]);
});

test('where one in thirty fails anyway, two close together are chance, and five are not', () => {
  const overloads = new Overloads();
  for (let index = 1; index <= 3_000; index++) {
    if (index % 30 !== 0) overloads.answered();
    else expect(overloads.refused(false)).toBe(true);
  }
  expect(Array.from({ length: 5 }, () => overloads.refused(false))).toEqual([true, true, true, true, false]);
});

test('what it fails at any rate is taken as usual', () => {
  const overloads = new Overloads();
  const oneInTen = (): boolean => {
    for (let count = 0; count < 9; count++) overloads.answered();
    return overloads.refused(false);
  };
  const before = Array.from({ length: 10 }, oneInTen);
  overloads.takeAsUsual();
  const after = Array.from({ length: 100 }, oneInTen);
  expect(before.slice(2)).toEqual(Array(8).fill(false));
  expect(after).toEqual(Array(100).fill(true));
});
