import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DueHeap } from '../../src/queue/due-heap.ts';

test('gives the earliest first, and nothing before its time', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 200 }), (times) => {
      const heap = new DueHeap<number>();
      for (const atMs of times) heap.push(atMs, atMs);
      const sorted = [...times].sort((a, b) => a - b);
      for (const atMs of sorted) {
        expect(heap.nextAtMs).toBe(atMs);
        expect(heap.popDue(atMs - 1)).toBeUndefined();
        expect(heap.popDue(atMs)).toBe(atMs);
      }
      expect(heap.nextAtMs).toBeNull();
      expect(heap.popDue(Number.POSITIVE_INFINITY)).toBeUndefined();
    }),
  );
});
