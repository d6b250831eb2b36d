import { expect, test } from 'vitest';
import { type BlameFacts, SlotBlame } from '../../../src/governor/law/slot-blame.ts';

// 100/s of 50 ms need 5 slots; 20 are taken.
const BELOW: BlameFacts = { goodput: 90, failedRps: 100, inFlight: 20, cap: 20, latencyMs: 50 };

test('a refusal below the level that failed, with all slots taken, is put down to the slots, three times in a row', () => {
  const blame = new SlotBlame();
  expect(Array.from({ length: 5 }, () => blame.refused(BELOW))).toEqual([true, true, true, false, true]);
});

test('the rate is to blame at the level that failed, while none has failed, and with slots to spare', () => {
  const blame = new SlotBlame();
  expect(blame.refused({ ...BELOW, goodput: 98 })).toBe(false);
  expect(blame.refused({ ...BELOW, failedRps: null })).toBe(false);
  expect(blame.refused({ ...BELOW, inFlight: 7 })).toBe(false);
});

test('a quarter more than the rate needs is many, however many there might be', () => {
  const blame = new SlotBlame();
  // 200/s of 100 ms need 20.
  const busy = { goodput: 200, failedRps: 250, cap: 50, latencyMs: 100 };
  expect(blame.refused({ ...busy, inFlight: 24 })).toBe(false);
  expect(blame.refused({ ...busy, inFlight: 25 })).toBe(true);
});

test('of fewer than eight slots all are often taken by chance', () => {
  const few = { goodput: 9, failedRps: 12, cap: 5, latencyMs: 100 };
  expect(new SlotBlame().refused({ ...few, inFlight: 5 })).toBe(false);
});
