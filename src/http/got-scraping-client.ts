import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { gotScraping, type OptionsInit } from 'got-scraping';
import type { Ports } from '../core/ports.ts';
import { AbortListeners } from './abort-listeners.ts';
import { BrowserOrderAgent } from './browser-order-agent.ts';
import type { ConnectionStats, HttpClient, HttpRequest, HttpResponse } from './client.ts';
import { connectRoute, TlsSessions } from './connect-route.ts';
import { MAX_HEADER_BYTES } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import { DnsCache, type Resolve } from './dns-cache.ts';
import { GotExchange, type WireOpening } from './got-exchange.ts';
import { clientClosed, type SocketPorts, type TlsTrust } from './open-socket.ts';
import { OriginGate } from './origin-gate.ts';
import { isForwarded, type ProxyRoute, parseProxy, refusedByProxy } from './proxy-tunnel.ts';
import { ACCEPT_ENCODING, refuseLongHeaders } from './request-headers.ts';
import { type ConnectTo, RouteAgent, type RouteRequestOptions } from './route-agent.ts';
import { parseTarget, type Target } from './target.ts';

export type GotScrapingClientOptions = {
  ports: Ports;
  /** Most connections to one origin at once; `reserve` raises it for all. */
  maxConnectionsPerOrigin: number;
  /** Refuse loopback and private targets, by their written address and by what their name resolves to. */
  blockPrivateAddresses: boolean;
  /** Authorities to trust beside the system's, and the like; certificates are verified whatever it says. */
  trust?: TlsTrust;
  /** How names are resolved; the system's way when left out. */
  resolve?: Resolve;
};

/**
 * got-scraping, for APIs that want a browser: headers, their order and the TLS handshake are a browser's, the same one
 * for the client's whole life. HTTP/1.1 only; connections, bodies, limits and errors as the default client's.
 */
export function createGotScrapingClient(options: GotScrapingClientOptions): HttpClient {
  return new GotScrapingClient(options);
}

/** The way requests of one kind go. */
type Lane = {
  agent: RouteAgent;
  wrapped: BrowserOrderAgent;
  /** The proxy that requests are sent to as they are, without a tunnel. */
  forwarding: ProxyRoute | null;
  gates: Map<string, OriginGate<GotExchange>>;
};

type Way = { target: Target; lane: Lane; headers: Record<string, string> };

class GotScrapingClient implements HttpClient {
  readonly #options: GotScrapingClientOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #deadlines: Deadlines<GotExchange>;
  readonly #aborts: AbortListeners;
  readonly #sessions = new TlsSessions();
  readonly #closing = new AbortController();
  readonly #socketPorts: SocketPorts;
  readonly #openings = new WeakMap<Socket, WireOpening>();
  readonly #browserHeaders: Record<string, string>;
  #maxConnections: number;
  #opened = 0;
  #requests = 0;

