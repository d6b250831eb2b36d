import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';

const client = createUndiciClient({
  ports: { clock: systemClock, random: () => 0.5, log: silentLog },
  maxConnectionsPerOrigin: 4,
  blockPrivateAddresses: false,
});
const server = createServer((request, response) => {
  if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'));
  else response.end(JSON.stringify({ url: request.url, headers: request.headers }));
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await client.close();
  server.close();
});

const get = (path: string) =>
  client.send({
    url: origin + path,
    method: 'GET',
    headers: {},
    body: null,
    timeouts: { connectMs: 1000, firstByteMs: 1000, idleMs: 1000, totalMs: 5000 },
    maxBodyBytes: 1e6,
    proxyUrl: null,
    http2: 'auto',
  });

test('reuses a connection and says so', async () => {
  expect((await get('/a')).reusedConnection).toBe(false);
  const second = await get('/gzip');
  expect(second.reusedConnection).toBe(true);
  expect(second.body.toString()).toBe('{"a":1}');
});
