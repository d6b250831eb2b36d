import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { hostConfig } from '../../src/config/host-config.ts';
import type { HostEntry } from '../../src/config/host-schema.ts';
import { systemClock } from '../../src/core/clock.ts';
import { messageOf } from '../../src/core/errors.ts';
import { hostOf } from '../../src/core/host.ts';
import { silentLog } from '../../src/core/log.ts';
import { recoveryOf } from '../../src/crawl/failure-codes.ts';
import type { HttpClient, HttpResponse } from '../../src/http/client.ts';
import { HttpError } from '../../src/http/http-error.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';
import { createSessionPools, type HostSession, type SessionPools } from '../../src/sessions/session-pools.ts';
import { credentialsNamed, memoryStore } from './fixture.ts';
import { startProxyProcess } from './fixtures/proxy-process.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Answer = { status?: number; headers?: Record<string, string | string[]> };

/** @returns the host of a server on loopback that answers as told and echoes the headers it got */
async function serve(answer: (request: IncomingMessage) => Answer): Promise<string> {
  const server = createServer((request, response) => {
    const { status = 200, headers = {} } = answer(request);
    response.writeHead(status, headers).end(JSON.stringify(request.headers));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function poolsWith(hosts: Record<string, HostEntry>): SessionPools {
  return createSessionPools({
    hostConfig: (host) => hostConfig(hosts, host),
    ports,
    reveal: String,
    values: memoryStore(),
  });
}

function clientOf(): HttpClient {
  const client = createUndiciClient({ ports, maxConnectionsPerOrigin: 4, blockPrivateAddresses: false });
  closers.push(() => client.close());
  return client;
}

type Exchange = { session: HostSession; response: HttpResponse; sent: Record<string, string> };

/** One request as the crawl makes it: the session's headers, its proxy, and what came of it. */
async function fetchOnce(
  pools: SessionPools,
  client: HttpClient,
  { url, session, proxyUrl }: { url: string; session: HostSession; proxyUrl: string | null },
): Promise<Exchange> {
  const response = await client.send({
    url,
    method: 'GET',
    headers: { ...pools.headersFor(session, url) },
    body: null,
    timeouts: { connectMs: 5000, firstByteMs: 5000, idleMs: 5000, totalMs: 10_000 },
    maxBodyBytes: 1e6,
    proxyUrl,
    http2: 'auto',
  });
  return { session, response, sent: JSON.parse(response.body.toString()) as Record<string, string> };
}

function get(pools: SessionPools, client: HttpClient, url: string): Promise<Exchange> {
  const host = hostOf(url);
  const session = pools.take(host, pools.keysOf(host)[0]!);
  return fetchOnce(pools, client, { url, session, proxyUrl: pools.proxyOf(session) });
}

function learn(pools: SessionPools, url: string, { session, response }: Exchange) {
  return pools.onResponse(session, url, response.status, response.headers['set-cookie']);
}

describe('cookies', () => {
  test('of each session and host stay apart', async () => {
    let visitors = 0;
    const welcome = (request: IncomingMessage): Answer =>
      request.headers.cookie === undefined
        ? { headers: { 'set-cookie': [`visitor=${++visitors}; Path=/`, 'theme=dark; Path=/'] } }
        : {};
    const [hostA, hostB] = [await serve(welcome), await serve(welcome)];
    const pools = poolsWith({ default: { sessionPool: { maxPoolSize: 3 } } });
    const client = clientOf();
    const seen = new Map<string, Set<string>>();
    for (let request = 0; request < 24; request++) {
      const url = `http://${request % 2 === 0 ? hostA : hostB}/${request}`;
      const exchange = await get(pools, client, url);
      learn(pools, url, exchange);
      const key = `${exchange.session.host} ${exchange.session.id}`;
      seen.set(key, (seen.get(key) ?? new Set()).add(exchange.sent.cookie ?? 'none'));
    }
    // Three sessions a host: each came without a cookie once, then always with the one it was given.
    expect(seen.size).toBe(6);
    const cookies = [...seen.values()].map((set) => [...set]);
    expect(cookies.map((list) => list[0])).toEqual(Array(6).fill('none'));
    expect(new Set(cookies.map((list) => list.slice(1).join())).size).toBe(6);
    expect(cookies.every((list) => list.length === 2 && /^visitor=\d; theme=dark$/.test(list[1]!))).toBe(true);
    expect(visitors).toBe(6);
  });
});

describe('credentials', () => {
  test('a revoked one is left for the other, and nothing of it reaches another host', async () => {
    const host = await serve((request) => (request.headers['x-key'] === 'secret-a' ? { status: 401 } : {}));
    const stranger = await serve(() => ({}));
    const pools = poolsWith({ [host]: { sessionPool: { credentials: credentialsNamed('a', 'b') } } });
    const client = clientOf();
    const verdicts: string[] = [];
    for (let request = 0; request < 6; request++) {
      const url = `http://${host}/${request}`;
      verdicts.push(learn(pools, url, await get(pools, client, url)));
    }
    expect(verdicts).toEqual(['rotate', 'ok', 'ok', 'ok', 'ok', 'ok']);
    const session = pools.take(host, pools.keysOf(host)[0]!);
    const elsewhere = await fetchOnce(pools, client, { url: `http://${stranger}/`, session, proxyUrl: null });
    expect(elsewhere.sent['x-key']).toBeUndefined();
  });
});

describe('a proxy that dies', () => {
  test.each(['perSession', 'perRequest', 'sticky'] as const)(
    '%s: every request arrives, its failures cost no retry, and the other proxy does the work',
    async (rotation) => {
      let arrived = 0;
      const host = await serve(() => {
        arrived += 1;
        return {};
      });
      const [dying, living] = [await startProxy(), await startProxy()];
      const proxyUrls = [dying.url, living.url];
      const pools = poolsWith({ [host]: { sessionPool: { proxyUrls, rotation, maxPoolSize: 4 } } });
      const client = clientOf();
      const run = (from: number, to: number) => fetchAll(pools, client, { host, from, to });

      const before = await run(0, 20);
      expect(before.failures).toEqual([]);
      expect(new Set(before.proxies).size).toBe(2);
      await dying.kill();
      const after = await run(20, 60);
      expect(after.proxies).toHaveLength(40);
      expect(new Set(after.proxies)).toEqual(new Set([living.url]));
      expect(after.failures.length).toBeGreaterThan(0);
      expect(new Set(after.failures)).toEqual(new Set(['PROXY_FAILED']));
      expect(arrived).toBe(60);
    },
  );
});

/** Fetches /from to /to one after another, each until it has arrived. */
async function fetchAll(
  pools: SessionPools,
  client: HttpClient,
  { host, from, to }: { host: string; from: number; to: number },
): Promise<{ proxies: string[]; failures: string[] }> {
  const proxies: string[] = [];
  const failures: string[] = [];
  for (let id = from; id < to; ) {
    const url = `http://${host}/${id}`;
    const session = pools.take(host, pools.keysOf(host)[0]!);
    const proxyUrl = pools.proxyOf(session);
    try {
      const { response } = await fetchOnce(pools, client, { url, session, proxyUrl });
      pools.onResponse(session, url, response.status, undefined, { rotations: 0, proxyUrl });
      proxies.push(proxyUrl!);
      id += 1;
    } catch (error) {
      if (!(error instanceof HttpError) || recoveryOf(error) !== 'wait')
        throw new Error(messageOf(error), { cause: error });
      failures.push(error.code);
      pools.onFailure(session, error, { rotations: 0, proxyUrl });
    }
  }
  return { proxies, failures };
}

async function startProxy() {
  const proxy = await startProxyProcess();
  closers.push(proxy.kill);
  return proxy;
}
