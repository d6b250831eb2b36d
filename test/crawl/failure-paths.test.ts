import dnsPromises from 'node:dns/promises';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { CriticalError, createHttpRouter, ProxyConfiguration } from '@crawlee/http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { FAILURE_KINDS } from '../../src/core/failure-advice.ts';
import { failureCodeOf } from '../../src/crawl/failure-codes.ts';
import type { FailureRecord } from '../../src/crawl/failure-record.ts';
import { defineRoute, type JsonCrawlerSettings } from '../../src/index.ts';
import { createAuthority } from '../fixtures/servers/certificates.ts';
import { serve } from '../fixtures/servers/serve.ts';
import { CrawlerBench } from './support/crawlers.ts';
import { type Answering, startEcho } from './support/echo-server.ts';

let bench: CrawlerBench;
const closing: { close(): Promise<void> }[] = [];

beforeEach(() => {
  bench = new CrawlerBench('JsonCrawler');
});
afterEach(async () => {
  await bench.end();
  for (const server of closing.splice(0)) await server.close();
});

type Expected = Partial<FailureRecord> & Pick<FailureRecord, 'code' | 'attempts'>;
type Row = {
  title: string;
  /** @returns the URL to crawl */
  start: () => Promise<string>;
  settings?: JsonCrawlerSettings;
  request?: Record<string, unknown>;
  expected: Expected;
};

const echo =
  (answering?: Answering, path = '/a') =>
  async (): Promise<string> => {
    const server = await startEcho(answering);
    closing.push(server);
    return server.url + path;
  };

