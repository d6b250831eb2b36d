import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { probeUrl } from '../../../src/measure/probe/probe-url.ts';
import { answerJson } from '../../fixtures/servers/json-server.ts';
import { type Respond, serve } from '../../fixtures/servers/serve.ts';
import { limitByTokenBucket } from '../../fixtures/servers/token-bucket-server.ts';
import { clientsThatTrust, probeOptions, targetOf } from '../support/probing.ts';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function started(respond: Respond) {
  const server = await serve(respond);
  open.push(server);
  return server;
}

async function plainServer(listener: RequestListener, options: ServerOptions = {}): Promise<string> {
  const server = createServer(options, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a probe', () => {
  test('splits fresh and kept requests and tells what the position allows', async () => {
    const { url, stats } = await started(answerJson({ latencyMs: 40, bodyBytes: 500 }));
    const probe = await probeUrl(targetOf(`${url}/items/1`), probeOptions({ wishedRps: 200, maxConcurrency: 10 }));
    expect(probe).toMatchObject({
      status: 200,
      error: null,
      httpVersion: '1.1',
      isReused: true,
      bodyBytes: 500,
      refusal: null,
    });
    expect(probe.samples).toEqual({ fresh: 3, reused: 5 });
    expect(probe.fresh?.connect).toBeGreaterThan(0);
    expect(probe.reused).toMatchObject({ dns: 0, connect: 0, tls: 0 });
    expect(probe.serverMs).toBeGreaterThan(35);
    const { latencyMs, concurrency, ceilingRps } = probe.outlook!;
    expect(latencyMs).toBeGreaterThanOrEqual(39);
    expect(concurrency).toBe(Math.ceil((200 * latencyMs) / 1_000));
    expect(ceilingRps).toBeCloseTo(10_000 / latencyMs, 6);
    // 3 fresh, 1 that opens and 5 kept ones, 1 for keep-alive, 1 by its address; and robots.txt.
    expect(stats()).toMatchObject({ requests: 12, served: { '/items/1': 11, '/robots.txt': 1 } });
  });

  test('tells of a server that closes its connections', async () => {
    const url = await plainServer((_request, response) => response.writeHead(200, { connection: 'close' }).end('{}'));
    const probe = await probeUrl(targetOf(url), probeOptions());
    expect(probe).toMatchObject({ isReused: false, reused: null, keepAlive: { kind: 'closed-at-once' } });
    expect(probe.outlook?.latencyMs).toBe(probe.fresh?.total);
  });

  test('waits for the end of an idle connection, and says how long it lasted', async () => {
    const url = await plainServer((_request, response) => response.end('{}'), {
      keepAliveTimeout: 1_000,
      keepAliveTimeoutBuffer: 0,
    });
    const probe = await probeUrl(targetOf(url), probeOptions({ keepAliveBoundMs: 5_000 }));
    expect(probe.statedKeepAliveMs).toBe(1_000);
    const { keepAlive } = probe;
    expect(keepAlive.kind).toBe('closed-after');
    const afterMs = keepAlive.kind === 'closed-after' ? keepAlive.afterMs : 0;
    expect(afterMs).toBeGreaterThanOrEqual(950);
    expect(afterMs).toBeLessThan(3_000);
  });

  test('says no more than it saw of one that is kept', async () => {
    const { url } = await started(answerJson());
    const { keepAlive } = await probeUrl(targetOf(url), probeOptions({ keepAliveBoundMs: 150 }));
    expect(keepAlive.kind).toBe('kept');
    expect(keepAlive.kind === 'kept' && keepAlive.atLeastMs >= 149).toBe(true);
  });

  test('stops at the first refusal', async () => {
    const { url, stats } = await started(limitByTokenBucket({ requestsPerSecond: 0.1, burst: 2 }));
    const probe = await probeUrl(targetOf(url), probeOptions());
    expect(probe).toMatchObject({ status: 429, refusal: 'status 429', retryAfterMs: 10_000, robots: null });
    expect(stats()).toMatchObject({ requests: 3, statuses: { 200: 2, 429: 1 } });
  });

  test('reads stated limits, and keeps the ceiling below them', async () => {
    const { url } = await started(limitByTokenBucket({ requestsPerSecond: 50, burst: 100, stated: true }));
    const probe = await probeUrl(targetOf(url), probeOptions());
    expect(probe.limits).toMatchObject([{ name: 'bucket', unit: 'requests', limit: 50, windowMs: 1_000 }]);
    expect(probe.outlook).toMatchObject({ statedRps: 50, ceilingRps: 50 });
  });

  test('reads robots.txt without our credentials', async () => {
    const seen: (string | undefined)[] = [];
    const { url } = await started(({ path, headers }) => {
      if (path !== '/robots.txt') return { status: 200, body: '{}' };
      seen.push(headers.authorization);
      return { status: 200, body: 'User-agent: *\nDisallow: /private\nCrawl-delay: 2\n' };
    });
    const target = targetOf(`${url}/private/1`, { headers: { authorization: 'Bearer secret' } });
    const { robots } = await probeUrl(target, probeOptions());
    expect(robots).toEqual({ verdict: 'disallowed', rule: 'Disallow: /private', crawlDelayMs: 2_000 });
    expect(seen).toEqual([undefined]);
  });

  test('tells compressed bytes from those of the body', async () => {
    const text = JSON.stringify({ pad: 'x'.repeat(5_000) });
    const packed = gzipSync(text);
    const url = await plainServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed),
    );
    const probe = await probeUrl(targetOf(url), probeOptions());
    expect(probe).toMatchObject({ contentEncoding: 'gzip', bodyBytes: text.length, wireBytes: packed.length });
  });

  test('tries every address family of a name', async () => {
    const url = await plainServer((_request, response) => response.end('{}'));
    const { families } = await probeUrl(targetOf(url.replace('127.0.0.1', 'localhost')), probeOptions());
    expect(families.find(({ family }) => family === 4)).toMatchObject({ address: '127.0.0.1', error: null });
    const six = families.find(({ family }) => family === 6);
    if (six !== undefined) expect(six).toMatchObject({ address: '::1', connectMs: null });
  });

  test('tells why there was no answer', async () => {
    const { url, close } = await serve(answerJson());
    await close();
    const probe = await probeUrl(targetOf(url), probeOptions());
    expect(probe).toMatchObject({ status: null, fresh: null, outlook: null, error: { code: 'CONNECTION_REFUSED' } });
  });

  test('ends at once when it is told to', async () => {
    const { url } = await started(answerJson({ latencyMs: 10_000 }));
    const controller = new AbortController();
    const probing = probeUrl(
      targetOf(url),
      probeOptions({ signal: controller.signal, openClient: clientsThatTrust() }),
    );
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(probing).rejects.toThrow('enough');
  });
});
