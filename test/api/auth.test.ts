import { describe, expect, test } from 'vitest';
import type { AuthFetch, AuthTools } from '../../src/api/auth/auth.ts';
import { createAuth } from '../../src/api/auth/create-auth.ts';
import { SecretVault } from '../../src/api/references.ts';
import { type ApiDocument, apiSchema } from '../../src/config/api-schema.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { playCrawl, recordingLog } from './play-crawl.ts';

const env: Record<string, string> = {
  TOKEN: 'bearer-secret',
  KEY: 'api key/secret',
  USER: 'me',
  PASSWORD: 'pass:wörd',
  CLIENT: 'client id',
  CLIENT_SECRET: 'client-secret',
  REFRESH: 'refresh-secret',
};
const request = { url: 'https://api.test/x?a=1', method: 'GET', headers: { cookie: 'a=1' }, payload: null };

type TokenAnswer = { status?: number; body: unknown };

function tools(answers: TokenAnswer[] = []) {
  const asked: Parameters<AuthFetch>[0][] = [];
  const said: string[] = [];
  const clock = new FakeClock();
  const own: AuthTools = {
    clock,
    log: recordingLog(said),
    vault: new SecretVault({ env: (name) => env[name], file: () => undefined }),
    baseUrl: 'https://api.test/v1',
    async fetch(tokenRequest) {
      asked.push(tokenRequest);
      const { status = 200, body } = answers[Math.min(asked.length, answers.length) - 1]!;
      return { status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) };
    },
  };
  return { own, asked, said, clock };
}

function authOf(auth: ApiDocument['auth'], own: AuthTools) {
  const api = apiSchema.parse({
    baseUrl: 'https://api.test',
    auth,
    resources: [{ name: 'x', endpoint: { path: '' } }],
  });
  return createAuth(api.auth, own, () => {
    throw new Error('no custom auth here');
  });
}

describe('credentials that never change', () => {
  test.each([
    [{ type: 'bearer', token: '${env:TOKEN}' }, { headers: { authorization: 'Bearer bearer-secret' } }],
    [
      { type: 'apiKey', name: 'X-Key', value: '${env:KEY}', location: 'header' },
      { headers: { 'x-key': 'api key/secret' } },
    ],
    [
      { type: 'apiKey', name: 'key', value: '${env:KEY}', location: 'query' },
      { url: 'https://api.test/x?a=1&key=api%20key/secret' },
    ],
    [
      { type: 'apiKey', name: 'sid', value: '${env:KEY}', location: 'cookie' },
      { headers: { cookie: 'a=1; sid=api key/secret' } },
    ],
    [
      { type: 'httpBasic', username: '${env:USER}', password: '${env:PASSWORD}' },
      { headers: { authorization: `Basic ${Buffer.from('me:pass:wörd').toString('base64')}` } },
    ],
  ] as [ApiDocument['auth'], { url?: string; headers?: Record<string, string> }][])('%j', async (config, expected) => {
    const { own } = tools();
    const auth = authOf(config, own);
    const applied = await auth.apply(request);
    expect(applied.request).toEqual({ ...request, ...expected, headers: { ...request.headers, ...expected.headers } });
    expect(await auth.onUnauthorized(applied.ticket)).toBe(false);
  });

  test('typed literally are concealed too', async () => {
    const { own } = tools();
    authOf({ type: 'bearer', token: 'typed-literally' }, own);
    expect(own.vault.conceal('it was typed-literally')).toBe('it was <secret>');
  });
});

