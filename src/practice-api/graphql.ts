import type { FastifyInstance } from 'fastify';
import type { Catalogue } from './catalogue.ts';
import { type Query, readCursor, readPageSize, writeCursor } from './paging.ts';
import type { ProductSummary, RelayPage } from './types.ts';

/**
 * `POST /graphql`: enough of GraphQL to page through `products(first: $first, after: $after)` by relay cursors.
 * Selections are not looked at: nodes come whole. A query for anything else is answered as GraphQL does, with 200
 * and `errors`.
 */
export function addGraphql(app: FastifyInstance, catalogue: Catalogue): void {
  app.post('/graphql', (request) => {
    const { query, variables } = (request.body ?? {}) as { query?: unknown; variables?: Record<string, unknown> };
    if (typeof query !== 'string' || !/\bproducts\b/.test(query))
      return { data: null, errors: [{ message: 'Only the field "products" can be queried here', path: [] }] };
    return { data: { products: relayPage(catalogue, variables ?? {}) } };
  });
}

function relayPage(catalogue: Catalogue, variables: Record<string, unknown>): RelayPage<ProductSummary> {
  const first = readPageSize(textual(variables), 'first');
  const [after] = readCursor(variables.after, 1) ?? [0];
  const nodes = catalogue.summaries((after as number) + 1, first);
  const edges = nodes.map((node) => ({ cursor: writeCursor(node.id), node }));
  const endCursor = edges.at(-1)?.cursor ?? null;
  const hasNextPage = (nodes.at(-1)?.id ?? catalogue.items) < catalogue.items;
  return { edges, pageInfo: { hasNextPage, endCursor }, totalCount: catalogue.items };
}

function textual({ first }: Record<string, unknown>): Query {
  return { first: first === undefined || first === null ? undefined : String(first) };
}
