import { describe, expect, test } from 'vitest';
import { compileResponseActions } from '../../src/api/response-actions.ts';
import type { ApiDocument, ResponseActionRule } from '../../src/config/api-schema.ts';
import { type Answer, playCrawl } from './play-crawl.ts';

describe('the rule that applies', () => {
  const find = compileResponseActions([
    { statusCode: 404, action: 'ignore' },
    { statusCode: [400, 422], content: 'cursor expired', action: 'resetPagination' },
    { condition: '$.error.code', content: 'quota', action: 'rateLimited' },
    { condition: '$.warnings[?@.fatal == true]', action: 'fail' },
    { content: 'maintenance', action: 'retry' },
  ]);
  const action = (status: number, body: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return find({ status, text: () => text, body: () => body })?.action ?? null;
  };

  test.each([
    [404, {}, 'ignore'],
    [200, {}, null],
    [400, 'the cursor expired', 'resetPagination'],
    [422, 'the cursor expired', 'resetPagination'],
    [400, 'nope', null],
    [200, { error: { code: 7, message: 'quota' } }, 'rateLimited'],
    [200, { error: { code: 0, message: 'quota' } }, null],
    [200, { error: { code: 7 } }, null],
    [200, { warnings: [{ fatal: false }, { fatal: true }] }, 'fail'],
    [200, { warnings: [{ fatal: false }] }, null],
    [503, 'down for maintenance', 'retry'],
  ])('to %i %j is %s', (status, body, expected) => {
    expect(action(status, body)).toBe(expected);
  });

  test('looks at neither text nor body where the status decides', () => {
    const unread = () => {
      throw new Error('read without need');
    };
    expect(find({ status: 404, text: unread, body: unread })?.action).toBe('ignore');
  });
});

