import { expect, test } from 'vitest';
import { printProbe } from '../../../src/measure/probe/print-probe.ts';
import type { UrlProbe } from '../../../src/measure/probe/probe-report.ts';

const PROBE: UrlProbe = {
  url: 'https://api.example.com/items/1',
  host: 'api.example.com',
  status: 200,
  error: null,
  httpVersion: '2',
  fresh: { dns: 1.2, connect: 81, tls: 83, firstByte: 106, download: 0.3, total: 272 },
  freshBest: { dns: 1.2, connect: 81, tls: 83, firstByte: 106, download: 0.3, total: 272 },
  reused: { dns: 0, connect: 0, tls: 0, firstByte: 105, download: 0.25, total: 105.4 },
  samples: { fresh: 4, reused: 5 },
  roundTripMs: 81,
  serverMs: 24,
  isReused: true,
  keepAlive: { kind: 'kept', atLeastMs: 6_000 },
  statedKeepAliveMs: null,
  contentEncoding: 'br',
  wireBytes: 1_200,
  bodyBytes: 5_000,
  limits: [{ name: 'default', unit: 'requests', limit: 100, remaining: 42, windowMs: 60_000 }],
  retryAfterMs: null,
  refusal: null,
  robots: { verdict: 'disallowed', rule: 'Disallow: /items', crawlDelayMs: 2_000 },
  clockSkewMs: { least: 3_599_900, most: 3_600_100 },
  families: [
    { family: 4, address: '192.0.2.1', connectMs: 81, error: null },
    { family: 6, address: '2001:db8::1', connectMs: null, error: 'no route' },
  ],
  outlook: { latencyMs: 105.4, wishedRps: 100, concurrency: 11, statedRps: 1.67, ceilingRps: 1.67, maxConcurrency: 50 },
};

test('a probe reads like a table, and ends with what the position allows', () => {
  expect(printProbe(PROBE, { color: false })).toBe(`https://api.example.com/items/1

                          DNS    connect        TLS first byte   download      total
  new connection      1.20 ms      81 ms      83 ms     106 ms    0.30 ms     272 ms
    since start       1.20 ms      82 ms     165 ms     271 ms     272 ms     272 ms
  kept connection     0.00 ms    0.00 ms    0.00 ms     105 ms    0.25 ms     105 ms
  medians of 4 and 5 requests

  Status       200
  Round trip   81 ms (from connecting)
  Server       24 ms (first byte less the round trip)
  HTTP         HTTP/2 (by ALPN)
  Keep-alive   connections are used again; an idle one is kept for at least 6.0 s
  Body         5,000 bytes, 1,200 as br
  Limits       default: 100 in 1 min 00 s, 42 left
  robots.txt   forbids it ("Disallow: /items"): a crawl would skip it, asks for 2.0 s between requests
  Clock        1 h 00 min ahead of ours (± 100 ms)
  Addresses    IPv4 192.0.2.1 in 81 ms, IPv6 2001:db8::1 not reached (no route)

What this position allows
  105 ms a request over a kept connection
  100 requests/s need 11 in flight (rate x latency), but its stated limit is 1.67/s
  50 in flight allow 1.67 requests/s: the stated limit, not the distance, binds`);
});

test('a URL that did not answer says why, and what to do next, and no more', () => {
  const failed: UrlProbe = {
    ...PROBE,
    status: null,
    error: { code: 'CONNECTION_REFUSED', message: 'api.example.com:443 refused the connection' },
    httpVersion: null,
    fresh: null,
    reused: null,
    roundTripMs: null,
    serverMs: null,
    bodyBytes: null,
    robots: null,
    clockSkewMs: null,
    families: [],
    outlook: null,
  };
  expect(printProbe(failed, { color: false })).toBe(`https://api.example.com/items/1

  Status       CONNECTION_REFUSED: api.example.com:443 refused the connection
  Next         Nothing listens there: check scheme and port, and whether the service is up.`);
});

test.each([
  ['TLS_FAILED', 'For a private authority set NODE_EXTRA_CA_CERTS'],
  ['TIMEOUT_FIRST_BYTE', 'Raise --timeout'],
] as const)('a probe without an answer (%s) says what to do next', (code, next) => {
  const error = { code, message: 'said by the system' };
  const text = printProbe(
    { ...PROBE, status: null, fresh: null, reused: null, error, outlook: null },
    { color: false },
  );
  expect(text).toContain(`  Status       ${code}: said by the system\n  Next         ${next}`);
});
