import { afterAll, afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { HttpClient } from '../../src/http/client.ts';
import type { Resolve } from '../../src/http/dns-cache.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';
import { failure, limits, request } from './support/requests.ts';
import { closeServers, startHttp } from './support/servers.ts';

const clients: HttpClient[] = [];

function newClient(options: { resolve: Resolve; blockPrivateAddresses?: boolean }): HttpClient {
  const client = createUndiciClient({
    ports: { clock: systemClock, random: () => 0.5, log: silentLog },
    maxConnectionsPerOrigin: 10,
    blockPrivateAddresses: false,
    ...options,
  });
  clients.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(closeServers);

const resolveTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

test('reaches a host by its IPv4 address when nothing answers at its IPv6 address', async () => {
  const server = await startHttp((_incoming, response) => response.end('x'));
  const client = newClient({ resolve: resolveTo('::1', '127.0.0.1') });
  expect((await client.send(request(`http://both.test:${server.port}/`))).status).toBe(200);
});

test('names every address that was tried when none answers', async () => {
  const server = await startHttp(() => {});
  await server.close();
  const client = newClient({ resolve: resolveTo('127.0.0.2', '127.0.0.3') });
  const error = await failure(client.send(request(`http://both.test:${server.port}/`)), 'CONNECTION_REFUSED');
  expect(error.message).toContain('127.0.0.2');
  expect(error.message).toContain('127.0.0.3');
});

test('asks for a name once for many connections', async () => {
  const server = await startHttp((_incoming, response) => setTimeout(() => response.end('x'), 10));
  let asked = 0;
  const client = newClient({
    resolve: async (hostname) => {
      asked += 1;
      return resolveTo('127.0.0.1')(hostname);
    },
  });
  const url = `http://once.test:${server.port}/`;
  await Promise.all(Array.from({ length: 10 }, () => client.send(request(url))));
  expect(server.accepted()).toBeGreaterThan(1);
  expect(asked).toBe(1);
});

test('leaves no connection behind when the name resolves after the time limit', async () => {
  const server = await startHttp((_incoming, response) => response.end('x'));
  const answer = Promise.withResolvers<{ address: string; family: number }[]>();
  const client = newClient({ resolve: () => answer.promise });
  const sent = client.send(request(`http://late.test:${server.port}/`, limits({ connectMs: 60 })));
  expect((await failure(sent, 'TIMEOUT_CONNECT')).message).toContain('looking up the name');
  answer.resolve([{ address: '127.0.0.1', family: 4 }]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await expect.poll(server.open).toBe(0);
  expect(client.stats().opened).toBe(0);
});

test('with private addresses refused, reaches a name only by its public ones', async () => {
  const server = await startHttp((_incoming, response) => response.end('x'));
  const client = newClient({ resolve: resolveTo('127.0.0.1', '::1'), blockPrivateAddresses: true });
  const error = await failure(client.send(request(`http://rebound.test:${server.port}/`)), 'BLOCKED_ADDRESS');
  expect(error.message).toContain('resolves to 127.0.0.1');
  expect(server.accepted()).toBe(0);
});
