import { expect } from 'vitest';
import type { PracticeApiOptions } from '../../src/practice-api/options.ts';
import type { Played } from './play-crawl.ts';

/** How an example of the practice API is run, and what must come of it. */
export type Expectation = {
  practice?: Partial<PracticeApiOptions>;
  env?: Record<string, string>;
  /** Ids of the products that must be there; all when left out. */
  check?: (played: Played, items: number) => void;
};

export const ITEMS = 130;

const ids = (played: Played, dataset: string) =>
  (played.records[dataset] ?? []).map(({ id }) => Number(id)).toSorted((a, b) => a - b);

/** Every product the server has, once each. */
export function allProducts(played: Played, items: number): void {
  expect(played.failures).toEqual([]);
  expect(ids(played, 'products')).toEqual(Array.from({ length: items }, (_, at) => at + 1));
}

const TOKEN = { PRACTICE_TOKEN: 'practice-token' };
const KEY = { PRACTICE_KEY: 'practice-key' };
const SECRET = { PRACTICE_SECRET: 'practice-secret' };

const isDiscounted = (record: unknown) =>
  (record as { price: { discountPercent: number | null } }).price.discountPercent !== null;

/** By example. Those of public APIs are in public-apis.test.ts. */
export const PRACTICE_EXAMPLES: Record<string, Expectation> = {
  'api-sessions/sticky': {
    check(played, items) {
      allProducts(played, items);
      expect(ids(played, 'numbered')).toEqual(Array.from({ length: items }, (_, at) => at + 1));
    },
  },
  'api-paginators/auto': {},
  'api-paginators/header-link': {},
  'api-paginators/json-link': {},
  'api-paginators/cursor': {},
  'api-paginators/cursor-in-body': {},
  'api-paginators/cursor-in-header': {},
  'api-paginators/header-cursor': {},
  'api-paginators/offset': {},
  'api-paginators/page-number': {},
  'api-paginators/graphql-relay': {},
  'api-paginators/code': {},
  'api-paginators/single-page': {
    check: (played) => expect(ids(played, 'products')).toEqual([1]),
  },
  'api-auth/bearer': { env: TOKEN },
  'api-auth/api-key-header': { env: KEY },
  'api-auth/api-key-query': { env: KEY },
  'api-auth/api-key-cookie': { env: KEY },
  'api-auth/http-basic': {},
  'api-auth/oauth2-client-credentials': { env: SECRET },
  'api-auth/oauth2-refresh-token': { env: SECRET },
  'api-auth/custom': { env: TOKEN },
  'api-response-actions/ignore': {
    check: (played) => expect(played).toMatchObject({ records: {}, failures: [], skipped: {} }),
  },
  'api-response-actions/skip': {
    check: (played) => expect(played).toMatchObject({ records: {}, failures: [], skipped: { gone: 1 } }),
  },
  'api-response-actions/fail': {
    check: (played) =>
      expect(played.failures).toMatchObject([{ code: 'RESPONSE_ACTION', message: 'the query was refused' }]),
  },
  'api-response-actions/retry': { practice: { errorRate: 0.5 } },
  'api-response-actions/rate-limited': {
    practice: { rateLimit: 40, rateLimitWindowMs: 50 },
    check(played, items) {
      allProducts(played, items);
      expect(played.limited).toBeGreaterThan(0);
    },
  },
  'api-response-actions/refresh-token-then-retry': {
    env: SECRET,
    practice: { tokenLifetimeSecs: 0.02, latencyMs: 8 },
  },
  'api-response-actions/reset-pagination': {},
  'api-contracts/quarantine': {
    check(played, items) {
      expect(played.invalid.length).toBeGreaterThan(0);
      expect(played.invalid.every(({ record }) => isDiscounted(record))).toBe(true);
      expect(played.invalid[0]!.issues).toEqual(['price.discountPercent: must be null']);
      expect(played.records.products!.length + played.invalid.length).toBe(items);
    },
  },
  'api-contracts/evolve': {
    check(played, items) {
      allProducts(played, items);
      expect(played.finished[0]!.records.drifted).toBe(played.records.products!.filter(isDiscounted).length);
    },
  },
  'api-contracts/freeze': {
    check: (played) => expect(played.failures).toMatchObject([{ code: 'SCHEMA_FROZEN' }]),
  },
  'api-contracts/discard-row': {
    check(played, items) {
      expect(played.records.products!.some(isDiscounted)).toBe(false);
      expect(played.records.products!.length + played.finished[0]!.records.discarded).toBe(items);
    },
  },
  'api-contracts/discard-value': {
    check(played, items) {
      allProducts(played, items);
      expect(played.finished[0]!.records.drifted).toBeGreaterThan(0);
      expect(JSON.stringify(played.records)).not.toMatch(/"discountPercent":\d/);
    },
  },
  'api-parents/products-with-reviews': {
    check(played, items) {
      allProducts(played, items);
      const products = played.records.products! as { id: number; name: string; reviewCount: number }[];
      const expected = products.reduce((sum, { reviewCount }) => sum + reviewCount, 0);
      expect(played.records.reviews).toHaveLength(expected);
      const names = new Map(products.map(({ id, name }) => [id, name]));
      expect(
        played.records.reviews!.every((review) => review._products_name === names.get(Number(review.productId))),
      ).toBe(true);
      expect(
        played.finished.map(({ completeness }) => [completeness.declared, completeness.fetched, completeness.gaps]),
      ).toEqual([
        [items, items, 0],
        [null, items, 0],
        [expected, expected, 0],
      ]);
    },
  },
  'api-incremental/changed-products': {},
};
