import type { Dispatcher } from 'undici';
import type { Clock } from '../core/clock.ts';
import type { EventSink } from '../core/events.ts';
import { SECOND_MS } from '../core/units.ts';
import type { HttpRequest } from './client.ts';
import { connectRoute, type Route, type TlsSessions } from './connect-route.ts';
import { Connection, type ConnectionOwner } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { http2Fault } from './exchange-error.ts';
import type { HttpError } from './http-error.ts';
import { clientClosed, type OpenedSocket, type SocketPorts } from './open-socket.ts';
import { isForwarded, type ProxyRoute, refusedByProxy } from './proxy-tunnel.ts';
import { requestHeaders } from './request-headers.ts';
import type { Target } from './target.ts';
import { WaitingLine } from './waiting-line.ts';

/** Counters that all pools of a client share. */
export type PoolCounters = { opened: number; requests: number; http2Requests: number };

export type OriginPoolOptions = {
  origin: string;
  /** For messages: `URL.host`. */
  host: string;
  route: Route;
  /** Most connections at once; see `raiseLimit`. */
  maxConnections: number;
  sessions: TlsSessions;
  ports: SocketPorts & { clock: Clock };
  counters: PoolCounters;
  onEvent: EventSink;
  /** HTTP/2 was given up for this origin. */
  onHttp2Abandoned: () => void;
  /** Nothing is left in it. */
  onEmpty: () => void;
};

// HTTP/2 multiplexes: more connections than this to one origin only cost handshakes (RFC 9113 9.1 would have one).
const MAX_HTTP2_CONNECTIONS = 4;
const HTTP2_FAULTS_BEFORE_FALLBACK = 3;
// After a refused connection, with others open, the next try to grow waits so long.
const GROWTH_PAUSE_MS = SECOND_MS;

/** The kept-alive connections to one origin, opened as requests need them and used again last in, first out. */
export class OriginPool implements ConnectionOwner {
  readonly #options: OriginPoolOptions;
  readonly #connections = new Set<Connection>();
  /** Those that can take a request now; the last one is taken first. */
  readonly #free: Connection[] = [];
  readonly #waiting = new WaitingLine<Exchange>();
  /** The proxy that requests are sent to as they are, without a tunnel. */
  readonly #forwarding: ProxyRoute | null;
  #maxConnections: number;
  #opening = 0;
  /** What the origin speaks; null while nobody has asked. */
  #protocol: 'h1' | 'h2' | null;
  #growAfterMs = Number.NEGATIVE_INFINITY;
  #http2Faults = 0;
  #isHttp2Abandoned = false;
  #closed = false;

  constructor(options: OriginPoolOptions) {
    this.#options = options;
    this.#maxConnections = options.maxConnections;
    const { proxy, secure } = options.route;
    this.#forwarding = isForwarded(proxy, secure) ? proxy : null;
    this.#protocol = options.route.secure && options.route.alpn.includes('h2') ? null : 'h1';
  }

  get origin(): string {
    return this.#options.origin;
  }

  get host(): string {
    return this.#options.host;
  }

  /** @throws HttpError INVALID_REQUEST */
  dispatchOptions(target: Target, request: HttpRequest): Dispatcher.DispatchOptions {
    const headers = requestHeaders(request, {
      host: this.#options.host,
      authorization: target.authorization,
      proxyAuthorization: this.#forwarding?.authorization ?? null,
    });
    const path = this.#forwarding ? target.origin + target.path : target.path;
    return { path, method: request.method as Dispatcher.HttpMethod, headers, body: request.body };
  }

  /** Requests that wait for a connection. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Lets it hold so many connections, if that is more than now. */
  raiseLimit(connections: number): void {
    this.#maxConnections = Math.max(this.#maxConnections, connections);
    this.#grow();
  }

