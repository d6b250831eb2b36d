import { z } from 'zod';
import { defineRoute } from './define-route.ts';

const responseSchema = z.object({
  items: z.array(z.object({ id: z.int() })),
  next: z.string().nullable(),
});

/** A page of the practice API's product list: nothing to keep, only where to go on. */
export const practiceProducts = defineRoute({
  label: 'practice-products',
  // A real API has its URL here: seeds: () => [{ url: 'https://api.example.com/products' }]
  seeds: ({ practiceApiUrl }) => (practiceApiUrl === null ? [] : [{ url: `${practiceApiUrl}/products` }]),
  response: responseSchema,

  extract: ({ body }) => {
    const details = body.items.map(({ id }) => ({ url: `/products/${id}`, label: 'practice-product' }));
    const nextPage = body.next === null ? [] : [{ url: `/products?cursor=${encodeURIComponent(body.next)}` }];
    return { requests: [...nextPage, ...details] };
  },
});
