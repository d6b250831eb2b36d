import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkApi } from '../../src/api/check-api.ts';
import { draftFromOpenApi } from '../../src/api/init/openapi-api.ts';
import { guessPrimaryKey, resourceNameOf, singularOf } from '../../src/api/init/primary-key.ts';
import { draftFromResponse } from '../../src/api/init/probe-api.ts';
import { writeDraft } from '../../src/api/init/write-draft.ts';
import { inputSchema } from '../../src/config/input-schema.ts';
import { startPracticeApi } from '../../src/practice-api/start-practice-api.ts';
import { playCrawl } from './play-crawl.ts';

const integer = { type: 'integer' };
const json = (schema: object, headers = {}) => ({ 200: { headers, content: { 'application/json': { schema } } } });
const list = (ref: string) => ({ type: 'array', items: { $ref: `#/components/schemas/${ref}` } });
const query = (name: string, rest: object = {}) => ({ name, in: 'query', schema: { type: 'string' }, ...rest });

const openapi = {
  openapi: '3.1.0',
  servers: [{ url: 'https://{region}.api.test/v1', variables: { region: { default: 'eu' } } }],
  security: [{ key: [] }],
  components: {
    securitySchemes: { key: { type: 'apiKey', name: 'X-Key', in: 'header' } },
    parameters: { limit: { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 250 } } },
    schemas: {
      Base: { type: 'object', properties: { id: integer } },
      Shop: { allOf: [{ $ref: '#/components/schemas/Base' }, { properties: { slug: { type: 'string' } } }] },
      Order: { type: 'object', properties: { order_id: integer, at: { type: 'string' } } },
      Loop: { $ref: '#/components/schemas/Loop' },
    },
  },
  paths: {
    '/shops': {
      parameters: [{ $ref: '#/components/parameters/limit' }],
      get: {
        parameters: [query('offset')],
        responses: json({ type: 'object', properties: { total: integer, shops: list('Shop') } }),
      },
    },
    '/shops/{shopId}': { get: { responses: json({ $ref: '#/components/schemas/Shop' }) } },
    '/shops/{slug}/orders': {
      get: {
        parameters: [
          query('cursor'),
          query('since', { required: true }),
          query('sort', { required: true, schema: { enum: ['asc'] } }),
        ],
        responses: json({
          type: 'object',
          properties: {
            data: list('Order'),
            meta: { type: 'object', properties: { next_cursor: { type: 'string' } } },
          },
        }),
      },
    },
    '/orders': {
      get: { responses: json(list('Order'), { Link: {} }) },
      post: { responses: json({}) },
    },
    '/accounts/{accountId}/events': {
      get: {
        parameters: [query('page')],
        responses: json({ properties: { items: list('Base'), total_pages: integer } }),
      },
    },
    '/old': { get: { deprecated: true, responses: json(list('Base')) } },
    '/loop': { get: { responses: json({ $ref: '#/components/schemas/Loop' }) } },
    '/text': { get: { responses: { 200: { content: { 'text/plain': {} } } } } },
  },
};

function paginated(extension: object, parameters: object[] = []) {
  const operation = { ...extension, parameters, responses: json({ properties: { data: list('Base') } }) };
  const { api } = draftFromOpenApi({ ...openapi, paths: { '/x': { get: operation } } }, null);
  return api.resources[0]!.endpoint.paginator;
}