  /** Sends it over a free connection, or as soon as there is one. */
  send(exchange: Exchange): void {
    if (this.#closed) {
      exchange.fail(clientClosed(this.#options.host));
      return;
    }
    const connection = this.#takeFree();
    if (connection) {
      this.#give(connection, exchange);
      return;
    }
    this.#waiting.push(exchange);
    this.#grow();
  }

  /** Called once an exchange is over, however it ended. */
  release(exchange: Exchange): void {
    const { connection } = exchange;
    if (!connection) {
      this.#waiting.leave(exchange);
      return;
    }
    if (connection.protocol === 'h2') return;
    if (!connection.isUsable) {
      // A response that closes its connection: gone a moment later, and out of the count now.
      if (connection.closesAfterResponse) connection.retire();
      return;
    }
    const next = this.#waiting.shift();
    if (next) this.#give(connection, next);
    else this.#free.push(connection);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const reason = clientClosed(this.#options.host);
    this.#failWaiting(reason);
    await Promise.all([...this.#connections].map((connection) => connection.destroy(reason)));
    this.#connections.clear();
  }

  async reconnect(): Promise<OpenedSocket> {
    const opened = await this.#connect(RECONNECT_TIMEOUT_MS);
    this.#options.counters.opened += 1;
    return opened;
  }

  onGone(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#waiting.size > 0) this.#grow();
    else if (this.#connections.size === 0 && this.#opening === 0) this.#options.onEmpty();
  }

  onRoom(connection: Connection): void {
    this.#free.push(connection);
    this.#flush();
  }

  onSent(connection: Connection): void {
    this.#options.counters.requests += 1;
    if (connection.protocol === 'h2') this.#options.counters.http2Requests += 1;
  }

  onHttp2Outcome(connection: Connection, error: Error | null): void {
    if (error === null) {
      this.#http2Faults = 0;
      return;
    }
    const fault = http2Fault(error);
    // All streams of a lost connection fail at once: one event.
    if (fault === null || (fault === 'connection' && connection.isLossCounted)) return;
    if (fault === 'connection') connection.isLossCounted = true;
    this.#http2Faults += fault === 'refusal' ? HTTP2_FAULTS_BEFORE_FALLBACK : 1;
    if (this.#http2Faults >= HTTP2_FAULTS_BEFORE_FALLBACK && this.#protocol === 'h2') this.#abandonHttp2(error);
  }

  // What was idle with the lost connection is probably lost too.
  resend(exchange: Exchange): void {
    for (const idle of this.#free.splice(0)) idle.retire();
    this.send(exchange);
  }

  refusal(status: number): HttpError | undefined {
    return this.#forwarding ? refusedByProxy(this.#forwarding, status) : undefined;
  }

  #takeFree(): Connection | undefined {
    for (;;) {
      const connection = this.#free.pop();
      if (!connection || connection.isUsable) return connection;
    }
  }

  #give(connection: Connection, exchange: Exchange): void {
    connection.send(exchange);
    if (connection.protocol === 'h2' && !connection.full) this.#free.push(connection);
  }

  #flush(): void {
    while (this.#waiting.size > 0) {
      const connection = this.#takeFree();
      if (!connection) {
        this.#grow();
        return;
      }
      const next = this.#waiting.shift();
      if (next) this.#give(connection, next);
      else this.#free.push(connection);
    }
  }

  #grow(): void {
    while (this.#mayOpen()) this.#open();
  }

  #mayOpen(): boolean {
    if (this.#closed || this.#opening >= this.#waiting.size) return false;
    if (this.#connections.size > 0 && this.#options.ports.clock.nowMs() < this.#growAfterMs) return false;
    // Until ALPN has answered, one connection finds out for all whether requests can share it.
    if (this.#protocol !== 'h1' && (this.#opening > 0 || this.#awaitsSettings())) return false;
    const most = this.#protocol === 'h2' ? Math.min(MAX_HTTP2_CONNECTIONS, this.#maxConnections) : this.#maxConnections;
    return this.#connections.size + this.#opening < most;
  }

  #awaitsSettings(): boolean {
    for (const connection of this.#connections) if (connection.awaitsSettings) return true;
    return false;
  }

  #open(): void {
    this.#opening += 1;
    const timeoutMs = this.#waiting.first()!.request.timeouts.connectMs;
    this.#connect(timeoutMs).then(
      (opened) => this.#onOpened(opened),
      (error: HttpError) => this.#onOpenFailed(error),
    );
  }

  #connect(timeoutMs: number): Promise<OpenedSocket> {
    const { route, sessions, ports } = this.#options;
    const alpn: Route['alpn'] = this.#protocol === 'h1' ? ['http/1.1'] : route.alpn;
    return connectRoute({ ...route, alpn }, { timeoutMs, sessions }, ports);
  }

  #onOpened(opened: OpenedSocket): void {
    this.#opening -= 1;
    this.#options.counters.opened += 1;
    if (this.#isHttp2Abandoned && opened.protocol === 'h2') {
      opened.socket.destroy();
      this.#grow();
      return;
    }
    this.#protocol = opened.protocol;
    const connection = new Connection({ origin: this.#options.origin, opened, owner: this });
    this.#connections.add(connection);
    this.#free.push(connection);
    this.#flush();
    this.#grow();
  }

  // With other connections in use or on their way the requests keep waiting for those; without, they fail.
  #onOpenFailed(error: HttpError): void {
    this.#opening -= 1;
    if (this.#connections.size > 0) {
      this.#growAfterMs = this.#options.ports.clock.nowMs() + GROWTH_PAUSE_MS;
    } else if (this.#opening > 0) {
      this.#waiting.shift()?.fail(error);
    } else {
      this.#failWaiting(error);
      this.#options.onEmpty();
    }
  }

  #failWaiting(error: HttpError): void {
    const waiting = this.#waiting.clear();
    for (const exchange of waiting) exchange.fail(error);
  }

  #abandonHttp2(error: Error): void {
    this.#protocol = 'h1';
    this.#isHttp2Abandoned = true;
    this.#options.onHttp2Abandoned();
    this.#options.onEvent({
      atMs: this.#options.ports.clock.wallMs(),
      kind: 'http-version',
      host: this.#options.host,
      reason: `${this.#options.host} goes on over HTTP/1.1: HTTP/2 kept failing (${error.message})`,
      facts: { httpVersion: '1.1' },
    });
    for (const connection of this.#connections) if (connection.protocol === 'h2') connection.retire();
  }
}

// A connection that undici makes anew for requests it still holds; their own total limit ends them earlier.
const RECONNECT_TIMEOUT_MS = 30 * SECOND_MS;
