import { describe, expect, test } from 'vitest';
import { practiceProduct } from '../../src/routes/practice-product.ts';
import { practiceProducts } from '../../src/routes/practice-products.ts';
import { practiceReviews } from '../../src/routes/practice-reviews.ts';
import { readFixture, runOnFixture } from './fixture.ts';

const API = 'http://127.0.0.1:8080';

describe('the list of products', () => {
  test('leads to the next page and to every product on this one, and keeps nothing', () => {
    const { records, invalid, requests } = runOnFixture(practiceProducts, 'products-first-page.json', {
      url: `${API}/products`,
    });
    expect(records).toEqual([]);
    expect(invalid).toEqual([]);
    expect(requests).toHaveLength(16);
    expect(requests[0]).toEqual({ url: `${API}/products?cursor=MTU`, label: 'practice-products' });
    expect(requests[1]).toEqual({ url: `${API}/products/1`, label: 'practice-product' });
    expect(requests[15]).toEqual({ url: `${API}/products/15`, label: 'practice-product' });
  });

  test('ends with the page that has no cursor', () => {
    const { requests } = runOnFixture(practiceProducts, 'products-last-page.json', {
      url: `${API}/products?cursor=MzA`,
    });
    expect(requests.map(({ label }) => label)).toEqual(Array(10).fill('practice-product'));
    expect(requests.at(-1)?.url).toBe(`${API}/products/40`);
  });

  test('begins at the practice API, and nowhere when there is none', () => {
    expect(practiceProducts.seeds?.({ practiceApiUrl: API })).toEqual([{ url: `${API}/products` }]);
    expect(practiceProducts.seeds?.({ practiceApiUrl: null })).toEqual([]);
  });
});

describe('a product', () => {
  test('becomes one record as the API sent it, with all digits, and leads to its reviews', () => {
    const body = readFixture('product-with-reviews.json') as { id: number; name: string; ledgerId: bigint };
    const result = runOnFixture(practiceProduct, 'product-with-reviews.json', { url: `${API}/products/${body.id}` });
    expect(body.ledgerId).toBe(9_007_199_254_740_993n + BigInt(body.id) * 2n);
    expect(result).toEqual({
      records: [{ dataset: 'products', record: body }],
      invalid: [],
      values: [],
      requests: [
        {
          url: `${API}/products/${body.id}/reviews`,
          label: 'practice-reviews',
          userData: { productName: body.name },
        },
      ],
    });
  });

  test('without reviews leads nowhere', () => {
    const { records, requests } = runOnFixture(practiceProduct, 'product-without-reviews.json', { url: API });
    expect(records).toHaveLength(1);
    expect(requests).toEqual([]);
  });
});

describe('a page of reviews', () => {
  const userData = { productName: 'Walnut Tray' };

  test('becomes one record a review, which names its product, and leads to the next page', () => {
    const url = `${API}/products/4/reviews`;
    const { records, invalid, requests } = runOnFixture(practiceReviews, 'reviews-first-page.json', { url, userData });
    expect(invalid).toEqual([]);
    expect(records).toHaveLength(10);
    for (const { dataset, record } of records) {
      expect(dataset).toBe('reviews');
      expect(record).toMatchObject({ productName: 'Walnut Tray', stars: expect.any(Number) });
    }
    expect(requests).toEqual([{ url: `${url}?page=2`, label: 'practice-reviews', userData }]);
  });

  test('leads nowhere when it is the last', () => {
    const url = `${API}/products/4/reviews?page=2`;
    const { records, requests } = runOnFixture(practiceReviews, 'reviews-last-page.json', { url, userData });
    expect(records.length).toBeGreaterThan(0);
    expect(requests).toEqual([]);
  });
});
