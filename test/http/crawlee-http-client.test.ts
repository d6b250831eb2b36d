import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CookieJar } from 'tough-cookie';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { CrawleeHttpStatusError, toCrawleeHttpClient } from '../../src/http/crawlee-http-client.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';
import { failure } from './support/requests.ts';
import { closeServers, startHttp, type TestServer } from './support/servers.ts';

const client = createUndiciClient({
  ports: { clock: systemClock, random: () => 0.5, log: silentLog },
  maxConnectionsPerOrigin: 10,
  blockPrivateAddresses: false,
});
const crawlee = toCrawleeHttpClient(client);
let server: TestServer;

beforeAll(async () => {
  server = await startHttp((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method, url = '', headers } = incoming;
      const redirects = Number(/^\/redirect\/(\d+)/.exec(url)?.[1] ?? 0);
      if (redirects > 0) {
        response
          .writeHead(302, { location: `/redirect/${redirects - 1}`, 'set-cookie': `hop${redirects}=1; Path=/` })
          .end();
      } else if (url === '/silent') {
        // Never answers.
      } else {
        response.writeHead(url === '/missing' ? 404 : 200, { 'content-type': 'application/json; charset=utf-8' });
        response.end(
          JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString(), big: 0 }).replace(
            '"big":0',
            '"big":12345678901234567890',
          ),
        );
      }
    });
  });
});
afterAll(async () => {
  await client.close();
  await closeServers();
});

test('gives text, JSON and bytes as they are asked for', async () => {
  const url = `${server.origin}/x`;
  const asText = await crawlee.sendRequest({ url });
  expect(typeof asText.body).toBe('string');
  expect(asText).toMatchObject({
    statusCode: 200,
    statusMessage: 'OK',
    url,
    redirectUrls: [],
    complete: true,
    ok: true,
  });
  expect(asText.headers['content-type']).toContain('application/json');
  const asJson = await crawlee.sendRequest({ url: new URL(url), responseType: 'json' });
  expect(asJson.body).toMatchObject({ method: 'GET', big: 12345678901234567890n });
  const asBytes = await crawlee.sendRequest({ url, responseType: 'buffer' });
  expect(asBytes.body).toBeInstanceOf(Buffer);
});

test.each([
  ['text', () => 'a=1'],
  ['bytes', () => Buffer.from('a=1')],
  ['a stream', () => Readable.from(['a=', Buffer.from('1')])],
  [
    'a generator',
    () =>
      (async function* () {
        yield 'a=';
        yield '1';
      })(),
  ],
])('sends %s as the body', async (_name, body) => {
  const { body: seen } = await crawlee.sendRequest({
    url: server.origin,
    method: 'post',
    body: body(),
    responseType: 'json',
  });
  expect(seen).toMatchObject({ method: 'POST', body: 'a=1' });
});

test('sends a form with its boundary', async () => {
  const form = new FormData();
  form.set('field', 'value');
  const { body } = await crawlee.sendRequest({
    url: server.origin,
    method: 'POST',
    body: form as never,
    responseType: 'json',
  });
  const seen = body as { headers: Record<string, string>; body: string };
  const boundary = /boundary=(.+)$/.exec(seen.headers['content-type'] ?? '')?.[1];
  expect(seen.body).toContain(`--${boundary}`);
  expect(seen.body).toContain('value');
});

test('follows redirects, and keeps and sends cookies on the way', async () => {
  const jar = new CookieJar();
  const response = await crawlee.sendRequest({
    url: `${server.origin}/redirect/3`,
    cookieJar: jar as never,
    responseType: 'json',
  });
  expect(response.redirectUrls.map(String)).toEqual([2, 1, 0].map((left) => `${server.origin}/redirect/${left}`));
  expect(response.url).toBe(`${server.origin}/redirect/0`);
  expect((response.body as { headers: Record<string, string> }).headers.cookie).toBe('hop3=1; hop2=1; hop1=1');
});

test('does not follow redirects when told so, nor more than it may', async () => {
  const url = `${server.origin}/redirect/3`;
  expect((await crawlee.sendRequest({ url, followRedirect: false })).statusCode).toBe(302);
  await expect(crawlee.sendRequest({ url, maxRedirects: 2 })).rejects.toMatchObject({ code: 'TOO_MANY_REDIRECTS' });
});

test('throws on error statuses only when asked to', async () => {
  const url = `${server.origin}/missing`;
  expect((await crawlee.sendRequest({ url })).statusCode).toBe(404);
  const refused = crawlee.sendRequest({ url, throwHttpErrors: true });
  await expect(refused).rejects.toBeInstanceOf(CrawleeHttpStatusError);
  await expect(refused).rejects.toThrow('404 Not Found');
});

test('keeps the time limits of the request, and stops at its signal', async () => {
  const url = `${server.origin}/silent`;
  await failure(crawlee.sendRequest({ url, timeout: { request: 80 } }), 'TIMEOUT_TOTAL');
  const reason = new Error('stop');
  await expect(crawlee.sendRequest({ url, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test('lets a redirect handler change the next hop of a stream', async () => {
  const seen: number[] = [];
  const response = await crawlee.stream({ url: `${server.origin}/redirect/1` }, (answer, next) => {
    seen.push(answer.statusCode);
    next.headers['X-Added'] = 'yes';
  });
  expect(seen).toEqual([302]);
  expect(response).toMatchObject({ statusCode: 200, complete: true, url: `${server.origin}/redirect/0` });
  expect(JSON.parse((await text(response.stream)).replace(/:\d{20}/, ':0')).headers['x-added']).toBe('yes');
});
