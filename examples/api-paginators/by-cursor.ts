import { type CodePaginatorFactory, withParam } from '../../src/api/custom-code.ts';

/** Follows `next` of the body; the state is not needed here. */
export const paginator: CodePaginatorFactory = ({ param }) => ({
  next(_state, response, request) {
    const { next } = response.body as { next: string | null };
    if (next === null) return null;
    return { request: { ...request, url: withParam(request.url, String(param), next) }, cursor: next };
  },
});
