import { expect, test } from 'vitest';
import { usualWindowMs, WindowLearner } from '../../../src/governor/law/window.ts';

test('learns a fixed window from the step of its reset, when what remains comes back', () => {
  const learner = new WindowLearner();
  for (let nowMs = 0; nowMs < 10_000; nowMs += 500) {
    learner.read({ nowMs, inFlight: 1, remaining: 100 - nowMs / 500, resetMs: 10_000 - nowMs });
    expect(learner.windowMs).toBeNull();
  }
  learner.read({ nowMs: 10_000, inFlight: 1, remaining: 99, resetMs: 10_000 });
  expect(learner.windowMs).toBe(10_000);
});

test('learns a window of one second whose reset is always 1', () => {
  const learner = new WindowLearner();
  for (let nowMs = 0; nowMs <= 2_100; nowMs += 100) {
    learner.read({ nowMs, inFlight: 1, remaining: 19 - (nowMs % 1000) / 100, resetMs: 1000 });
  }
  expect(learner.windowMs).toBe(1000);
});

test('learns a sliding window from resets that move on all the time', () => {
  const learner = new WindowLearner();
  for (let nowMs = 0; nowMs <= 15_000; nowMs += 500) {
    const oldestMs = Math.max(0, nowMs - 10_000);
    learner.read({ nowMs, inFlight: 1, remaining: 20, resetMs: Math.ceil((oldestMs + 10_000) / 1000) * 1000 - nowMs });
  }
  expect(learner.windowMs).toBe(10_000);
});

test('takes "seconds" above a day that fall by a thousand a second for milliseconds', () => {
  const learner = new WindowLearner();
  expect(learner.read({ nowMs: 0, inFlight: 1, remaining: 99, resetMs: 600_000_000 })).toBe(600_000_000);
  expect(learner.read({ nowMs: 1000, inFlight: 1, remaining: 98, resetMs: 599_000_000 })).toBe(599_000);
  expect(learner.read({ nowMs: 2000, inFlight: 1, remaining: 97, resetMs: 598_000_000 })).toBe(598_000);
});

test('leaves a true reset of a week alone', () => {
  const learner = new WindowLearner();
  learner.read({ nowMs: 0, inFlight: 1, remaining: 99, resetMs: 600_000_000 });
  expect(learner.read({ nowMs: 1000, inFlight: 1, remaining: 98, resetMs: 599_999_000 })).toBe(599_999_000);
});

test('rounds a measured window to a usual one', () => {
  expect([1020, 9_200, 58_000, 3_590_000, 4_100].map(usualWindowMs)).toEqual([1000, 10_000, 60_000, 3_600_000, 4000]);
});

test('answers that overtake one another are no new window', () => {
  const learner = new WindowLearner();
  for (let nowMs = 0; nowMs < 9000; nowMs += 10) {
    const overtaken = nowMs % 40 === 0 ? 6 : 0;
    learner.read({ nowMs, inFlight: 12, remaining: 1000 - nowMs / 10 - overtaken, resetMs: 10_000 - nowMs });
  }
  expect(learner.windowMs).toBeNull();
});
