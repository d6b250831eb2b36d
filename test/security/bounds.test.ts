import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { HttpClient } from '../../src/http/client.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';

let client: HttpClient;

beforeAll(() => {
  const ports = { clock: systemClock, random: () => 0.5, log: silentLog };
  client = createUndiciClient({ ports, maxConnectionsPerOrigin: 2, blockPrivateAddresses: false });
});
afterAll(() => client.close());

function send(url: string) {
  const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 10_000 };
  const request = { url, method: 'GET', headers: {}, body: null, timeouts, maxBodyBytes: 1_000, proxyUrl: null };
  return client.send({ ...request, http2: 'auto' }, new AbortController().signal);
}

test('headers of more than 64 KiB are a failure, however many more there are', async () => {
  const line = `x-more: ${'y'.repeat(1_000)}\r\n`;
  let sentLines = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = (): void => {
      while (!socket.destroyed && sentLines < 1_000_000) {
        sentLines += 1;
        if (!socket.write(line)) return void socket.once('drain', more);
      }
    };
    more();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await expect(send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).rejects.toMatchObject({
    code: 'HTTP_PROTOCOL',
  });
  // What the two ends' buffers hold goes out before they notice; a gigabyte does not.
  expect(sentLines).toBeLessThan(50_000);
  server.close();
});

test('a URL of more than 64 KiB is refused before anything is sent', async () => {
  await expect(send(`http://127.0.0.1:9/${'x'.repeat(70_000)}`)).rejects.toMatchObject({
    code: 'INVALID_URL',
    recovery: 'skip',
  });
});
