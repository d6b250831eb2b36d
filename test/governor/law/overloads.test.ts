import { expect, test } from 'vitest';
import { Overloads } from '../../../src/governor/law/overloads.ts';

/** How many of `count` answers, every nth a 503, are taken for a limit. */
function takenForLimit(count: number, everyNth: number): number {
  const overloads = new Overloads();
  let taken = 0;
  for (let index = 1; index <= count; index++) {
    if (index % everyNth !== 0) overloads.answered();
    else if (!overloads.refused()) taken += 1;
  }
  return taken;
}

test('one in a hundred, or in fifty, stands alone', () => {
  expect(takenForLimit(10_000, 100)).toBe(0);
  expect(takenForLimit(10_000, 50)).toBe(0);
});

test('one in ten does not: the third of them is a limit', () => {
  expect(takenForLimit(20, 10)).toBe(0);
  expect(takenForLimit(30, 10)).toBe(1);
  expect(takenForLimit(100, 10)).toBe(8);
});

test('three at once do not', () => {
  const overloads = new Overloads();
  expect([overloads.refused(), overloads.refused(), overloads.refused()]).toEqual([true, true, false]);
});
