import { expect, test } from 'vitest';
import { HeldUp } from '../../src/app/held-up.ts';
import { HostGate } from '../../src/app/send-gate.ts';
import type { Sample } from '../../src/core/sample.ts';
import { createGovernor } from '../../src/governor/create-governor.ts';
import { KEY, policy } from '../governor/harness.ts';

const SLOTS = 4;

/** One second at 100 ms an answer, two in which the store lets nothing through, then slower answers. @returns the fewest slots */
function fewestSlots(noteHeldUp: boolean): number {
  const time = { nowMs: 5_000 };
  const clock = { nowMs: () => time.nowMs, wallMs: () => time.nowMs };
  const heldUp = new HeldUp();
  const governor = createGovernor({
    policyOf: () => ({ ...policy, maxConcurrency: SLOTS, discovery: 'off' }),
    clock,
    random: () => 0,
    onEvent: () => {},
  });
  const gate = new HostGate({
    governor,
    keysOf: () => [KEY],
    keysReadyAtMs: () => 0,
    givenUpElsewhere: () => null,
    crawlDelayMs: () => 0,
    onReleased: () => {},
    wasHeldUp: (endedAtMs) => heldUp.mattersAt(endedAtMs),
  });
  let fewest = SLOTS;
  const round = (latencyMs: number): void => {
    const sentAtMs = time.nowMs;
    let inFlight = 0;
    while (typeof gate.tryAcquire(KEY, time.nowMs) === 'string') inFlight++;
    time.nowMs += latencyMs;
    for (let slot = 0; slot < inFlight; slot++) gate.finish(answered(sentAtMs, time.nowMs));
    fewest = Math.min(fewest, governor.snapshot(time.nowMs)[0]!.concurrency);
  };
  for (let count = 0; count < 20; count++) round(100);
  for (let cycle = 0; cycle < 5; cycle++) {
    for (let tick = 0; tick < 8; tick++) {
      time.nowMs += 250;
      if (noteHeldUp) heldUp.note(time.nowMs);
    }
    round(400);
  }
  return fewest;
}

function answered(sentAtMs: number, endedAtMs: number): Sample {
  const origin = `https://${KEY}`;
  const response = { status: 200, failure: null, headers: {}, wallMs: endedAtMs, bodyText: null, overloaded: false };
  return { key: KEY, origin, sentAtMs, endedAtMs, ...response };
}

test('what a slow store held up is not put down to the server', () => {
  expect(fewestSlots(true)).toBe(SLOTS);
});

test('without a word of the store the server seems to slow', () => {
  expect(fewestSlots(false)).toBeLessThan(SLOTS);
});

test('a pause matters for as long as goodput looks back', () => {
  const heldUp = new HeldUp();
  expect(heldUp.mattersAt(0)).toBe(false);
  heldUp.note(1_000);
  expect([heldUp.mattersAt(1_000), heldUp.mattersAt(2_000), heldUp.mattersAt(2_001)]).toEqual([true, true, false]);
});
