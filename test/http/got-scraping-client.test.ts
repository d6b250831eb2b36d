import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { HttpClient } from '../../src/http/client.ts';
import { createGotScrapingClient } from '../../src/http/got-scraping-client.ts';
import { type ClientSetUp, clientConformance } from './client-conformance.ts';
import { testCertificates } from './support/certificates.ts';
import { resolveOnly } from './support/names.ts';
import { request } from './support/requests.ts';
import { startHttp, startHttp2, startTcp } from './support/servers.ts';

function create(setUp: ClientSetUp): HttpClient {
  return createGotScrapingClient({
    ports: { clock: systemClock, random: () => 0.5, log: silentLog },
    maxConnectionsPerOrigin: setUp.maxConnectionsPerOrigin ?? 50,
    blockPrivateAddresses: setUp.blockPrivateAddresses ?? false,
    trust: setUp.ca === '' ? {} : { ca: setUp.ca },
    resolve: resolveOnly(setUp.names ?? {}),
  });
}

clientConformance({ name: 'got-scraping', create });

const newClient = (names: Record<string, string> = {}): HttpClient => create({ ca: testCertificates().ca, names });

test('looks like a browser: its headers, in its order, the same on every request', async () => {
  const seen: string[][] = [];
  const server = await startHttp((incoming, response) => {
    seen.push(incoming.rawHeaders);
    response.end('x');
  });
  const client = newClient();
  await client.send(request(server.origin, { headers: { accept: 'application/json', 'x-own': 'v' } }));
  await client.send(request(server.origin, { headers: { accept: 'application/json', 'x-own': 'v' } }));
  await client.close();
  const names = seen[0]!.filter((_value, index) => index % 2 === 0);
  const headers = Object.fromEntries(names.map((name, index) => [name, seen[0]![index * 2 + 1]]));
  expect(headers['User-Agent']).toContain('Mozilla/5.0');
  expect(headers.Accept).toBe('application/json');
  expect(headers['x-own']).toBe('v');
  expect(names.indexOf('Host')).toBe(0);
  expect(names).not.toContain('Content-Length');
  expect(seen[1]).toEqual(seen[0]);
});

test('speaks HTTP/1.1 also where the server has HTTP/2', async () => {
  const server = await startHttp2((http2) => http2.on('request', (_incoming, response) => void response.end('x')));
  const client = newClient({ localhost: '127.0.0.1' });
  expect(await client.send(request(server.origin))).toMatchObject({ status: 200, httpVersion: '1.1' });
  await client.close();
});

test('puts up with a header that breaks the protocol, as browsers do', async () => {
  const server = await startTcp((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\nx-bad: a\u0001b\r\n\r\nx')),
  );
  const client = newClient();
  expect((await client.send(request(server.origin))).body.toString()).toBe('x');
  await client.close();
});
