import type { FastifyInstance } from 'fastify';
import { PRACTICE_CREDENTIALS } from './options.ts';

const FRONT_PAGE = {
  about: 'The practice API of millrace: made-up products to try a crawl on. Nothing here is real.',
  paths: {
    'GET /products?limit&cursor': 'products by cursor: items, next',
    'GET /pages/products?page&per_page': 'by page number: items, totalPages, total',
    'GET /offset/products?offset&limit': 'by offset: results, total',
    'GET /link/products?page&per_page': 'a bare list, next page in the Link header (RFC 8288)',
    'GET /next-url/products?offset&limit': 'results and the next URL',
    'GET /header-cursor/products?limit&cursor': 'a bare list, next cursor in the header x-next-cursor',
    'POST /search/products {limit, page: {cursor}}': 'by cursor in the body, or in the header x-cursor',
    'GET /incremental/products?updated_since&limit&cursor': 'changed since, the longest unchanged first',
    'GET /products/{id}': 'one product in full, with ETag and Last-Modified',
    'GET /products/{id}/reviews?page&per_page': 'its reviews, by page number',
    'GET /auth/{bearer,basic,oauth,api-key-header,api-key-query,api-key-cookie}/products':
      'products by cursor, for those who say who they are (x-api-key, ?api_key, cookie api_key)',
    'POST /oauth/token': 'access tokens: grant_type client_credentials or refresh_token',
    'POST /graphql': 'products(first: $first, after: $after), relay cursors',
    'GET /admin/report': 'forbidden by robots.txt, and served all the same',
    'GET /__stats': 'what was served so far',
    'POST /__touch {ids}': 'change products',
  },
  credentials: PRACTICE_CREDENTIALS,
};

const ROBOTS_TXT = `# The practice API: everything may be crawled but /admin/.
User-agent: *
Disallow: /admin/
`;

/** `/`, which lists what there is, `/robots.txt`, and a page that it forbids. */
export function addFrontPage(app: FastifyInstance): void {
  app.get('/', () => FRONT_PAGE);
  app.get('/robots.txt', (_, reply) => reply.type('text/plain; charset=utf-8').send(ROBOTS_TXT));
  app.get('/admin/report', () => ({ note: 'Whoever reads this does not read robots.txt' }));
}
