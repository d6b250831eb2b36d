import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fairShares, grantFor, leadOf, type Share } from '../../../src/governor/shared/shares.ts';

const share = (workerId: number, more: Partial<Share> = {}): Share => ({
  workerId,
  wantedRps: 1_000,
  grantedRps: 0,
  sentRps: 0,
  pacedRps: null,
  foundRps: null,
  ceilingRps: null,
  ...more,
});
const ask = (more: Partial<Parameters<typeof grantFor>[0]> = {}) => ({
  workerId: 9,
  wantedRps: 1_000,
  ceilingRps: 101,
  mostSharers: Number.POSITIVE_INFINITY,
  ...more,
});

describe('dividing a rate', () => {
  test('gives all the same who want more than there is', () => {
    expect(fairShares(90, [100, 100, 100])).toEqual([30, 30, 30]);
  });

  test('gives what one leaves to those who want more', () => {
    expect(fairShares(90, [10, 100, 100])).toEqual([10, 40, 40]);
    expect(fairShares(90, [1, 2, 3])).toEqual([1, 2, 3]);
  });
});

describe('a grant', () => {
  test('is the whole limit for a worker alone', () => {
    expect(grantFor(ask(), [])).toBe(101);
  });

  test('is none where nobody knows of a limit', () => {
    expect(grantFor(ask({ ceilingRps: null }), [share(1)])).toBeNull();
  });

  test('goes by the lowest limit that anybody knows of', () => {
    expect(grantFor(ask({ ceilingRps: null, wantedRps: 5 }), [share(1, { ceilingRps: 50, wantedRps: 0 })])).toBe(5);
    expect(grantFor(ask(), [share(1, { ceilingRps: 50, wantedRps: 0 })])).toBe(50);
  });

  test('leaves room for sends that come a little early or late when several share', () => {
    // Of 101 - 2 each has half.
    expect(grantFor(ask(), [share(1)])).toBeCloseTo(49.5, 9);
  });

  test('is what is free, until the others have given their part back', () => {
    expect(grantFor(ask(), [share(1, { grantedRps: 99 })])).toBeCloseTo(0, 9);
    expect(grantFor(ask(), [share(1, { grantedRps: 60 })])).toBeCloseTo(39, 9);
  });

  test('goes to few of many workers where the limit is low, and stays with who has it', () => {
    const others = [share(1), share(2, { grantedRps: 3 }), share(3)];
    const few = { mostSharers: 2, ceilingRps: 10 };
    expect(grantFor(ask({ ...few, workerId: 9 }), others)).toBe(0);
    expect(grantFor(ask({ ...few, workerId: 1 }), others.slice(1))).toBeGreaterThan(0);
    expect(grantFor(ask({ ...few, workerId: 2 }), [share(1), share(3)])).toBeGreaterThan(0);
  });

  test('never makes more of a limit than there is, in whatever order workers come, ask and go', () => {
    const event = fc.record({
      workerId: fc.integer({ min: 1, max: 6 }),
      wantedRps: fc.double({ min: 0, max: 300, noNaN: true }),
      isGone: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 1, max: 500 }), (events, ceilingRps) => {
        const shares = new Map<number, Share>();
        for (const { workerId, wantedRps, isGone } of events) {
          const others = [...shares.values()].filter((one) => one.workerId !== workerId);
          const mostSharers = Math.max(1, Math.floor(ceilingRps / 5));
          const grantedRps = grantFor({ workerId, wantedRps, ceilingRps, mostSharers }, others) ?? Number.NaN;
          if (isGone) shares.delete(workerId);
          else shares.set(workerId, share(workerId, { wantedRps, grantedRps, ceilingRps }));
          const sum = [...shares.values()].reduce((total, one) => total + one.grantedRps, 0);
          expect(sum).toBeLessThanOrEqual(ceilingRps + 1e-9);
        }
      }),
    );
  });
});

test('all go by the law of who came first', () => {
  expect(leadOf(1, [share(2), share(3)])).toBeNull();
  expect(leadOf(3, [share(5), share(2, { pacedRps: 7 })])).toMatchObject({ workerId: 2, pacedRps: 7 });
  expect(leadOf(1, [])).toBeNull();
});
