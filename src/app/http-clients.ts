import type { HostConfig } from '../config/host-schema.ts';
import type { Input } from '../config/input-schema.ts';
import type { EventSink } from '../core/events.ts';
import { hostOf } from '../core/host.ts';
import type { Ports } from '../core/ports.ts';
import type { ConnectionStats, HttpClient } from '../http/client.ts';
import { createUndiciClient } from '../http/undici-client.ts';

export type HttpClientsOptions = {
  input: Input;
  hostConfig: (host: string) => HostConfig;
  ports: Ports;
  onEvent: EventSink;
};

/** The crawl's clients: each host's own choice, or else the crawl's. got-scraping is loaded only where it is chosen. */
export async function createHttpClients(options: HttpClientsOptions): Promise<HttpClient & ClientChoice> {
  const { input, hostConfig, ports, onEvent } = options;
  const common = {
    ports,
    maxConnectionsPerOrigin: input.maxConcurrency,
    blockPrivateAddresses: input.blockPrivateAddresses,
  };
  const undici = createUndiciClient({ ...common, onEvent });
  const isGotWanted =
    input.httpClient === 'got-scraping' ||
    Object.values(input.hosts).some((host) => host.httpClient === 'got-scraping');
  const got = isGotWanted ? (await import('../http/got-scraping-client.ts')).createGotScrapingClient(common) : null;
  const isBrowserLike = (host: string): boolean =>
    got !== null && (hostConfig(host).httpClient ?? input.httpClient) === 'got-scraping';
  const clientFor = (host: string): HttpClient => (got !== null && isBrowserLike(host) ? got : undici);
  const all = got === null ? [undici] : [undici, got];
  return {
    clientFor,
    isBrowserLike,
    send: (request, signal) => clientFor(hostOf(request.url)).send(request, signal),
    stats: () => all.map((client) => client.stats()).reduce(sum),
    close: async () => {
      await Promise.all(all.map((client) => client.close()));
    },
  };
}

export type ClientChoice = {
  clientFor: (host: string) => HttpClient;
  /** Whether the host gets a browser's headers, its name among them. */
  isBrowserLike: (host: string) => boolean;
};

function sum(a: ConnectionStats, b: ConnectionStats): ConnectionStats {
  return {
    opened: a.opened + b.opened,
    requests: a.requests + b.requests,
    http2Requests: a.http2Requests + b.http2Requests,
    waiting: a.waiting + b.waiting,
  };
}
