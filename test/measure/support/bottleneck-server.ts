// Servers that are one bottleneck each: `bottleneck-server.ts SPEC`, prints its origin, ends with its standard input.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { startProxy } from './connect-proxy.ts';

export type BottleneckSpec = {
  /** One after the other, each so long: who asks for more at once only waits. */
  workMs?: number;
  /** Of every answer. */
  latencyMs?: number;
  /** The first byte comes at once, the last so much later. */
  downloadMs?: number;
  bodyBytes?: number;
  /** A body of so many small objects, slow to parse. */
  objects?: number;
  /** s, in robots.txt. */
  crawlDelaySecs?: number;
  /** From the so-manieth request on it refuses with Retry-After, for so long. */
  rest?: { afterRequests: number; forSecs: number };
  /** From the so-manieth request on it cuts every connection, for so long. */
  outage?: { afterRequests: number; forMs: number };
  tls?: { key: string; cert: string };
  /** Streams at once of an HTTP/2 connection; left out = HTTP/1.1. */
  streams?: number;
  /** A forward proxy in the same process, whose port is printed too. */
  proxies?: boolean;
  /** How long the proxy takes to let a connection through. */
  tunnelMs?: number;
  /** /pages/1 and on: each names the next, up to this one. */
  pages?: number;
};

const spec = JSON.parse(process.argv[2] ?? '{}') as BottleneckSpec;
const pad = JSON.stringify({ pad: 'x'.repeat(spec.bodyBytes ?? 200) });
const body =
  spec.objects === undefined
    ? pad
    : JSON.stringify(
        Array.from({ length: spec.objects }, (_, id) => ({ id, name: `n${id}`, tags: ['a', 'b'], on: true })),
      );
let requests = 0;
let beganAtMs: number | null = null;
let freeAtMs = 0;

function handle(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/robots.txt') {
    const text = spec.crawlDelaySecs === undefined ? '' : `User-agent: millrace\nCrawl-delay: ${spec.crawlDelaySecs}\n`;
    response.writeHead(text === '' ? 404 : 200, { 'content-type': 'text/plain' }).end(text);
    return;
  }
  requests += 1;
  if (isIn(spec.rest, (spec.rest?.forSecs ?? 0) * 1_000)) {
    response.writeHead(429, { 'retry-after': String(spec.rest?.forSecs), 'content-length': 0 }).end();
    return;
  }
  if (isIn(spec.outage, spec.outage?.forMs ?? 0)) {
    request.socket.destroy();
    return;
  }
  setTimeout(() => answer(response, spec.pages === undefined ? body : pageOf(request.url ?? '')), waitMs());
}

function pageOf(path: string): string {
  const page = Number(path.split('/').at(-1));
  return JSON.stringify({ items: [{ id: page }], next: page < (spec.pages ?? 0) ? `/pages/${page + 1}` : null });
}

/** It begins with the so-manieth request, and ends by itself. */
function isIn(period: { afterRequests: number } | undefined, lengthMs: number): boolean {
  if (period === undefined || requests <= period.afterRequests) return false;
  beganAtMs ??= performance.now();
  return performance.now() - beganAtMs < lengthMs;
}

function waitMs(): number {
  const nowMs = performance.now();
  if (spec.workMs === undefined) return spec.latencyMs ?? 0;
  freeAtMs = Math.max(freeAtMs, nowMs) + spec.workMs;
  return freeAtMs - nowMs;
}

function answer(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  if (spec.downloadMs === undefined) {
    response.end(text);
    return;
  }
  response.write(text.slice(0, 1));
  setTimeout(() => response.end(text.slice(1)), spec.downloadMs);
}

const server =
  spec.tls === undefined
    ? createServer({ keepAliveTimeout: 60_000 }, handle)
    : spec.streams === undefined
      ? createTlsServer({ ...spec.tls, keepAliveTimeout: 60_000 }, handle)
      : createSecureServer({ ...spec.tls, settings: { maxConcurrentStreams: spec.streams } }, handle as never);
const proxyPort = spec.proxies ? await startProxy(spec.tunnelMs) : 0;
server.listen(0, '127.0.0.1', () => {
  const origin = `${spec.tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ origin, proxyPort })}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