  constructor(options: GotScrapingClientOptions) {
    const { clock } = options.ports;
    this.#options = options;
    this.#maxConnections = options.maxConnectionsPerOrigin;
    this.#deadlines = new Deadlines(clock);
    this.#aborts = new AbortListeners((signal) => this.#abort(signal));
    this.#browserHeaders = generateHeaders();
    this.#socketPorts = {
      clock,
      dns: new DnsCache({ clock, resolve: options.resolve }),
      trust: options.trust ?? {},
      blockPrivateAddresses: options.blockPrivateAddresses,
      closing: this.#closing.signal,
    };
  }

  async send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const target = parseTarget(request.url);
    if (this.#closing.signal.aborted) throw clientClosed(target.origin);
    const lane = this.#laneOf(target, request);
    const headers = this.#headersOf(request, target, lane);
    if (signal) this.#aborts.listen(signal);
    return new Promise((resolve, reject) => {
      const gate = this.#gateOf(lane, target.origin);
      const exchange = new GotExchange({
        request,
        host: new URL(target.origin).host,
        clock: this.#options.ports.clock,
        signal,
        owner: {
          countUse: (sent) => this.#countUse(sent),
          refusal: (status) => (lane.forwarding ? refusedByProxy(lane.forwarding, status) : undefined),
          onSettled: (settled) => {
            this.#deadlines.remove(settled);
            gate.leave(settled);
          },
        },
        start: (ready) => this.#start(ready, { target, lane, headers }),
        resolve,
        reject,
      });
      this.#deadlines.add(exchange);
      gate.enter(exchange, this.#maxConnections);
    });
  }

  reserve(_origin: string, connections: number): void {
    this.#maxConnections = Math.max(this.#maxConnections, connections);
    for (const { gates } of this.#lanes.values()) for (const gate of gates.values()) gate.admit(this.#maxConnections);
  }

  stats(): ConnectionStats {
    let waiting = 0;
    for (const { gates } of this.#lanes.values()) for (const gate of gates.values()) waiting += gate.waiting;
    return { opened: this.#opened, requests: this.#requests, http2Requests: 0, waiting };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const exchange of [...this.#deadlines.exchanges]) exchange.fail(clientClosed(exchange.host, exchange.wasSent));
    for (const { agent } of this.#lanes.values()) agent.destroy();
    this.#lanes.clear();
    this.#deadlines.close();
  }

  #start(exchange: GotExchange, way: Way): void {
    const { request } = exchange;
    const stream = gotScraping.stream(way.target.origin + way.target.path, {
      ...FIXED_OPTIONS,
      method: request.method as OptionsInit['method'],
      headers: way.headers,
      body: sendableBody(request),
      // With it, a GET without body would wait for one.
      allowGetBody: request.body !== null,
      hooks: { beforeRequest: [(options) => sendAlong(options, way, request)] },
    });
    exchange.follow(stream);
  }

  #gateOf({ gates }: Lane, origin: string): OriginGate<GotExchange> {
    const known = gates.get(origin);
    if (known) return known;
    const gate = new OriginGate<GotExchange>((exchange) => exchange.start());
    gates.set(origin, gate);
    return gate;
  }

  #headersOf(request: HttpRequest, target: Target, lane: Lane): Record<string, string> {
    refuseLongHeaders(target.origin, request.headers);
    const headers: Record<string, string> = { ...this.#browserHeaders, ...request.headers };
    if (target.authorization) headers.authorization ??= target.authorization;
    if (lane.forwarding?.authorization) headers['proxy-authorization'] = lane.forwarding.authorization;
    return headers;
  }

  #laneOf(target: Target, request: HttpRequest): Lane {
    const secure = target.origin.startsWith('https:');
    const key = `${secure} ${request.proxyUrl ?? ''}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    const proxy = request.proxyUrl === null ? null : parseProxy(request.proxyUrl);
    const agent = new RouteAgent({ secure, connect: this.#connector(secure, proxy) });
    const forwarding = isForwarded(proxy, secure) ? proxy : null;
    const lane = { agent, wrapped: new BrowserOrderAgent(agent), forwarding, gates: new Map() };
    this.#lanes.set(key, lane);
    return lane;
  }

  #connector(secure: boolean, proxy: ProxyRoute | null): ConnectTo {
    return async ({ hostname, port, connectMs, fingerprint }) => {
      const opened = await connectRoute(
        { endpoint: { hostname, port }, secure, proxy, alpn: ['http/1.1'] },
        { timeoutMs: connectMs, sessions: this.#sessions },
        { ...this.#socketPorts, trust: { ...fingerprint, ...this.#socketPorts.trust } },
      );
      this.#opened += 1;
      this.#openings.set(opened.socket, opened.timings);
      return opened;
    };
  }

  #countUse(request: ClientRequest): WireOpening | null {
    this.#requests += 1;
    const socket = request.socket;
    const opening = socket ? this.#openings.get(socket) : undefined;
    if (socket) this.#openings.delete(socket);
    return opening ?? null;
  }

  #abort(signal: AbortSignal): void {
    const aborted = this.#deadlines.exchanges.filter((exchange) => exchange.signal === signal);
    for (const exchange of aborted) exchange.fail(signal.reason);
  }
}

// Limits, redirects, retries, decoding and proxies are ours; what remains of got-scraping is how a request looks.
const FIXED_OPTIONS = {
  http2: false,
  decompress: false,
  followRedirect: false,
  throwHttpErrors: false,
  strictContentLength: true,
  retry: { limit: 0 },
  timeout: { request: undefined },
  https: { rejectUnauthorized: true },
  useHeaderGenerator: false,
  // As got-scraping has it: browsers put up with a good deal.
  insecureHTTPParser: true,
} as const satisfies OptionsInit;

/** Makes got send by Node's own request, over our connections. */
function sendAlong(
  options: { request?: unknown },
  { target, lane }: { target: Target; lane: Lane },
  request: HttpRequest,
): void {
  const own: Partial<RouteRequestOptions> = {
    connectMs: request.timeouts.connectMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    ...(lane.forwarding ? { path: target.origin + target.path } : {}),
  };
  options.request = (url: URL, native: object) =>
    httpRequest(url, { ...native, ...own, agent: lane.wrapped } as RequestOptions);
}

// A request without body must be ended by got; one of these methods it would leave open for a body to come.
function sendableBody({ method, body }: HttpRequest): string | Buffer | undefined {
  if (body === null) return method === 'GET' || method === 'HEAD' ? undefined : '';
  return typeof body === 'string' ? body : Buffer.from(body);
}

/** @returns headers of a browser, in lower case */
function generateHeaders(): Record<string, string> {
  const { headerGenerator } = gotScraping.defaults.options.context as { headerGenerator: HeaderSource };
  const headers = headerGenerator.getHeaders({ httpVersion: '1' });
  const lowerCase = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  // As today's browsers over TLS; what is generated for HTTP/1.1 often lacks br.
  return { ...Object.fromEntries(lowerCase), 'accept-encoding': ACCEPT_ENCODING };
}

type HeaderSource = { getHeaders: (options: { httpVersion: '1' | '2' }) => Record<string, string> };
