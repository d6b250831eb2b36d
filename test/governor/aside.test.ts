import { expect, test } from 'vitest';
import { type Answer, governed } from './harness.ts';

/** Answers of 400 ms, four at a time for 20 s, after a first one of 2 ms. @returns the fewest slots it had */
function fewestSlots(first: Answer): number {
  const { ask, answer, time, snapshot } = governed({ discovery: 'off', maxConcurrency: 4 });
  time.nowMs = 5_000;
  ask();
  time.nowMs += 2;
  answer({ sentAtMs: 5_000, ...first });
  let fewest = snapshot()!.concurrency;
  for (let round = 0; round < 50; round++) {
    const sentAtMs = time.nowMs;
    let inFlight = 0;
    while (inFlight < 4 && ask() === 0) inFlight++;
    time.nowMs += 400;
    for (let slot = 0; slot < inFlight; slot++) answer({ sentAtMs });
    fewest = Math.min(fewest, snapshot()!.concurrency);
  }
  return fewest;
}

test('a robots.txt that comes fast makes no answer of the API seem slow', () => {
  expect(fewestSlots({ isAside: true })).toBe(4);
});

test('an answer of the API does: what follows it is slower', () => {
  expect(fewestSlots({})).toBe(1);
});

test('a refusal of it holds the host back all the same', () => {
  const { ask, roundTrip } = governed({ discovery: 'off' });
  expect(roundTrip({ isAside: true, status: 429, headers: { 'retry-after': '5' } })).toBe('limited');
  expect(ask()).toBe(5_030);
});

test('after a pause it reopens the host like any other answer', () => {
  const { ask, roundTrip, time } = governed({ discovery: 'off', maxConcurrency: 3 });
  roundTrip({ status: 429, headers: { 'retry-after': '5' } });
  time.nowMs = 5_030;
  roundTrip({ isAside: true });
  expect(ask()).toBe(0);
});