describe('OAuth 2.0 client credentials', () => {
  const config: ApiDocument['auth'] = {
    type: 'oauth2ClientCredentials',
    tokenUrl: '/oauth/token',
    clientId: '${env:CLIENT}',
    clientSecret: '${env:CLIENT_SECRET}',
    scopes: ['read', 'list'],
    params: { audience: 'x' },
    renewBeforeSecs: 10,
  };
  const token = (value: string, expiresIn: number | undefined = 100) => ({
    body: { access_token: value, token_type: 'Bearer', expires_in: expiresIn },
  });

  test('asks once for all requests in flight, as RFC 6749 says', async () => {
    const { own, asked } = tools([token('first-token')]);
    const auth = authOf(config, own);
    const applied = await Promise.all(Array.from({ length: 20 }, () => auth.apply(request)));
    expect(new Set(applied.map(({ request: sent }) => sent.headers.authorization))).toEqual(
      new Set(['Bearer first-token']),
    );
    expect(asked).toEqual([
      {
        url: 'https://api.test/oauth/token',
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'application/json',
          authorization: `Basic ${Buffer.from('client%20id:client-secret').toString('base64')}`,
        },
        body: 'grant_type=client_credentials&audience=x&scope=read+list',
      },
    ]);
  });

  test('puts the client into the form with clientAuth: body', async () => {
    const { own, asked } = tools([token('t-1')]);
    await authOf({ ...config, clientAuth: 'body' }, own).apply(request);
    expect(asked[0]!.headers.authorization).toBeUndefined();
    expect(asked[0]!.body).toContain('client_id=client+id&client_secret=client-secret');
  });

  test('renews before the token expires, and not earlier', async () => {
    const { own, asked, clock } = tools([token('t-1'), token('t-2')]);
    const auth = authOf(config, own);
    await auth.apply(request);
    await clock.advance(89_999);
    expect((await auth.apply(request)).request.headers.authorization).toBe('Bearer t-1');
    await clock.advance(1);
    expect((await auth.apply(request)).request.headers.authorization).toBe('Bearer t-2');
    expect(asked).toHaveLength(2);
  });

  test('uses a token that lives shorter than the margin for half its life', async () => {
    const { own, asked, clock } = tools([token('t-1', 8), token('t-2', 8)]);
    const auth = authOf(config, own);
    await auth.apply(request);
    await clock.advance(3_999);
    await auth.apply(request);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await auth.apply(request);
    expect(asked).toHaveLength(2);
  });

  test('keeps a token for good when the server does not say how long it lives', async () => {
    const { own, asked, clock } = tools([{ body: { access_token: 't-1' } }]);
    const auth = authOf(config, own);
    await auth.apply(request);
    await clock.advance(1e12);
    await auth.apply(request);
    expect(asked).toHaveLength(1);
  });

  test('renews once for all requests that were refused with the same token', async () => {
    const { own, asked } = tools([token('t-1'), token('t-2')]);
    const auth = authOf(config, own);
    const { ticket } = await auth.apply(request);
    expect(await Promise.all([auth.onUnauthorized(ticket), auth.onUnauthorized(ticket)])).toEqual([true, true]);
    expect(await auth.onUnauthorized(ticket)).toBe(true);
    expect(asked).toHaveLength(2);
    expect((await auth.apply(request)).request.headers.authorization).toBe('Bearer t-2');
  });

  test('refused for good stops the crawl, is not tried again, and shows no secret', async () => {
    const { own, asked } = tools([
      { status: 401, body: { error: 'invalid_client', error_description: 'client-secret is wrong' } },
    ]);
    const auth = authOf(config, own);
    const failure = { code: 'AUTH_FAILED', recovery: 'stop' };
    await expect(auth.apply(request)).rejects.toMatchObject({
      ...failure,
      message: 'token endpoint api.test answered 401: invalid_client: ${env:CLIENT_SECRET} is wrong',
    });
    await expect(auth.apply(request)).rejects.toMatchObject(failure);
    expect(asked).toHaveLength(1);
  });

  test.each([503, 429])('answered %i is worth a retry', async (status) => {
    const { own, asked } = tools([{ status, body: '<html>' }, token('t-1')]);
    const auth = authOf(config, own);
    await expect(auth.apply(request)).rejects.toMatchObject({ code: 'AUTH_UNREACHABLE', recovery: 'retry' });
    await auth.apply(request);
    expect(asked).toHaveLength(2);
  });

  test('that cannot be reached is worth a retry', async () => {
    const { own } = tools();
    own.fetch = async () => {
      throw new Error('connect ECONNREFUSED with client-secret');
    };
    await expect(authOf(config, own).apply(request)).rejects.toMatchObject({
      code: 'AUTH_UNREACHABLE',
      message: 'token endpoint api.test: connect ECONNREFUSED with ${env:CLIENT_SECRET}',
    });
  });
});

describe('OAuth 2.0 refresh token', () => {
  const config: ApiDocument['auth'] = {
    type: 'oauth2RefreshToken',
    tokenUrl: 'https://login.test/token',
    clientId: '${env:CLIENT}',
    refreshToken: '${env:REFRESH}',
  };

  test('goes on with the token that replaces it, and says once that the configured one is spent', async () => {
    const answer = (n: number) => ({
      body: { access_token: `access-${n}`, refresh_token: `rotated-${n}`, expires_in: 100 },
    });
    const { own, asked, said, clock } = tools([answer(1), answer(2), answer(3)]);
    const auth = authOf(config, own);
    for (let round = 0; round < 3; round++) {
      await auth.apply(request);
      await clock.advance(1_000_000);
    }
    expect(asked.map(({ body }) => new URLSearchParams(body!).get('refresh_token'))).toEqual([
      'refresh-secret',
      'rotated-1',
      'rotated-2',
    ]);
    expect(asked[0]!.body).toContain('client_id=client+id');
    expect(said).toHaveLength(1);
    expect(own.vault.conceal('rotated-2')).toBe('<refresh token>');
  });
});

