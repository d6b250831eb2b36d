import { z } from 'zod';
import { defineRoute } from './define-route.ts';
import { exactNumber } from './exact-number.ts';

// looseObject keeps what the API sends beyond the fields named here; z.object would drop it.
const productSchema = z.looseObject({
  id: z.int(),
  name: z.string(),
  price: z.looseObject({ amount: z.number(), currency: z.string().length(3), discountPercent: z.number().nullable() }),
  updatedAt: z.iso.datetime(),
  // Beyond 2^53, where a plain number would lose digits.
  ledgerId: exactNumber(),
  dimensions: z.looseObject({ widthMm: z.number(), heightMm: z.number(), depthMm: z.number() }).nullable(),
  tags: z.array(z.string()),
  reviewCount: z.int().min(0),
});

/** One product of the practice API: a record, and a way on to its reviews. */
export const practiceProduct = defineRoute({
  label: 'practice-product',
  response: productSchema,
  dataset: 'products',

  extract: ({ body }) => ({ records: [body], requests: reviewsOf(body) }),
});

function reviewsOf({ id, name, reviewCount }: z.output<typeof productSchema>) {
  if (reviewCount === 0) return [];
  return [{ url: `/products/${id}/reviews`, label: 'practice-reviews', userData: { productName: name } }];
}
