import type { FastifyInstance } from 'fastify';
import { ApiError, sendJson } from './answers.ts';
import type { Catalogue } from './catalogue.ts';
import { type Query, readPage, readPageSize } from './paging.ts';
import { queryOf } from './product-lists.ts';
import type { NumberedPage, Review } from './types.ts';

const REVIEWS_PER_PAGE = 10;

/** One product in full, and its reviews. */
export function addProductDetails(app: FastifyInstance, catalogue: Catalogue): void {
  app.get<{ Params: { id: string } }>('/products/:id', (request, reply) => {
    const id = existingId(catalogue, request.params.id);
    return sendJson({ request, reply }, catalogue.product(id), catalogue.updatedAtMs(id));
  });
  app.get<{ Params: { id: string } }>('/products/:id/reviews', (request, reply) => {
    const id = existingId(catalogue, request.params.id);
    return sendJson({ request, reply }, reviewPage(catalogue, id, queryOf(request)));
  });
}

/** `?page&per_page`. */
export function reviewPage(catalogue: Catalogue, productId: number, query: Query): NumberedPage<Review> {
  const perPage = readPageSize(query, 'per_page', REVIEWS_PER_PAGE);
  const page = readPage(query);
  const total = catalogue.reviewCount(productId);
  const first = (page - 1) * perPage;
  const count = Math.max(0, Math.min(perPage, total - first));
  const items = Array.from({ length: count }, (_, index) => catalogue.review(productId, first + index));
  return { items, page, perPage, totalPages: Math.ceil(total / perPage), total };
}

function existingId(catalogue: Catalogue, text: string): number {
  const id = Number(text);
  if (catalogue.has(id)) return id;
  throw new ApiError({ status: 404, code: 'not_found', message: `There is no product ${text}` });
}