describe('where credentials go', () => {
  const document: ApiDocument = {
    baseUrl: 'https://api.test/v1',
    headers: { 'X-Account': '${env:ACCOUNT}' },
    auth: { type: 'apiKey', name: 'key', value: '${env:KEY}', location: 'query' },
    resources: [
      {
        name: 'items',
        endpoint: {
          path: '/items',
          headers: { 'X-Own': '${env:OWN}', 'X-Plain': 'plain' },
          json: { token: '${env:OWN}' },
          dataSelector: '$.items',
          paginator: { type: 'jsonLink', nextUrlPath: '$.next' },
        },
      },
    ],
  };
  const secrets = { KEY: 'the-api-key', ACCOUNT: 'the-account', OWN: 'own-secret' };

  test('is the origin of the base alone: another gets neither key nor headers with references', async () => {
    const seen: { url: string; headers: Record<string, string> }[] = [];
    await playCrawl(document, {
      env: secrets,
      answer(sent) {
        seen.push({ url: sent.url, headers: { ...sent.headers } });
        return { body: { items: [{ id: 1 }], next: seen.length === 1 ? 'https://other.test/more' : null } };
      },
    });
    expect(seen[0]!.url).toBe('https://api.test/v1/items?key=the-api-key');
    expect(seen[0]!.headers).toMatchObject({ 'x-account': 'the-account', 'x-own': 'own-secret', 'x-plain': 'plain' });
    expect(seen[1]).toEqual({
      url: 'https://other.test/more',
      headers: { 'content-type': 'application/json', 'x-plain': 'plain' },
    });
  });

  test('is nothing that is stored or said, even where the server echoes the key in its next link', async () => {
    const played = await playCrawl(document, {
      env: secrets,
      answer: ({ url, payload }) => ({
        body: {
          items: [{ id: 1 }],
          next: url.includes('page') ? null : `${url}&page=2&own=${JSON.parse(payload!).token}`,
        },
      }),
    });
    expect(played.sent).toEqual([
      'POST https://api.test/v1/items?key=the-api-key',
      'POST https://api.test/v1/items?page=2&own=own-secret&key=the-api-key',
    ]);
    for (const secret of Object.values(secrets)) expect(played.stored).not.toContain(secret);
    expect(played.stored).toContain('own=${env:OWN}');
  });

  test('is the host by which the server calls itself, though its name is in a secret too', async () => {
    const api: ApiDocument = {
      baseUrl: 'https://${env:SHOP}.test',
      resources: [
        {
          name: 'items',
          endpoint: { path: '/shops/${env:SHOP}/items', dataSelector: '$.items', paginator: { type: 'jsonLink' } },
        },
      ],
    };
    const played = await playCrawl(api, {
      env: { SHOP: 'acme-shop' },
      answer: ({ url }) => ({ body: { items: [], next: url.includes('page') ? null : `${url}?page=2` } }),
    });
    expect(played.sent).toEqual([
      'GET https://acme-shop.test/shops/acme-shop/items',
      'GET https://acme-shop.test/shops/acme-shop/items?page=2',
    ]);
  });

  test('is said without them when a request fails', async () => {
    const played = await playCrawl(document, { env: secrets, answer: () => ({ status: 404 }) });
    expect(played.failures).toHaveLength(1);
    for (const secret of Object.values(secrets)) expect(played.stored).not.toContain(secret);
  });
});

test('custom auth is a function of the user, with its references filled in', async () => {
  const played = await playCrawl(
    {
      baseUrl: 'https://api.test',
      auth: { type: 'custom', module: './fixtures/own-auth.ts', options: { key: '${env:KEY}' } },
      resources: [{ name: 'items', endpoint: { path: '/items' } }],
    },
    {
      env: { KEY: 'signing-key' },
      answer: ({ headers }) =>
        headers['x-signature'] === 'GET https://api.test/items signing-key-2' ? { body: [{ id: 1 }] } : { status: 401 },
    },
  );
  expect(played.records.items).toEqual([{ id: 1 }]);
  expect(played.sent).toHaveLength(2);
});