/** A server that is no HTTP server. */
const raw = (scheme: string, onSocket: (socket: Socket) => void) => async (): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push({
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/a`;
};

async function unusedUrl(): Promise<string> {
  const url = await raw('http', () => {})();
  await closing.pop()!.close();
  return url;
}

const timeouts = (limits: Record<string, number>): JsonCrawlerSettings => ({
  hosts: { default: { timeouts: limits } },
});
/** The system's resolver, until the test has ended, is one whose name server is gone. */
function nameServerIsSilent(): void {
  const { lookup } = dnsPromises;
  const silent = async (hostname: string): Promise<never> => {
    throw Object.assign(new Error(`getaddrinfo EAI_AGAIN ${hostname}`), { code: 'EAI_AGAIN', hostname });
  };
  const use = (resolver: unknown): void => {
    Object.assign(dnsPromises, { lookup: resolver });
    syncBuiltinESMExports();
  };
  use(silent);
  closing.push({ close: async () => use(lookup) });
}

function routerWithSchema(): JsonCrawlerSettings['requestHandler'] {
  const router = createHttpRouter({ PAGE: z.object({ page: z.number() }) });
  router.addDefaultHandler(({ addRequests, request }) =>
    addRequests([{ url: request.url, label: 'PAGE', userData: { page: 'two' }, uniqueKey: 'two' }]),
  );
  return router as never;
}

const fails = (): never => {
  throw new Error('the handler is at fault');
};

const rows: Row[] = [
  {
    title: 'a status that is not worth a retry',
    start: echo(undefined, '/status/404'),
    expected: { code: 'HTTP_404', status: 404, attempts: 1, bodyExcerpt: '{"message":"status 404"}' },
  },
  {
    title: 'a status that is, after its retries',
    start: echo(undefined, '/status/500'),
    expected: { code: 'HTTP_500', status: 500, attempts: 3, bodyExcerpt: '{"message":"status 500"}' },
  },
  {
    title: 'a status that was told to be an error',
    start: echo(undefined, '/status/201'),
    settings: { additionalHttpErrorStatusCodes: [201] },
    expected: { code: 'HTTP_201', status: 201, attempts: 1 },
  },
  {
    title: 'a body that is no JSON',
    start: echo(() => ({ body: '<!doctype html><title>Log in</title>' })),
    expected: { code: 'INVALID_JSON', status: 200, attempts: 3, bodyExcerpt: '<!doctype html><title>Log in</title>' },
  },
  {
    title: 'a body that ends early',
    start: async () => {
      const server = await serve(() => ({ fault: 'truncate' }));
      closing.push(server);
      return `${server.url}/a`;
    },
    expected: { code: 'TRUNCATED_BODY', status: null, attempts: 3, bodyExcerpt: null },
  },
  {
    title: 'a body that cannot be decompressed',
    start: echo(() => ({ headers: { 'content-encoding': 'gzip' }, body: 'not gzip' })),
    expected: { code: 'BAD_ENCODING', attempts: 3 },
  },
  {
    title: 'a body that is too large',
    start: echo(() => ({ body: `"${'x'.repeat(2_000)}"` })),
    settings: { maxBodyBytes: 1_000 },
    expected: { code: 'TOO_LARGE', attempts: 1 },
  },
  {
    title: 'a connection that is cut',
    start: raw('http', (socket) => socket.once('data', () => socket.resetAndDestroy())),
    expected: { code: 'CONNECTION_RESET', attempts: 3, status: null },
  },
  {
    title: 'a connection that is refused',
    start: unusedUrl,
    expected: { code: 'CONNECTION_REFUSED', attempts: 3 },
  },
  {
    title: 'a network that cannot be reached',
    // No TCP connection can be made to the broadcast address, whatever the machine.
    start: async () => 'http://255.255.255.255/a',
    expected: { code: 'CONNECTION_FAILED', attempts: 3 },
  },
  {
    title: 'a name server that does not answer',
    start: async () => {
      nameServerIsSilent();
      return 'http://any.test/a';
    },
    expected: { code: 'DNS_FAILED', attempts: 3, message: expect.stringContaining('EAI_AGAIN') },
  },
  {
    title: 'a URL that is not of the web',
    start: async () => 'ftp://files.test/a',
    expected: { code: 'INVALID_URL', attempts: 1, message: expect.stringContaining('ftp') },
  },
  {
    title: 'a handler that gives a request user data which do not fit',
    start: echo(),
    settings: { requestHandler: routerWithSchema() },
    expected: { code: 'INVALID_USER_DATA', attempts: 1, message: expect.stringContaining('page') },
  },
  {
    title: 'a handler that aborts itself for longer than stallSecs',
    start: echo(),
    settings: {
      hosts: { default: { stallSecs: 1, retry: { baseDelayMs: 300, maxDelayMs: 300 } } },
      requestHandler: async () => {
        throw new DOMException('gave up by itself', 'AbortError');
      },
    },
    expected: { code: 'ABORTED', attempts: expect.any(Number), message: expect.stringContaining('stallSecs') },
  },
  {
    title: 'a name that does not exist',
    start: async () => 'http://no-such-host.invalid/a',
    expected: { code: 'DNS_NOT_FOUND', attempts: 3 },
  },
  {
    title: 'a connection that does not come about in time',
    start: raw('https', () => {}),
    settings: timeouts({ connectMs: 100 }),
    expected: { code: 'TIMEOUT_CONNECT', attempts: 3 },
  },
  {
    title: 'an answer that does not begin in time',
    start: raw('http', () => {}),
    settings: timeouts({ firstByteMs: 100 }),
    expected: { code: 'TIMEOUT_FIRST_BYTE', attempts: 3 },
  },
  {
    title: 'a body that pauses for too long',
    start: raw('http', (socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{')),
    ),
    settings: timeouts({ idleMs: 100 }),
    expected: { code: 'TIMEOUT_IDLE', attempts: 3 },
  },
  {
    title: 'an attempt that takes too long in all',
    start: raw('http', (socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n');
        const timer = setInterval(() => socket.write(' '), 20);
        socket.once('close', () => clearInterval(timer));
      }),
    ),
    settings: timeouts({ totalMs: 200 }),
    expected: { code: 'TIMEOUT_TOTAL', attempts: 3 },
  },
  {
    title: 'a certificate nobody vouches for',
    start: async () => {
      const server = await serve(() => ({ status: 200 }), {
        protocol: 'https',
        certificate: createAuthority().issue(['127.0.0.1']),
      });
      closing.push(server);
      return `${server.url}/a`;
    },
    expected: { code: 'TLS_FAILED', attempts: 3 },
  },
  {
    title: 'an answer that is no HTTP',
    start: raw('http', (socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n\r\n'))),
    expected: { code: 'HTTP_PROTOCOL', attempts: 3 },
  },
  {
    title: 'a proxy that is not there',
    start: echo(),
    settings: { proxyConfiguration: new ProxyConfiguration({ proxyUrls: ['http://127.0.0.1:9'] }) },
    expected: { code: 'PROXY_FAILED', attempts: 3 },
  },
  {
    title: 'an address that is private, where those are refused',
    start: echo(),
    settings: { blockPrivateAddresses: true },
    expected: { code: 'BLOCKED_ADDRESS', attempts: 1 },
  },
  {
    title: 'a header that cannot be sent',
    start: echo(),
    request: { headers: { 'x-bad': 'line\nbreak' } },
    expected: { code: 'INVALID_REQUEST', attempts: 1 },
  },
  {
    title: 'a label that nothing handles',
    start: echo(),
    settings: { routes: [defineRoute({ label: 'KNOWN', extract: () => ({}) })], requestHandler: undefined as never },
    request: { label: 'OTHER' },
    expected: {
      code: 'UNKNOWN_LABEL',
      attempts: 1,
      label: 'OTHER',
      message: expect.stringContaining('known are KNOWN'),
    },
  },
  {
    title: 'a handler that throws',
    start: echo(),
    settings: { requestHandler: fails },
    expected: {
      code: 'HANDLER_FAILED',
      attempts: 3,
      status: 200,
      message: 'the handler is at fault',
    },
  },
  {
    title: 'a handler that takes too long',
    start: echo(),
    settings: {
      requestHandlerTimeoutSecs: 0.1,
      requestHandler: () => new Promise((resolve) => setTimeout(resolve, 5_000).unref()),
    },
    expected: { code: 'HANDLER_TIMEOUT', attempts: 3, status: 200 },
  },
  {
    title: 'a route that throws',
    start: echo(),
    settings: { routes: [defineRoute({ label: 'BAD', extract: fails })] },
    request: { label: 'BAD' },
    expected: { code: 'ROUTE_FAILED', attempts: 1, status: 200, label: 'BAD' },
  },
  {
    title: 'a POST whose answer was lost',
    start: raw('http', (socket) => socket.once('data', () => socket.resetAndDestroy())),
    request: { method: 'POST', payload: '{}' },
    expected: {
      code: 'CONNECTION_RESET',
      attempts: 1,
      method: 'POST',
      message: expect.stringContaining('safeMethods'),
    },
  },
];

describe('a request that failed for good is a row in failures:', () => {
  test.each(rows)('$expected.code, $title', async ({ start, settings, request, expected }) => {
    const url = await start();
    const beganAtMs = Date.now();
    const crawler = await bench.createOwn({ maxRequestRetries: 2, requestHandler: async () => {}, ...settings });
    const stats = await crawler.run([{ url, ...request }]);
    expect(stats).toMatchObject({ requestsFinished: 0, requestsFailed: 1 });
    const { items } = await (await crawler.getDataset('failures')).getData();
    expect(items).toHaveLength(1);
    const [row] = items as [FailureRecord];
    expect(row).toMatchObject({ url, method: 'GET', label: null, ...expected });
    expect(row.message.length).toBeGreaterThan(10);
    const [firstAtMs, lastAtMs] = [Date.parse(row.firstAt), Date.parse(row.lastAt)];
    expect(firstAtMs).toBeGreaterThanOrEqual(beganAtMs);
    expect(firstAtMs).toBeLessThanOrEqual(lastAtMs);
    expect(lastAtMs).toBeLessThanOrEqual(Date.now());
  });

  test('not one that is pending: its host is given up', async () => {
    const url = await echo(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: '{}' }))();
    const crawler = await bench.createOwn({
      hosts: { default: { maxServerWaitSecs: 10 } },
      requestHandler: async () => {},
    });
    expect(await crawler.run([url])).toMatchObject({ requestsFinished: 0, requestsFailed: 0 });
    expect((await (await crawler.getDataset('failures')).getData()).items).toEqual([]);
    expect(await crawler.requestQueue?.isFinished()).toBe(true);
  });
});

describe('a failure that ends the crawl', () => {
  test('CRITICAL, thrown by a handler: its request stays pending', async () => {
    const crawler = await bench.createOwn({
      requestHandler: async () => {
        throw new CriticalError('no use going on');
      },
    });
    const error = await crawler.run([await echo()()]).catch((thrown: unknown) => thrown);
    expect([failureCodeOf(error), (error as Error).message]).toEqual(['CRITICAL', 'no use going on']);
    expect(await bench.countsOf(crawler)).toMatchObject({ failed: 0, pending: 1 });
  });

  test('CONFIGURATION: the file of a credential is gone by the time it is needed', async () => {
    const url = await echo()();
    const file = join(bench.folder, 'token.txt');
    writeFileSync(file, 'secret-of-file');
    const credentials = [{ name: 'only', headers: { authorization: `\${file:${file}}` } }];
    const crawler = await bench.createOwn({
      hosts: { default: { sessionPool: { credentials } } },
      requestHandler: async () => {},
    });
    rmSync(file);
    const error = await crawler.run([url]).catch((thrown: unknown) => thrown);
    expect(failureCodeOf(error)).toBe('CONFIGURATION');
    expect((error as Error).message).toContain('token.txt');
    expect(await bench.countsOf(crawler)).toMatchObject({ failed: 0, pending: 1 });
  });
});

/** Codes that other tests provoke: the file, and part of the test's title. */
const ELSEWHERE: Record<string, [file: string, title: string]> = {
  TOO_MANY_REDIRECTS: ['crawl/redirects.test.ts', 'of ten redirects are followed, of eleven not'],
  REDIRECT_LOOP: ['crawl/redirects.test.ts', 'that lead back are named'],
  BAD_LOCATION: ['crawl/redirects.test.ts', 'without a usable Location fail typed'],
  HOST_GIVEN_UP: ['crawl/redirects.test.ts', 'to a host that is given up fails its own request only'],
  POISON: ['crawl/poison.test.ts', 'each time by the same request, in whatever way, ends with that one as POISON'],
  CRITICAL: ['crawl/failure-paths.test.ts', 'thrown by a handler: its request stays pending'],
  CONFIGURATION: ['crawl/failure-paths.test.ts', 'the file of a credential is gone'],
  ENVIRONMENT: ['faults/disk-full.test.ts', 'a crawl whose disk is full ends with ENVIRONMENT'],
  ...Object.fromEntries(
    [
      'UNAUTHORIZED',
      'AUTH_FAILED',
      'AUTH_UNREACHABLE',
      'SELECTOR_NO_MATCH',
      'SELECTOR_NO_LIST',
      'REPEATED_CURSOR',
      'REPEATED_PAGE',
      'PARENT_FIELD_MISSING',
      'PAGINATOR_FAILED',
      'RESPONSE_ACTION',
      'RESET_PAGINATION_LOOP',
      'GRAPHQL_ERROR',
      'SCHEMA_FROZEN',
      'SECRET_REDIRECTED',
    ].map((code) => [code, ['api/failure-codes.test.ts', `code: '${code}'`]]),
  ),
};

describe('every code that is documented', () => {
  test.each(Object.keys(FAILURE_KINDS))('%s is provoked by a test, through the real crawler', (code) => {
    if (rows.some((row) => row.expected.code === code)) return;
    expect(ELSEWHERE, `No test provokes ${code}: add a row above`).toHaveProperty(code);
    const [file, title] = ELSEWHERE[code]!;
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    expect(text).toContain(title);
    expect(text).toContain(code);
  });
});

describe('a list of URLs', () => {
  test('has a row for each of its distinct URLs, those that failed and those robots.txt forbids among them', async () => {
    const server = await startEcho(undefined, { robots: 'User-agent: *\nDisallow: /private' });
    closing.push(server);
    const skipped: unknown[] = [];
    const crawler = await bench.createOwn({
      respectRobotsTxtFile: true,
      maxRequestRetries: 1,
      onSkippedRequest: ({ url, reason }) => void skipped.push([url, reason]),
    });
    const paths = ['/1', '/2', '/private/3', '/status/404', '/status/500', '/1', '/2#fragment'];
    await crawler.run(paths.map((path) => server.url + path));
    const rowOf = (path: string, rest: object) => ({ url: server.url + path, ...rest });
    const { items } = await crawler.getData();
    expect(items.sort((a, b) => (a.url < b.url ? -1 : 1))).toMatchObject([
      rowOf('/1', { status: 200, data: { path: '/1' }, error: null }),
      rowOf('/2', { status: 200, data: { path: '/2' }, error: null }),
      rowOf('/private/3', { status: null, data: null, error: expect.stringContaining('robots.txt') }),
      rowOf('/status/404', { status: 404, data: null, error: 'HTTP_404' }),
      rowOf('/status/500', { status: 500, data: null, error: 'HTTP_500' }),
    ]);
    expect(items).toHaveLength(5);
    expect(skipped).toEqual([[`${server.url}/private/3`, 'robotsTxt']]);
    expect(server.hits('/private/3')).toBe(0);
  });

  test('keeps every digit, and takes empty answers to what is no GET', async () => {
    const server = await startEcho(({ method, path }) => ({
      body: method === 'HEAD' || path === '/empty' ? '' : '{"id":12345678901234567890}',
    }));
    closing.push(server);
    const crawler = await bench.createOwn({});
    await crawler.run([
      `${server.url}/a`,
      { url: `${server.url}/b`, method: 'HEAD' },
      { url: `${server.url}/empty`, method: 'DELETE' },
    ]);
    expect(await bench.textsOf(crawler, 'default')).toEqual(
      [
        `{"url":"${server.url}/a","status":200,"data":{"id":12345678901234567890},"error":null}`,
        `{"url":"${server.url}/b","status":200,"data":null,"error":null}`,
        `{"url":"${server.url}/empty","status":200,"data":null,"error":null}`,
      ].sort(),
    );
  });
});

describe('records that do not fit their schema', () => {
  test('go to dataset invalid, whole, and their request is no failure', async () => {
    const server = await startEcho(() => ({ body: '[{"id":1},{"id":"two"}]' }));
    closing.push(server);
    const route = defineRoute<{ id: unknown }[]>({
      label: 'LIST',
      record: z.object({ id: z.number() }),
      dataset: 'items',
      extract: ({ body }) => ({ records: body }),
    });
    const crawler = await bench.createOwn({ routes: [route] });
    await crawler.run([{ url: `${server.url}/a`, label: 'LIST' }]);
    expect((await (await crawler.getDataset('items')).getData()).items).toEqual([{ id: 1 }]);
    expect((await (await crawler.getDataset('invalid')).getData()).items).toMatchObject([
      { url: `${server.url}/a`, label: 'LIST', record: { id: 'two' } },
    ]);
  });
});