describe('an OpenAPI document', () => {
  const draft = draftFromOpenApi(openapi, null);

  test('becomes an api: lists as resources, hung below those their parameters come from', () => {
    expect(draft.api).toEqual({
      baseUrl: 'https://eu.api.test/v1',
      auth: { type: 'apiKey', name: 'X-Key', value: '${env:API_KEY}', location: 'header' },
      resources: [
        {
          name: 'shops',
          primaryKey: 'id',
          endpoint: {
            path: '/shops',
            dataSelector: '$.shops[*]',
            paginator: { type: 'offset', limit: 250, offsetParam: 'offset', limitParam: 'limit', totalPath: '$.total' },
          },
        },
        {
          name: 'shops_orders',
          primaryKey: 'order_id',
          endpoint: {
            path: '/shops/{resources.shops.slug}/orders',
            params: { since: '${env:SINCE}', sort: 'asc' },
            dataSelector: '$.data[*]',
            paginator: { type: 'cursor', cursorPath: '$.meta.next_cursor', cursorParam: 'cursor' },
          },
        },
        {
          name: 'orders',
          primaryKey: 'order_id',
          endpoint: { path: '/orders', dataSelector: '$[*]', paginator: { type: 'headerLink' } },
        },
        {
          name: 'events',
          primaryKey: 'id',
          endpoint: {
            path: '/accounts/${env:ACCOUNT_ID}/events',
            dataSelector: '$.items[*]',
            paginator: { type: 'pageNumber', pageParam: 'page', totalPagesPath: '$.total_pages' },
          },
        },
      ],
    });
  });

  test('says what it was told by, and what it left out', () => {
    expect(draft.notes).toEqual([
      'Auth: key (apiKey); set the environment variables it names',
      'shops: pages by offset (?offset=)',
      'shops_orders: pages by cursor (?cursor= and meta.next_cursor)',
      'orders: pages by headerLink (the response has a Link header)',
      'events: pages by pageNumber (?page=)',
      'Left out: /shops/{shopId} (gives one record), /old (deprecated), /loop (gives one record), /text (gives no JSON)',
    ]);
  });

  test('is written as YAML that is valid, with its notes and the schema for editors', () => {
    const text = writeDraft(draft, { source: 'openapi.yaml', schemaPath: './docs/millrace.schema.json' });
    expect(text).toContain('# yaml-language-server: $schema=./docs/millrace.schema.json\n# Made from openapi.yaml');
    expect(text).toContain('# shops: pages by offset (?offset=)\n');
    const { api } = inputSchema.parse(parse(text));
    expect(checkApi(api!, { env: () => 'set', file: () => undefined })).toEqual([]);
  });

  test.each([
    [
      {
        'x-speakeasy-pagination': {
          type: 'cursor',
          inputs: [{ name: 'c', in: 'parameters', type: 'cursor' }],
          outputs: { nextCursor: '$.meta.next' },
        },
      },
      { type: 'cursor', cursorPath: '$.meta.next', cursorParam: 'c' },
    ],
    [
      {
        'x-speakeasy-pagination': {
          type: 'cursor',
          inputs: [{ name: 'c', in: 'requestBody', type: 'cursor' }],
          outputs: { nextCursor: '$.next' },
        },
      },
      { type: 'cursor', cursorPath: '$.next', cursorBodyPath: 'c' },
    ],
    [
      { 'x-speakeasy-pagination': { type: 'url', outputs: { nextUrl: '$.next' } } },
      { type: 'jsonLink', nextUrlPath: '$.next' },
    ],
    [
      {
        'x-speakeasy-pagination': {
          type: 'offsetLimit',
          inputs: [{ name: 'p', type: 'page' }],
          outputs: { numPages: '$.n' },
        },
      },
      { type: 'pageNumber', pageParam: 'p', totalPagesPath: '$.n' },
    ],
    [
      {
        'x-speakeasy-pagination': {
          type: 'offsetLimit',
          inputs: [
            { name: 'o', type: 'offset' },
            { name: 'l', type: 'limit' },
          ],
        },
      },
      { type: 'offset', limit: 100, offsetParam: 'o', limitParam: 'l' },
    ],
    [
      {
        'x-fern-pagination': {
          cursor: '$request.cursor',
          next_cursor: '$response.next_cursor',
          results: '$response.data',
        },
      },
      { type: 'cursor', cursorPath: '$.next_cursor', cursorParam: 'cursor' },
    ],
    [
      { 'x-fern-pagination': { next_uri: '$response.next', results: '$response.data' } },
      { type: 'jsonLink', nextUrlPath: '$.next' },
    ],
    [
      { 'x-fern-pagination': { offset: '$request.page', results: '$response.data' } },
      { type: 'pageNumber', pageParam: 'page' },
    ],
    [{ 'x-ms-pageable': { nextLinkName: 'nextLink' } }, { type: 'jsonLink', nextUrlPath: '$.nextLink' }],
    [
      { 'x-ms-pageable': { nextLinkName: '@odata.nextLink' } },
      { type: 'jsonLink', nextUrlPath: "$['@odata.nextLink']" },
    ],
    [{ 'x-ms-pageable': { nextLinkName: null } }, { type: 'singlePage' }],
    [{}, { type: 'auto' }],
  ])('has its pagination hints followed: %j', (extension, paginator) => {
    expect(paginated(extension)).toEqual(paginator);
  });

  test.each([
    [
      { type: 'http', scheme: 'bearer' },
      { type: 'bearer', token: '${env:API_TOKEN}' },
    ],
    [
      { type: 'http', scheme: 'Basic' },
      { type: 'httpBasic', username: '${env:API_USER}', password: '${env:API_PASSWORD}' },
    ],
    [
      { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.test/t' } } },
      {
        type: 'oauth2ClientCredentials',
        tokenUrl: 'https://a.test/t',
        clientId: '${env:CLIENT_ID}',
        clientSecret: '${env:CLIENT_SECRET}',
      },
    ],
    [
      { type: 'oauth2', flows: { authorizationCode: { tokenUrl: '/t', refreshUrl: '/r' } } },
      {
        type: 'oauth2RefreshToken',
        tokenUrl: '/r',
        clientId: '${env:CLIENT_ID}',
        clientSecret: '${env:CLIENT_SECRET}',
        refreshToken: '${env:REFRESH_TOKEN}',
      },
    ],
    [{ type: 'mutualTLS' }, undefined],
  ])('has its security taken over: %j', (scheme, auth) => {
    const components = { ...openapi.components, securitySchemes: { s: scheme } };
    expect(draftFromOpenApi({ ...openapi, components, security: [{ s: [] }] }, null).api.auth).toEqual(auth);
  });

  test.each([
    ['https://docs.test/openapi.json', '/v2', 'https://docs.test/v2'],
    [null, '/v2', '${env:API_URL}'],
    [null, 'https://a.test/', 'https://a.test'],
  ])('found at %s with server %s has base %s', (foundAt, url, baseUrl) => {
    expect(draftFromOpenApi({ ...openapi, servers: [{ url }] }, foundAt).api.baseUrl).toBe(baseUrl);
  });

  test.each([
    [{ swagger: '2.0' }, 'it is Swagger 2.0: convert it to OpenAPI 3 first'],
    [{}, 'it has no openapi: 3.x'],
    ['text', 'its root is no object'],
    [{ openapi: '3.0.0', paths: {} }, 'none of its GET operations gives a list'],
  ])('that is none is refused: %j', (root, message) => {
    expect(() => draftFromOpenApi(root, null)).toThrow(message);
  });
});

describe('one URL', () => {
  test.each([
    '/products?limit=30',
    '/pages/products?per_page=30',
    '/offset/products?limit=30',
    '/next-url/products?limit=30',
    '/link/products?per_page=30',
    '/header-cursor/products?limit=30',
  ])('of the practice API becomes an api that fetches all of it: %s', async (path) => {
    const practice = await startPracticeApi({
      port: 0,
      items: 130,
      latencyMs: 0,
      errorRate: 0,
      rateLimit: null,
      seed: 1,
    });
    try {
      const response = await fetch(`${practice.url}${path}`);
      const { api } = draftFromResponse({
        url: response.url,
        headers: Object.fromEntries(response.headers),
        body: await response.json(),
      });
      const written = inputSchema.parse(parse(writeDraft({ api, notes: [] }, { source: 'x', schemaPath: 'y' })));
      const played = await playCrawl(written.api!);
      expect(played.records.products).toHaveLength(130);
      expect(api.resources[0]!.primaryKey).toBe('id');
    } finally {
      await practice.close();
    }
  });
});

test('one URL whose total is beyond what came says that its paging was not found out', () => {
  const body = { data: { rows: [{ id: 1 }, { id: 2 }], total: 20 } };
  const { notes } = draftFromResponse({ url: 'https://api.test/things', headers: {}, body });
  expect(notes).toContain(
    'Pages: NOT FOUND OUT: $.data.total says 20, and 2 came. Put in the paginator that the API documents',
  );
});

test('one URL whose total came whole says so', () => {
  const body = { total: 2, items: [{ id: 1 }, { id: 2 }] };
  const { notes } = draftFromResponse({ url: 'https://api.test/things', headers: {}, body });
  expect(notes).toContain('Pages: singlePage ($.total says 2, and all came)');
});

describe('names', () => {
  test.each([
    ['/v1/order-items', 'order_items'],
    ['/api/v2.1/products.json', 'products'],
    ['/', 'records'],
    ['/users/{id}', 'users'],
    ['/2fa', '_2fa'],
  ])('%s is %s', (path, name) => {
    expect(resourceNameOf(path)).toBe(name);
  });

  test.each([
    ['products', 'product'],
    ['categories', 'category'],
    ['address', 'address'],
    ['status', 'status'],
  ])('one of %s is a %s', (plural, singular) => {
    expect(singularOf(plural)).toBe(singular);
  });

  test.each([
    [[{ id: 1 }, { id: 2 }], 'id'],
    [
      [
        { id: 1, uuid: 'a' },
        { id: 1, uuid: 'b' },
      ],
      'uuid',
    ],
    [[{ product_id: 1 }, { product_id: 2 }], 'product_id'],
    [[{ id: null }, { id: 2 }], null],
    [[1, 2], null],
    [[], null],
  ])('the key of %j is %s', (records, key) => {
    expect(guessPrimaryKey(records, 'product')).toBe(key);
  });
});
