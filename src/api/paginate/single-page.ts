import { done, type Paginator } from './paginator.ts';

/** One page, no more. */
export const singlePagePaginator: Paginator = {
  first: (request) => ({ request, state: {} }),
  next: () => done('a single page'),
  total: () => null,
};
