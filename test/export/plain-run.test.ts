import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyRun, endOfPlainRun, RUN_SLACK, stopAt, viewOf } from '../../src/export/plain-run.ts';

const bytes = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xff),
  ),
  { maxLength: 40 },
);

test('a run ends where a look at every byte says so', () => {
  fc.assert(
    fc.property(bytes, fc.nat(5), fc.option(fc.integer({ min: 0, max: 255 })), (list, at, stop) => {
      const source = Uint8Array.from([...Array(at).fill(0), ...list, 0, ...Array(RUN_SLACK).fill(0xff)]);
      const isEnd = (byte: number) => byte < 0x20 || byte === 0x22 || byte === 0x5c || byte === stop;
      expect(endOfPlainRun(viewOf(source), at, stopAt(stop))).toBe(
        source.findIndex((byte, place) => place >= at && isEnd(byte)),
      );
    }),
    { numRuns: 20_000 },
  );
});

test('a run is copied to its last byte, and at most three bytes more are touched', () => {
  fc.assert(
    fc.property(bytes, fc.nat(3), fc.nat(3), (list, start, targetAt) => {
      const source = Uint8Array.from([...Array(start).fill(1), ...list, ...Array(RUN_SLACK).fill(2)]);
      const target = new Uint8Array(targetAt + list.length + RUN_SLACK).fill(7);
      const end = copyRun(viewOf(source), start, start + list.length, viewOf(target), targetAt);
      expect(end).toBe(targetAt + list.length);
      expect([...target.subarray(targetAt, end)]).toEqual(list);
      expect([...target.subarray(0, targetAt)]).toEqual(Array(targetAt).fill(7));
      expect([...target.subarray(end + 3)]).toEqual([7]);
    }),
    { numRuns: 5_000 },
  );
});
