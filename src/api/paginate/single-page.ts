import { completeTotal } from './detect.ts';
import { done, type Paginator } from './paginator.ts';

/** One page, no more. A total beyond what came declares nothing: who names this paginator says that these are all. */
export const singlePagePaginator: Paginator = {
  first: (request) => ({ request, state: {} }),
  next: () => done('a single page'),
  total: (response) => completeTotal(response),
};
