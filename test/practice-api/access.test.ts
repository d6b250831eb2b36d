import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { systemClock } from '../../src/core/clock.ts';
import { PRACTICE_CREDENTIALS as KNOWN } from '../../src/practice-api/options.ts';
import type { TokenAnswer } from '../../src/practice-api/token-office.ts';
import { start } from './started.ts';

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('each way to say who one is', () => {
  test.each<[string, string, Record<string, string>]>([
    ['bearer', '', { authorization: `Bearer ${KNOWN.bearerToken}` }],
    ['basic', '', { authorization: basic(KNOWN.username, KNOWN.password) }],
    ['api-key-header', '', { 'x-api-key': KNOWN.apiKey }],
    ['api-key-query', `?api_key=${KNOWN.apiKey}`, {}],
    ['api-key-cookie', '', { cookie: `theme=dark; api_key=${KNOWN.apiKey}` }],
  ])('%s lets in with the credential, and answers 401 with a challenge without it', async (scheme, query, headers) => {
    const { url } = await start();
    const admitted = await fetch(`${url}/auth/${scheme}/products${query}`, { headers });
    expect(admitted.status).toBe(200);
    expect(await admitted.json()).toMatchObject({ items: expect.any(Array) });

    const wrong = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace(/....$/, 'AAAA')]),
    );
    for (const refused of [{}, wrong]) {
      const response = await fetch(`${url}/auth/${scheme}/products`, { headers: refused });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBeTruthy();
    }
  });
});

describe('OAuth2', () => {
  const clientForm = { client_id: KNOWN.clientId, client_secret: KNOWN.clientSecret };
  const ask = (url: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form), headers });
  const statusWith = async (url: string, token: string) =>
    (await fetch(`${url}/auth/oauth/products`, { headers: { authorization: `Bearer ${token}` } })).status;

  test('gives a token for client credentials, in the body or by basic authentication', async () => {
    const { url } = await start({ tokenLifetimeSecs: 30 });
    const byBody = await ask(url, { grant_type: 'client_credentials', ...clientForm });
    const byHeader = await ask(
      url,
      { grant_type: 'client_credentials' },
      { authorization: basic(KNOWN.clientId, KNOWN.clientSecret) },
    );
    for (const response of [byBody, byHeader]) {
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      const answer = (await response.json()) as TokenAnswer;
      expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 30 });
      expect(await statusWith(url, answer.access_token)).toBe(200);
    }
    expect(await statusWith(url, 'made-up')).toBe(401);
  });

  test('a token ends with its life, and its refresh token buys one new pair', async () => {
    let nowMs = 0;
    const clock: Clock = { ...systemClock, nowMs: () => nowMs };
    const { url } = await start({ tokenLifetimeSecs: 30, clock });
    const first = (await (await ask(url, { grant_type: 'client_credentials', ...clientForm })).json()) as TokenAnswer;
    nowMs = 29_999;
    expect(await statusWith(url, first.access_token)).toBe(200);
    nowMs = 30_000;
    expect(await statusWith(url, first.access_token)).toBe(401);

    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token, ...clientForm };
    const second = (await (await ask(url, refresh)).json()) as TokenAnswer;
    expect(await statusWith(url, second.access_token)).toBe(200);
    const again = await ask(url, refresh);
    expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
  });

  test.each<[number, string, Record<string, string>]>([
    [401, 'invalid_client', { grant_type: 'client_credentials', client_id: 'who', client_secret: 'knows' }],
    [400, 'unsupported_grant_type', { grant_type: 'password', ...clientForm }],
  ])('refuses with %i %s', async (status, error, form) => {
    const { url } = await start();
    const response = await ask(url, form);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error });
  });
});
