import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Histogram } from '../../src/core/histogram.ts';

function histogramOf(values: readonly number[], bits?: number): Histogram {
  const histogram = new Histogram(bits);
  for (const value of values) histogram.record(value);
  return histogram;
}

function exactPercentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] as number;
}

const timesMs = fc.array(
  fc.oneof(fc.double({ min: 0, max: 5, noNaN: true }), fc.double({ min: 0, max: 2e9, noNaN: true })),
  {
    minLength: 1,
    maxLength: 200,
  },
);

test('a percentile is off by at most 0.8 % or half a microsecond', () => {
  fc.assert(
    fc.property(timesMs, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
      const exact = exactPercentile(values, share);
      const found = histogramOf(values).percentile(share) as number;
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.0079 + 0.000501);
    }),
    { numRuns: 2_000 },
  );
});

test('count, sum, mean, min and max are exact', () => {
  const histogram = histogramOf([1.5, 2.5, 8]);
  expect([histogram.count, histogram.sum, histogram.mean, histogram.min, histogram.max]).toEqual([3, 12, 4, 1.5, 8]);
});

test('an empty histogram has no percentile, mean, min or max', () => {
  const histogram = new Histogram();
  expect([histogram.percentile(0.5), histogram.mean, histogram.min, histogram.max]).toEqual([null, null, null, null]);
});

test('negative values and NaN count as 0', () => {
  const histogram = histogramOf([-1, Number.NaN]);
  expect([histogram.count, histogram.percentile(1), histogram.sum]).toEqual([2, 0, 0]);
});

test('values beyond 25 days land in the last bucket and keep their exact maximum', () => {
  const histogram = histogramOf([1e12]);
  expect(histogram.max).toBe(1e12);
  expect(histogram.toState().counts).toHaveLength(2);
});

test('merging equals recording everything in one', () => {
  fc.assert(
    fc.property(timesMs, timesMs, (left, right) => {
      const merged = histogramOf(left);
      merged.merge(histogramOf(right));
      const whole = histogramOf([...left, ...right]);
      expect(merged.toState().counts).toEqual(whole.toState().counts);
      expect([merged.count, merged.min, merged.max]).toEqual([whole.count, whole.min, whole.max]);
      expect(merged.sum).toBeCloseTo(whole.sum, 3);
    }),
  );
});

test('histograms of different resolutions do not merge', () => {
  expect(() => new Histogram(6).merge(new Histogram(4))).toThrow(RangeError);
});

test('survives JSON', () => {
  fc.assert(
    fc.property(timesMs, fc.integer({ min: 1, max: 10 }), (values, bits) => {
      const state = histogramOf(values, bits).toState();
      const back = Histogram.fromState(JSON.parse(JSON.stringify(state)));
      expect(back.toState()).toEqual(state);
      expect(back.count).toBe(values.length);
    }),
  );
});

test('an empty one survives JSON too, and still records', () => {
  const back = Histogram.fromState(JSON.parse(JSON.stringify(new Histogram().toState())));
  back.record(7);
  expect([back.count, back.min, back.max]).toEqual([1, 7, 7]);
});

test('its state is bounded whatever is recorded', () => {
  const histogram = new Histogram();
  for (let value = 0.001; value < 1e10; value *= 1.001) histogram.record(value);
  expect(histogram.toState().counts.length / 2).toBeLessThanOrEqual(36 * 64);
});
