import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexKeyOf } from '../../../src/storage/sqlite/key-index.ts';

test('keeps URLs that differ in a number beside one another, in its order', () => {
  const keys = [7, 8, 9].map((n) => indexKeyOf(`https://a.example/items/${n}?page=2`));
  expect(new Set(keys.map(({ template }) => template)).size).toBe(1);
  expect(keys.map(({ digits }) => digits)).toEqual([72, 82, 92]);
});

test('tells apart what moves digits from one number to another', () => {
  expect(indexKeyOf('/p/1/r/11').template).not.toBe(indexKeyOf('/p/11/r/1').template);
});

test('gives integers that SQLite and JavaScript both hold exactly', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const { template, digits } = indexKeyOf(text);
      expect(Number.isSafeInteger(template) && template >= 0 && template < 2 ** 48).toBe(true);
      expect(Number.isSafeInteger(digits) && digits >= 0 && digits < 1e15).toBe(true);
    }),
  );
});

test('rarely gives two keys of one shape the same place', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const word = (n: number) => [...Array(6).keys()].map((i) => letters[Math.floor(n / 26 ** i) % 26]).join('');
  const templates = new Set(
    Array.from({ length: 200_000 }, (_, n) => indexKeyOf(`https://a.example/${word(n)}`).template),
  );
  expect(templates.size).toBeGreaterThan(199_990);
});
