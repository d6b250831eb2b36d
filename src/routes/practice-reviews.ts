import { z } from 'zod';
import { defineRoute } from './define-route.ts';

const reviewSchema = z.looseObject({
  id: z.int(),
  productId: z.int(),
  author: z.string(),
  stars: z.int().min(1).max(5),
  title: z.string().nullable(),
  text: z.string(),
  writtenAt: z.iso.datetime(),
});

/** A page of one product's reviews: records that carry the product's name along. */
export const practiceReviews = defineRoute({
  label: 'practice-reviews',
  userData: z.object({ productName: z.string() }),
  // The items are checked one by one as records, below: one that is odd does not cost the whole page.
  response: z.object({ items: z.array(z.looseObject({})), page: z.int(), totalPages: z.int() }),
  record: reviewSchema,
  dataset: 'reviews',

  extract: ({ body, userData }) => ({
    records: body.items.map((review) => ({ ...review, productName: userData.productName })),
    requests: body.page < body.totalPages ? [{ url: `?page=${body.page + 1}`, userData }] : [],
  }),
});
