import { messageOf } from '../../core/errors.ts';
import { ApiError } from '../api-error.ts';
import { scalarText } from '../json-value.ts';
import { done, follow, type PageRequest, type PageResponse, type PageState, type Paginator } from './paginator.ts';

/**
 * A paginator written in code: `export const paginator = (options) => ({ first, next })`. Both are pure; the state is
 * JSON and travels with the next request. `next` returns null at the end.
 */
export type CodePaginator = {
  first?(request: PageRequest): { request: PageRequest; state?: PageState };
  next(
    state: PageState,
    response: PageResponse,
    request: PageRequest,
  ): { request: PageRequest; state?: PageState; cursor?: string } | null;
};

export type CodePaginatorFactory = (options: Record<string, unknown>) => CodePaginator;

/** @param name shown in messages: the module */
export function codePaginator(own: CodePaginator, name: string): Paginator {
  return {
    first(request) {
      const page = guarded(name, () => own.first?.(request) ?? { request });
      return { request: page.request, state: page.state ?? {} };
    },
    next(state, response, request) {
      const page = guarded(name, () => own.next(state, response, request));
      if (page === null) return done(`${name} says so`);
      const cursor = scalarText(page.cursor) ?? JSON.stringify(page);
      return follow({ request: page.request, state: page.state ?? {} }, cursor);
    },
    total: () => null,
  };
}

function guarded<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new ApiError({ code: 'PAGINATOR_FAILED', message: `${name} threw: ${messageOf(error)}` }, { cause: error });
  }
}
