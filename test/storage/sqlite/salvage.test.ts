import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextReadable } from '../../../src/storage/sqlite/salvage.ts';

test('finds the first rowid beyond a damaged stretch, however long', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(1_000_000), (damaged, length) => {
      const end = damaged + length;
      expect(nextReadable(damaged, (rowid) => rowid > end)).toBe(end + 1);
    }),
  );
});

test('gives up when nothing beyond can be read', () => {
  expect(nextReadable(5, () => false)).toBeNull();
});
