import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendJson } from './answers.ts';
import type { Catalogue } from './catalogue.ts';
import {
  badParameter,
  linkHeader,
  type Query,
  readCursor,
  readInteger,
  readPage,
  readPageSize,
  withQuery,
  writeCursor,
} from './paging.ts';
import type { CursorPage, NextUrlPage, NumberedPage, OffsetPage, ProductSummary } from './types.ts';

type Products = Pick<Catalogue, 'items' | 'summary' | 'summaries'>;

/** One list of all products, in every style of pagination, each at its own path. */
export function addProductLists(app: FastifyInstance, catalogue: Catalogue): void {
  app.get('/products', (request, reply) => sendJson({ request, reply }, cursorPage(catalogue, queryOf(request))));
  app.get('/pages/products', (request, reply) =>
    sendJson({ request, reply }, numberedPage(catalogue, queryOf(request))),
  );
  app.get('/offset/products', (request, reply) =>
    sendJson({ request, reply }, offsetPage(catalogue, queryOf(request))),
  );
  app.get('/next-url/products', (request, reply) => sendJson({ request, reply }, nextUrlPage(catalogue, request)));
  app.get('/incremental/products', (request, reply) =>
    sendJson({ request, reply }, changedPage(catalogue, queryOf(request))),
  );
  app.get('/header-cursor/products', (request, reply) => {
    const { items, next } = cursorPage(catalogue, queryOf(request));
    if (next !== null) reply.header('x-next-cursor', next);
    return sendJson({ request, reply }, items);
  });
  app.post('/search/products', (request, reply) => sendJson({ request, reply }, searchPage(catalogue, request)));
  app.get('/link/products', (request, reply) => {
    const { items, link } = linkedPage(catalogue, request);
    reply.header('link', link).header('x-total-count', catalogue.items);
    return sendJson({ request, reply }, items);
  });
}

/** @returns the request's query parameters */
export function queryOf(request: FastifyRequest): Query {
  return request.query as Query;
}

/** @returns the URL as the client wrote it, absolute */
export function absoluteUrl(request: FastifyRequest): string {
  return new URL(request.url, `${request.protocol}://${request.host}`).href;
}

/** `?limit&cursor`: the last page has `next` null. */
export function cursorPage(products: Products, query: Query): CursorPage<ProductSummary> {
  const limit = readPageSize(query, 'limit');
  const [after] = readCursor(query.cursor, 1) ?? [0];
  const first = (after as number) + 1;
  const isLast = first + limit > products.items;
  return { items: products.summaries(first, limit), next: isLast ? null : writeCursor(first + limit - 1) };
}

/** A JSON body {limit, page: {cursor}}, or the cursor in the header x-cursor. */
function searchPage(products: Products, request: FastifyRequest): CursorPage<ProductSummary> {
  const { limit, page } = (request.body ?? {}) as { limit?: number; page?: { cursor?: string } };
  const cursor = page?.cursor ?? request.headers['x-cursor'];
  return cursorPage(products, {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(cursor === undefined ? {} : { cursor }),
  });
}

/** `?page&per_page`: states how many pages there are; a page beyond the last is empty. */
export function numberedPage(products: Products, query: Query): NumberedPage<ProductSummary> {
  const perPage = readPageSize(query, 'per_page');
  const page = readPage(query);
  return {
    items: products.summaries((page - 1) * perPage + 1, perPage),
    page,
    perPage,
    totalPages: Math.ceil(products.items / perPage),
    total: products.items,
  };
}

/** `?offset&limit`: states the total. */
export function offsetPage(products: Products, query: Query): OffsetPage<ProductSummary> {
  const limit = readPageSize(query, 'limit');
  const offset = readOffset(query);
  return { results: products.summaries(offset + 1, limit), offset, limit, total: products.items };
}

function nextUrlPage(products: Products, request: FastifyRequest): NextUrlPage<ProductSummary> {
  const { results, offset, limit, total } = offsetPage(products, queryOf(request));
  const at = (start: number): string => withQuery(absoluteUrl(request), { offset: start, limit });
  return {
    count: total,
    next: offset + limit < total ? at(offset + limit) : null,
    previous: offset > 0 ? at(Math.max(0, offset - limit)) : null,
    results,
  };
}

function linkedPage(products: Products, request: FastifyRequest): { items: ProductSummary[]; link: string } {
  const { items, page, totalPages } = numberedPage(products, queryOf(request));
  const at = (number: number): string => withQuery(absoluteUrl(request), { page: number });
  const link = linkHeader({
    first: at(1),
    prev: page > 1 ? at(page - 1) : null,
    next: page < totalPages ? at(page + 1) : null,
    last: at(Math.max(1, totalPages)),
  });
  return { items, link };
}

/** `?updated_since&limit&cursor`: what changed at or after that time, the longest unchanged first. */
export function changedPage(catalogue: Catalogue, query: Query): CursorPage<ProductSummary> {
  const limit = readPageSize(query, 'limit');
  const ids = catalogue.idsByUpdate();
  const [sinceMs, afterId] = readCursor(query.cursor, 2) ?? [readUpdatedSince(query), 0];
  const start = firstChanged(catalogue, { sinceMs: sinceMs as number, afterId: afterId as number });
  const page = ids.subarray(start, start + limit);
  const last = page.at(-1);
  const isLast = last === undefined || start + limit >= ids.length;
  return {
    items: Array.from(page, (id) => catalogue.summary(id)),
    next: isLast ? null : writeCursor(catalogue.updatedAtMs(last), last),
  };
}

/** @returns the index of the first product changed after (sinceMs, afterId), by bisection */
function firstChanged(catalogue: Catalogue, { sinceMs, afterId }: { sinceMs: number; afterId: number }): number {
  const ids = catalogue.idsByUpdate();
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const id = ids[middle] as number;
    const updatedMs = catalogue.updatedAtMs(id);
    if (updatedMs < sinceMs || (updatedMs === sinceMs && id <= afterId)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readUpdatedSince(query: Query): number {
  if (query.updated_since === undefined) return 0;
  const sinceMs = Date.parse(String(query.updated_since));
  if (Number.isNaN(sinceMs)) throw badParameter('updated_since', 'must be an ISO 8601 time');
  return Math.max(0, sinceMs);
}

function readOffset(query: Query): number {
  return readInteger(query, 'offset', { fallback: 0, least: 0, most: Number.MAX_SAFE_INTEGER });
}
