// Servers of 1 KB of JSON, in a process of their own: HTTP/1.1 at once, and HTTP/2 over TLS after 50 ms.
// Prints {"plain": PORT, "http2": PORT}.
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { testCertificates } from '../../test/http/support/certificates.ts';

const BODY = JSON.stringify({ id: 1, name: 'x'.repeat(960), price: 12.5, tags: ['a', 'b'] });
const HEADERS = { 'content-type': 'application/json', 'content-length': String(BODY.length) };
const HTTP2_LATENCY_MS = 50;

const plain = createServer((_request, response) => response.writeHead(200, HEADERS).end(BODY));
plain.keepAliveTimeout = 60_000;
const http2 = createSecureServer(testCertificates().good);
http2.on('stream', (stream) => {
  stream.on('error', () => {});
  setTimeout(() => {
    if (stream.destroyed) return;
    stream.respond({ ':status': 200, ...HEADERS });
    stream.end(BODY);
  }, HTTP2_LATENCY_MS);
});

plain.listen(0, '127.0.0.1', () =>
  http2.listen(0, '127.0.0.1', () => {
    const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
    process.send?.({ plain: portOf(plain), http2: portOf(http2), ca: testCertificates().ca });
  }),
);
