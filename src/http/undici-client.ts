import type { EventSink } from '../core/events.ts';
import type { Ports } from '../core/ports.ts';
import { AbortListeners } from './abort-listeners.ts';
import type { ConnectionStats, HttpClient, HttpRequest, HttpResponse } from './client.ts';
import { TlsSessions } from './connect-route.ts';
import { Deadlines } from './deadlines.ts';
import { DnsCache, type Resolve } from './dns-cache.ts';
import { Exchange } from './exchange.ts';
import { clientClosed, type SocketPorts, type TlsTrust } from './open-socket.ts';
import { OriginPool, type PoolCounters } from './origin-pool.ts';
import { parseProxy } from './proxy-tunnel.ts';
import { parseTarget, type Target } from './target.ts';

export type UndiciClientOptions = {
  ports: Ports;
  /** Most connections to one origin at once; `reserve` raises it for one. HTTP/2 needs few whatever it says. */
  maxConnectionsPerOrigin: number;
  /** Refuse loopback and private targets, by their written address and by what their name resolves to. */
  blockPrivateAddresses: boolean;
  /** Hears of a host that falls back to HTTP/1.1. */
  onEvent?: EventSink;
  /** Authorities to trust beside the system's, and the like; certificates are verified whatever it says. */
  trust?: TlsTrust;
  /** How names are resolved; the system's way when left out. */
  resolve?: Resolve;
};

/**
 * The default client: kept-alive HTTP/1.1 and HTTP/2 connections by undici, one pool an origin (and proxy), opened as
 * needed and used for the whole crawl. Redirects and error statuses are answers like any other.
 */
export function createUndiciClient(options: UndiciClientOptions): HttpClient {
  return new UndiciClient(options);
}

class UndiciClient implements HttpClient {
  readonly #options: UndiciClientOptions;
  readonly #pools = new Map<string, OriginPool>();
  readonly #counters: PoolCounters = { opened: 0, requests: 0, http2Requests: 0 };
  readonly #deadlines: Deadlines<Exchange>;
  readonly #aborts: AbortListeners;
  readonly #sessions = new TlsSessions();
  readonly #closing = new AbortController();
  readonly #socketPorts: SocketPorts;
  /** Origins whose HTTP/2 kept failing. */
  readonly #http1Only = new Set<string>();
  readonly #reserved = new Map<string, number>();

  constructor(options: UndiciClientOptions) {
    const { clock } = options.ports;
    this.#options = options;
    this.#deadlines = new Deadlines(clock);
    this.#aborts = new AbortListeners((signal) => this.#abort(signal));
    this.#socketPorts = {
      clock,
      dns: new DnsCache({ clock, resolve: options.resolve }),
      trust: options.trust ?? {},
      blockPrivateAddresses: options.blockPrivateAddresses,
      closing: this.#closing.signal,
    };
  }

  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const target = parseTarget(request.url);
      const pool = this.#poolOf(target, request);
      if (signal) this.#aborts.listen(signal);
      const exchange = new Exchange({
        request,
        dispatch: pool.dispatchOptions(target, request),
        pool,
        clock: this.#options.ports.clock,
        signal,
        deadlines: this.#deadlines,
        resolve,
        reject,
      });
      this.#deadlines.add(exchange);
      pool.send(exchange);
    });
  }

  reserve(origin: string, connections: number): void {
    this.#reserved.set(origin, connections);
    for (const pool of this.#pools.values()) if (pool.origin === origin) pool.raiseLimit(connections);
  }

  stats(): ConnectionStats {
    let waiting = 0;
    for (const pool of this.#pools.values()) waiting += pool.waiting;
    return { ...this.#counters, waiting };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const exchange of [...this.#deadlines.exchanges]) {
      exchange.fail(clientClosed(exchange.host, exchange.wasSent));
    }
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
    this.#pools.clear();
    this.#deadlines.close();
  }

  #poolOf(target: Target, request: HttpRequest): OriginPool {
    const { origin } = target;
    const isPlain = request.proxyUrl === null && request.http2 === 'auto';
    const key = isPlain ? origin : `${origin} ${request.proxyUrl ?? ''} ${request.http2}`;
    const known = this.#pools.get(key);
    if (known) return known;
    if (this.#closing.signal.aborted) throw clientClosed(origin);
    const pool = this.#createPool(key, origin, request);
    this.#pools.set(key, pool);
    return pool;
  }

  #createPool(key: string, origin: string, request: HttpRequest): OriginPool {
    const { protocol, hostname, port, host } = new URL(origin);
    const secure = protocol === 'https:';
    const allowsHttp2 = request.http2 === 'auto' && !this.#http1Only.has(origin);
    return new OriginPool({
      origin,
      host,
      route: {
        endpoint: { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) },
        secure,
        proxy: request.proxyUrl === null ? null : parseProxy(request.proxyUrl),
        alpn: allowsHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      },
      maxConnections: Math.max(this.#options.maxConnectionsPerOrigin, this.#reserved.get(origin) ?? 0),
      sessions: this.#sessions,
      ports: this.#socketPorts,
      counters: this.#counters,
      onEvent: this.#options.onEvent ?? (() => {}),
      onHttp2Abandoned: () => this.#http1Only.add(origin),
      onEmpty: () => this.#pools.delete(key),
    });
  }

  #abort(signal: AbortSignal): void {
    const aborted = this.#deadlines.exchanges.filter((exchange) => exchange.signal === signal);
    for (const exchange of aborted) exchange.fail(signal.reason);
  }
}
