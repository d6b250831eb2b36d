import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Workplace } from '../e2e/millrace.ts';
import { type FixtureServer, type Respond, serve } from '../fixtures/servers/serve.ts';

vi.setConfig({ testTimeout: 120_000 });

let place: Workplace;
const open: { close(): Promise<unknown> | unknown }[] = [];

beforeEach(async () => {
  place = await Workplace.open();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await place.remove();
});

async function served(respond: Respond): Promise<FixtureServer> {
  const server = await serve(respond);
  open.push(server);
  return server;
}

describe('follow-up URLs that a response names', () => {
  const listing = (next: string): string => JSON.stringify({ items: [{ id: 1 }], next });
  const api = (baseUrl: string, more: object = {}) => ({
    hosts: { default: { robots: 'ignore' } },
    ...more,
    api: {
      baseUrl,
      paginator: { type: 'jsonLink', nextUrlPath: '$.next' },
      resources: [{ name: 'items', endpoint: { path: '/items', dataSelector: '$.items[*]' } }],
    },
  });

  test('stay on the host: one that leads elsewhere is not fetched, and is told of', async () => {
    const other = await served(() => ({ status: 200, body: listing('') }));
    const own = await served(() => ({ status: 200, body: listing(`${other.url}/internal`) }));
    const { summary, stderr } = await place.crawl([await place.write('a.json', JSON.stringify(api(own.url)))]);
    expect(own.stats().requests).toBe(1);
    expect(other.stats().requests).toBe(0);
    expect(summary.records).toMatchObject({ items: 1 });
    expect(`${stderr}${JSON.stringify(summary.skipped)}`).toContain('followHosts');
  });

  test('go to hosts that are named', async () => {
    const other = await served(() => ({ status: 200, body: JSON.stringify({ items: [{ id: 2 }], next: null }) }));
    const own = await served(() => ({ status: 200, body: listing(`${other.url}/more`) }));
    const document = api(own.url, { followHosts: [new URL(other.url).host] });
    const { summary } = await place.crawl([await place.write('a.json', JSON.stringify(document))]);
    expect(other.stats().requests).toBe(1);
    expect(summary.records).toMatchObject({ items: 2 });
  });
});

describe('with blockPrivateAddresses', () => {
  test('a private URL is not fetched', async () => {
    const inside = await served(() => ({ status: 200, body: '{}' }));
    const document = { startUrls: [`${inside.url}/secret`], blockPrivateAddresses: true };
    const { code, summary } = await place.crawl([await place.write('a.json', JSON.stringify(document))]);
    expect(code).toBe(3);
    expect(summary.failures.map(({ code }) => code)).toEqual(['BLOCKED_ADDRESS']);
    expect(inside.stats().requests).toBe(0);
  });

  test('nor is one that a public host redirects to', async () => {
    const inside = await served(() => ({ status: 200, body: '{"secret":1}' }));
    const outside = await served(() => ({ status: 302, headers: { location: `${inside.url}/secret` } }));
    // It stands for a host on the internet: all that goes through it comes from `outside`.
    const proxy = await forwardProxy(outside.url);
    const document = {
      startUrls: ['http://public.example/items/1'],
      blockPrivateAddresses: true,
      hosts: { 'public.example': { robots: 'ignore', sessionPool: { proxyUrls: [proxy] } } },
    };
    const { summary } = await place.crawl([await place.write('a.json', JSON.stringify(document))]);
    expect(outside.stats().requests).toBeGreaterThan(0);
    expect(inside.stats().requests).toBe(0);
    expect(summary.failures.map(({ code }) => code)).toEqual(['BLOCKED_ADDRESS']);
  });
});

test('a host that has proxies sees nothing of us without one, robots.txt included', async () => {
  const asked: string[] = [];
  const outside = await served(({ path }) => {
    asked.push(path);
    return path === '/robots.txt' ? { status: 404 } : { status: 200, body: '{}' };
  });
  const proxy = await forwardProxy(outside.url);
  // Nobody could resolve the name: what arrives has come through the proxy.
  const document = {
    startUrls: ['http://only-by-proxy.invalid/items/1'],
    hosts: { 'only-by-proxy.invalid': { sessionPool: { proxyUrls: [proxy] } } },
  };
  const { code, summary } = await place.crawl([await place.write('a.json', JSON.stringify(document))]);
  expect(code).toBe(0);
  expect(summary.requests.succeeded).toBe(1);
  expect(asked).toEqual(['/robots.txt', '/items/1']);
});

/** A proxy that has whatever it is asked for from one server. @returns its URL */
async function forwardProxy(target: string): Promise<string> {
  const server: Server = createServer((incoming, outgoing) => {
    const { pathname, search } = new URL(incoming.url ?? '/', 'http://x');
    forward(`${target}${pathname}${search}`, { method: incoming.method }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
