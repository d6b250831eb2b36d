import { describe, expect, test } from 'vitest';
import { Catalogue } from '../../src/practice-api/catalogue.ts';

const catalogue = (seed = 1) => new Catalogue({ items: 500, seed });
const all = (of: Catalogue) => Array.from({ length: of.items }, (_, index) => of.product(index + 1));

describe('the products', () => {
  test('depend on the seed and nothing else', () => {
    const [one, same, other] = [all(catalogue(1)), all(catalogue(1)), all(catalogue(2))];
    expect(one).toEqual(same);
    expect(one.filter((product, index) => product.name === other[index]?.name).length).toBeLessThan(50);
  });

  test('have ids from 1 without gaps, and are summed up with the same values', () => {
    const some = catalogue();
    const full = all(some);
    expect(full.map(({ id }) => id)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    for (const product of full) expect(product).toMatchObject(some.summary(product.id));
  });

  test('have ledger ids beyond 2^53, each its own, odd so that a double rounds them', () => {
    const ids = all(catalogue()).map(({ ledgerId }) => ledgerId);
    expect(new Set(ids).size).toBe(500);
    for (const id of ids) {
      expect(id).toBeGreaterThan(2n ** 53n);
      expect(BigInt(Number(id))).not.toBe(id);
    }
  });

  test('exercise a CSV: commas, quotes, line breaks, other scripts, and nulls here and there', () => {
    const texts = all(catalogue()).flatMap(({ name, description, maker }) => [name, description, maker.name]);
    for (const sign of [',', '"', '\n', 'é', '茶']) expect(texts.some((text) => text.includes(sign))).toBe(true);
    const nulls = all(catalogue()).map(({ dimensions, rating, price }) => [dimensions, rating, price.discountPercent]);
    for (const column of [0, 1, 2]) {
      const share = nulls.filter((row) => row[column] === null).length / nulls.length;
      expect(share).toBeGreaterThan(0.02);
      expect(share).toBeLessThan(0.9);
    }
  });

  test('have the mean of their reviews as rating, to one decimal', () => {
    const some = catalogue();
    for (const { id, rating, reviewCount } of all(some)) {
      const stars = Array.from({ length: reviewCount }, (_, index) => some.review(id, index).stars);
      const mean = stars.reduce((sum, star) => sum + star, 0) / stars.length;
      expect(rating).toBe(reviewCount === 0 ? null : Math.round(mean * 10) / 10);
    }
  });

  test('are known from 1 to their number', () => {
    const known = [0, 1, 500, 501, 1.5, Number.NaN].map((id) => catalogue().has(id));
    expect(known).toEqual([false, true, true, false, false, false]);
  });

  test('are there in any number, since they are computed when asked for', () => {
    const many = new Catalogue({ items: 10_000_000, seed: 1 });
    expect(many.product(10_000_000).id).toBe(10_000_000);
    expect(many.summaries(9_999_999, 100).map(({ id }) => id)).toEqual([9_999_999, 10_000_000]);
  });
});

describe('a change', () => {
  test('gives the product a new version, price and time, and the last place in the order of changes', () => {
    const some = catalogue();
    const before = some.product(7);
    const wallMs = Date.UTC(2026, 5, 1, 12, 0, 0, 999);
    some.touch(7, wallMs);
    const after = some.product(7);
    expect([before.version, after.version]).toEqual([1, 2]);
    expect(after.price.amount).toBeCloseTo(before.price.amount + 1, 10);
    expect(after.updatedAt).toBe('2026-06-01T12:00:00.000Z');
    expect(some.idsByUpdate().at(-1)).toBe(7);
    expect({ ...after, version: 1, price: before.price, updatedAt: before.updatedAt }).toEqual(before);
  });
});
