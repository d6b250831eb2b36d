import type { PaginatedList } from '@crawlee/types';

/** What Crawlee's list methods return: awaited it is the first page, iterated it is everything. */
export type IterablePromise<Page, Item> = Promise<Page> & AsyncIterable<Item>;

export type PageRange = { offset: number; limit: number };

/**
 * @param page    begins at once, as Crawlee's own storages do
 * @param iterate called when somebody iterates, with the first page
 */
export function iterablePromise<Page, Item>(
  page: Promise<Page>,
  iterate: (first: Page) => AsyncGenerator<Item>,
): IterablePromise<Page, Item> {
  const iterator = async function* (): AsyncGenerator<Item> {
    yield* iterate(await page);
  };
  return Object.assign(page, { [Symbol.asyncIterator]: iterator });
}

/** As `iterablePromise`, but nothing is fetched before it is awaited; iterating fetches piece by piece only. */
export function lazyIterablePromise<Page, Item>(
  fetch: () => Promise<Page>,
  iterate: () => AsyncGenerator<Item>,
): IterablePromise<Page, Item> {
  let fetched: Promise<Page> | null = null;
  const page = (): Promise<Page> => {
    fetched ??= fetch();
    return fetched;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: a promise that begins late is a thenable
    then: (onFulfilled, onRejected) => page().then(onFulfilled, onRejected),
    catch: (onRejected) => page().catch(onRejected),
    finally: (onFinally) => page().finally(onFinally),
    [Symbol.asyncIterator]: iterate,
    [Symbol.toStringTag]: 'Promise',
  };
}

/** Pages by offset, as datasets have them. */
export function offsetPages<Item>(
  getPage: (range: PageRange) => Promise<PaginatedList<Item>>,
  { offset = 0, limit = Number.POSITIVE_INFINITY }: Partial<PageRange>,
): IterablePromise<PaginatedList<Item>, Item> {
  return iterablePromise(getPage({ offset, limit }), async function* (first) {
    let page = first;
    let seen = 0;
    while (page.items.length > 0) {
      yield* page.items;
      seen += page.items.length;
      if (seen >= limit || offset + seen >= page.total) return;
      page = await getPage({ offset: offset + seen, limit: limit - seen });
    }
  });
}
