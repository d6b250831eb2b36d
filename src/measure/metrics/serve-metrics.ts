import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { EnvironmentError, messageOf } from '../../core/errors.ts';
import { latencyText } from './latency-histogram.ts';
import type { MetricsSource } from './metrics-source.ts';
import { createRegistry } from './registry.ts';

export type MetricsServer = { port: number; close(): Promise<void> };

/**
 * Serves /metrics for Prometheus, /healthz (200 while the process answers) and /readyz (200 while the crawl takes up
 * requests, 503 else), on all addresses: in a container they are asked from outside.
 * @param port 0 = any free one
 * @throws EnvironmentError when the port is in use
 */
export async function serveMetrics(source: MetricsSource, port: number): Promise<MetricsServer> {
  const registry = createRegistry(source);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    answer(pathname, { response, registry, source }).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await listen(server, port);
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      registry.clear();
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new EnvironmentError(`--metrics-port ${port} cannot be listened on: ${messageOf(error)}`, { cause: error });
  }
}

async function answer(
  path: string,
  { response, registry, source }: { response: ServerResponse; registry: Registry; source: MetricsSource },
): Promise<void> {
  if (path === '/healthz') say(response, { status: 200, text: 'ok\n' });
  else if (path === '/readyz') {
    const isReady = source.isReady();
    say(response, { status: isReady ? 200 : 503, text: isReady ? 'ready\n' : 'not ready\n' });
  } else if (path === '/metrics') {
    const text = `${await registry.metrics()}\n${latencyText(source)}`;
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  } else say(response, { status: 404, text: 'There are /metrics, /healthz and /readyz.\n' });
}

function say(response: ServerResponse, { status, text }: { status: number; text: string }): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}
