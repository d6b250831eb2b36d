import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/http/client.ts';
import { isRedirect, nextHop, RedirectError } from '../../src/http/redirects.ts';
import { request } from './support/requests.ts';

const from = 'https://api.test/items?page=1';
const post = request(from, {
  method: 'POST',
  body: '{}',
  headers: { 'content-type': 'application/json', accept: '*/*' },
});

function hop(sent: HttpRequest, status: number, location: string, visited = [sent.url]): HttpRequest {
  return nextHop(sent, { status, headers: { location } }, { visited, limit: 10, secretHeaders: ['x-own-secret'] });
}

function refusal(action: () => unknown): RedirectError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(RedirectError);
    return error as RedirectError;
  }
  return expect.fail('it should have been refused');
}

test.each([
  ['/other', 'https://api.test/other'],
  ['?page=2', 'https://api.test/items?page=2'],
  ['//cdn.test/x', 'https://cdn.test/x'],
  ['http://plain.test', 'http://plain.test/'],
  ['../up#part', 'https://api.test/up'],
  ['/with space', 'https://api.test/with%20space'],
  [Buffer.from('/café').toString('latin1'), 'https://api.test/caf%C3%A9'],
  ['/caf\u00e9', 'https://api.test/caf%C3%A9'],
])('resolves Location %s', (location, url) => {
  expect(hop(request(from), 302, location).url).toBe(url);
});

test.each([
  ['GET', 301, 'GET'],
  ['HEAD', 301, 'HEAD'],
  ['PUT', 301, 'PUT'],
  ['POST', 301, 'GET'],
  ['POST', 302, 'GET'],
  ['DELETE', 302, 'DELETE'],
  ['POST', 303, 'GET'],
  ['PUT', 303, 'GET'],
  ['DELETE', 303, 'GET'],
  ['HEAD', 303, 'HEAD'],
  ['POST', 307, 'POST'],
  ['POST', 308, 'POST'],
  ['GET', 308, 'GET'],
])('%s redirected by %i goes on as %s', (method, status, next) => {
  expect(hop({ ...post, method }, status, '/next').method).toBe(next);
});

test('drops the body and what describes it where a GET follows, and keeps both otherwise', () => {
  const followed = hop(post, 303, '/next');
  expect(followed.body).toBeNull();
  expect(followed.headers).toEqual({ accept: '*/*' });
  const repeated = hop(post, 307, '/next');
  expect(repeated.body).toBe('{}');
  expect(repeated.headers).toEqual(post.headers);
});

test('keeps credentials within the origin, and drops them across', () => {
  const headers = {
    authorization: 'Bearer x',
    cookie: 'a=1',
    'x-api-key': 'k',
    'x-own-secret': 's',
    host: 'api.test',
    accept: '*/*',
  };
  const sent = request(from, { headers });
  expect(hop(sent, 302, '/same').headers).toEqual(headers);
  for (const location of ['https://evil.test/', 'http://api.test/', 'https://api.test:8443/', 'https://a.api.test/']) {
    expect(hop(sent, 307, location).headers).toEqual({ accept: '*/*' });
  }
});

test('changes neither the limits nor the request it was given', () => {
  const sent = request(from, { headers: { cookie: 'a=1' }, proxyUrl: 'http://proxy.test:8080' });
  const next = hop(sent, 302, 'https://other.test/');
  expect(next).toMatchObject({ timeouts: sent.timeouts, maxBodyBytes: sent.maxBodyBytes, proxyUrl: sent.proxyUrl });
  expect(sent.headers).toEqual({ cookie: 'a=1' });
});

test('names a loop', () => {
  const visited = ['https://api.test/start', 'https://api.test/a', 'https://api.test/b'];
  const error = refusal(() => hop(request(visited[2]!), 302, '/a', visited));
  expect(error.code).toBe('REDIRECT_LOOP');
  expect(error.message).toContain('https://api.test/a -> https://api.test/b -> https://api.test/a');
  expect(error.recovery).toBe('skip');
});

test('does not take a page that sets a cookie, or another method, for a loop', () => {
  const again = { status: 302, headers: { location: from, 'set-cookie': ['session=1'] } };
  expect(nextHop(request(from), again, { visited: [from], limit: 10 }).url).toBe(from);
  expect(hop(post, 303, from).method).toBe('GET');
});

test('stops after ten redirects', () => {
  const visited = Array.from({ length: 11 }, (_, index) => `https://api.test/${index}`);
  expect(hop(request(visited[9]!), 302, '/more', visited.slice(0, 10)).url).toBe('https://api.test/more');
  const error = refusal(() => hop(request(visited[10]!), 302, '/more', visited));
  expect(error.code).toBe('TOO_MANY_REDIRECTS');
  expect(error.message).toContain('https://api.test/0 was redirected more than 10 times');
});

test.each(['javascript:alert(1)', 'ftp://files.test/', 'http://', 'http://[::1'])('refuses Location %s', (location) => {
  const error = refusal(() => hop(request(from), 302, location));
  expect(error.code).toBe('BAD_LOCATION');
  expect(error.message).toContain(location);
});

test('refuses a redirect without Location', () => {
  const error = refusal(() => nextHop(request(from), { status: 302, headers: {} }, { visited: [from], limit: 10 }));
  expect(error.code).toBe('BAD_LOCATION');
});

test('knows a redirect by its status and Location', () => {
  const answers = [301, 302, 303, 307, 308, 300, 304, 200].map((status) =>
    isRedirect({ status, headers: { location: '/' } }),
  );
  expect(answers).toEqual([true, true, true, true, true, false, false, false]);
  expect(isRedirect({ status: 302, headers: {} })).toBe(false);
});