describe('an action', () => {
  const api = (rules: ResponseActionRule[], endpoint: object = {}): ApiDocument => ({
    baseUrl: 'https://api.test',
    resources: [{ name: 'items', primaryKey: 'id', endpoint: { path: '/items', responseActions: rules, ...endpoint } }],
  });
  const once = (first: Answer, then: Answer = { body: [{ id: 1 }] }) => {
    let asked = 0;
    return () => (asked++ === 0 ? first : then);
  };

  test('ignore: no records, no failure', async () => {
    const played = await playCrawl(api([{ statusCode: 404, action: 'ignore' }]), { answer: once({ status: 404 }) });
    expect(played).toMatchObject({ records: {}, failures: [], skipped: {}, sent: ['GET https://api.test/items'] });
  });

  test('skip: counted by its message', async () => {
    const rule = { statusCode: 451, action: 'skip', message: 'not for us' } as const;
    const played = await playCrawl(api([rule]), { answer: once({ status: 451 }) });
    expect(played).toMatchObject({ records: {}, failures: [], skipped: { 'not for us': 1 } });
  });

  test('fail: though the status says success', async () => {
    const rule = { condition: '$.error', action: 'fail', message: 'it says error' } as const;
    const played = await playCrawl(api([rule]), { answer: once({ body: { error: 'x' } }) });
    expect(played.failures).toMatchObject([{ code: 'RESPONSE_ACTION', message: 'it says error' }]);
  });

  test('retry: costs a retry', async () => {
    const rule = { content: 'try again', action: 'retry' } as const;
    const answer = once({ body: 'please try again' });
    const played = await playCrawl(api([rule]), { answer, maxRetries: 1 });
    expect(played).toMatchObject({ records: { items: [{ id: 1 }] }, failures: [] });
    const never = await playCrawl(api([rule]), { answer: () => ({ body: 'try again' }), maxRetries: 1 });
    expect(never.failures).toMatchObject([{ code: 'RESPONSE_ACTION' }]);
    expect(never.sent).toHaveLength(2);
  });

  test('rateLimited: costs none', async () => {
    const rule = { statusCode: 403, content: 'quota', action: 'rateLimited', waitSecs: 2 } as const;
    const played = await playCrawl(api([rule]), { answer: once({ status: 403, body: 'quota' }), maxRetries: 0 });
    expect(played).toMatchObject({ records: { items: [{ id: 1 }] }, failures: [], limited: 1 });
  });

  test('refreshTokenThenRetry: whatever the status', async () => {
    const document: ApiDocument = {
      ...api([{ statusCode: 400, content: 'token', action: 'refreshTokenThenRetry' }]),
      auth: { type: 'oauth2ClientCredentials', tokenUrl: '/token', clientId: 'c', clientSecret: 'top-secret' },
    };
    let tokens = 0;
    const played = await playCrawl(document, {
      answer({ url, headers }) {
        if (url.endsWith('/token')) return { body: { access_token: `token-${++tokens}`, expires_in: 3600 } };
        return headers.authorization === 'Bearer token-2' ? { body: [{ id: 1 }] } : { status: 400, body: 'bad token' };
      },
    });
    expect(played).toMatchObject({ records: { items: [{ id: 1 }] }, failures: [] });
    expect(played.stored).not.toMatch(/token-\d|top-secret/);
  });

  test('resetPagination: from the first page, and what came before is not counted twice', async () => {
    let resets = 0;
    const rule = { statusCode: 410, action: 'resetPagination' } as const;
    const paginator = { type: 'cursor', cursorPath: '$.next' } as const;
    const pages: Record<string, object> = {
      '': { items: [{ id: 1 }, { id: 2 }], next: 'a' },
      a: { items: [{ id: 3 }, { id: 4 }], next: 'b' },
      b: { items: [{ id: 5 }], next: null },
    };
    const played = await playCrawl(api([rule], { paginator, dataSelector: '$.items' }), {
      answer({ url }) {
        const cursor = new URL(url).searchParams.get('cursor') ?? '';
        return cursor === 'b' && resets++ === 0 ? { status: 410 } : { body: pages[cursor] };
      },
    });
    expect(played.records.items!.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(played.finished[0]!.completeness).toMatchObject({ fetched: 5, duplicates: 0 });
  });

  test('resetPagination for ever is a failure', async () => {
    const played = await playCrawl(api([{ statusCode: 410, action: 'resetPagination' }]), {
      answer: () => ({ status: 410 }),
    });
    expect(played.failures).toMatchObject([{ code: 'RESET_PAGINATION_LOOP' }]);
    expect(played.sent).toHaveLength(4);
  });
});

describe('GraphQL', () => {
  const document: ApiDocument = {
    baseUrl: 'https://api.test',
    resources: [
      {
        name: 'products',
        endpoint: {
          path: '/graphql',
          json: { query: '{ products { nodes { id } } }' },
          paginator: { type: 'graphqlRelay', connectionPath: '$.data.products' },
        },
      },
    ],
  };
  const good = { body: { data: { products: { edges: [{ node: { id: 1 } }], pageInfo: { hasNextPage: false } } } } };

  test('errors without data fail, with what they say', async () => {
    const played = await playCrawl(document, {
      answer: () => ({ body: { data: null, errors: [{ message: 'no such field' }] } }),
    });
    expect(played.failures).toMatchObject([{ code: 'GRAPHQL_ERROR', message: 'products: GraphQL: no such field' }]);
  });

  test('THROTTLED is a limit, not a failure', async () => {
    let asked = 0;
    const throttled = { body: { errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }] } };
    const played = await playCrawl(document, { answer: () => (asked++ === 0 ? throttled : good), maxRetries: 0 });
    expect(played).toMatchObject({ limited: 1, failures: [], records: { products: [{ id: 1 }] } });
  });

  test('errors beside data are passed over', async () => {
    const partial = { body: { ...good.body, errors: [{ message: 'one field failed' }] } };
    expect((await playCrawl(document, { answer: () => partial })).records.products).toEqual([{ id: 1 }]);
  });
});
