/**
 * A template for one API: a list page and the pages it leads to. To use it:
 * 1. copy it to a file of your API's name (src/routes/acme.ts), and replace what is in CAPITALS or says example;
 * 2. list its routes in src/routes/index.ts;
 * 3. `npm start`.
 * Nothing here sends, waits, retries or stores: that is done for you. A route only says what a response looks like and
 * what is in it.
 */
import { z } from 'zod';
import { defineRoute } from './define-route.ts';

// What a response looks like. z.object drops fields that are not named, z.looseObject keeps them.
const listSchema = z.object({
  items: z.array(z.object({ id: z.int() })),
  next: z.string().nullable(),
});

const itemSchema = z.looseObject({
  id: z.int(),
  name: z.string(),
});

/** The list page. */
export const exampleList = defineRoute({
  // Unique among all routes. It is what follow-up requests, logs and failures call this route by.
  label: 'EXAMPLE-LIST',

  // Where a crawl begins; any number of them, also an async generator. A route that is only followed up has no seeds.
  // Each may have a method, payload, headers and userData of its own.
  seeds: () => [{ url: 'https://api.example.com/items?limit=100' }],

  // A body that does not fit goes to dataset `invalid` with the reasons, and the crawl goes on.
  response: listSchema,

  // A pure function from one page to what it holds. `page` has url, status, headers, body and userData.
  extract: (page) => {
    const items = page.body.items.map(({ id }) => ({
      // Relative URLs are resolved against the page's own. The same URL twice is fetched once.
      url: `/items/${id}`,
      // The route that handles it; left out, it is this one.
      label: 'EXAMPLE-ITEM',
      // Anything the next route should know. It must be JSON.
      userData: { foundOn: page.url },
    }));
    const nextPage = page.body.next === null ? [] : [{ url: page.body.next }];
    return { requests: [...nextPage, ...items] };
  },
});

/** One item. */
export const exampleItem = defineRoute({
  label: 'EXAMPLE-ITEM',

  // What requests of this route must carry; checked when one is added.
  userData: z.object({ foundOn: z.url() }),

  // `response` checks a body as a whole. For a page of many records leave it wide and give `record: itemSchema`
  // instead: then each record is checked by itself, and one that is odd does not cost the others.
  response: itemSchema,

  // Files are named after it: exports/EXAMPLE-ITEMS.csv. `default` when left out.
  dataset: 'EXAMPLE-ITEMS',

  // Records for further datasets go into `recordsByDataset: { name: [...] }`.
  extract: ({ body, userData }) => ({ records: [{ ...body, foundOn: userData.foundOn }] }),
});
