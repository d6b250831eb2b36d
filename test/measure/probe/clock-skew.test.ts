import { expect, test } from 'vitest';
import { clockSkew } from '../../../src/measure/probe/clock-skew.ts';

const AT = Date.UTC(2026, 0, 1);
const seen = (dateOffsetMs: number, sentMs: number, receivedMs: number) => ({
  dateText: new Date(AT + dateOffsetMs).toUTCString(),
  sentWallMs: AT + sentMs,
  receivedWallMs: AT + receivedMs,
});

test('a Date of the same second allows for no skew, and for up to one second either way', () => {
  expect(clockSkew([seen(0, 400, 450)])).toEqual({ least: -450, most: 600 });
});

test('answers at several moments of a second narrow the bounds', () => {
  expect(clockSkew([seen(0, 100, 120), seen(0, 900, 950), seen(1_000, 1_010, 1_030)])).toEqual({
    least: -30,
    most: 100,
  });
});

test('a clock that is an hour ahead is told to the round trip', () => {
  expect(clockSkew([seen(3_600_000, 990, 1_000), seen(3_601_000, 1_010, 1_020)])).toEqual({
    least: 3_599_980,
    most: 3_600_010,
  });
});

test('no Date, or machines that contradict one another, tell nothing', () => {
  expect(clockSkew([{ dateText: undefined, sentWallMs: AT, receivedWallMs: AT }])).toBeNull();
  expect(clockSkew([seen(0, 0, 10), seen(60_000, 20, 30)])).toBeNull();
});
