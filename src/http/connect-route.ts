import type { Socket } from 'node:net';
import {
  ConnectAttempt,
  type Endpoint,
  hostAndPort,
  type OpenedSocket,
  openTcp,
  openTls,
  type SocketPorts,
} from './open-socket.ts';
import { openTunnel, type ProxyRoute } from './proxy-tunnel.ts';

/** How connections to one origin are made. */
export type Route = {
  endpoint: Endpoint;
  secure: boolean;
  proxy: ProxyRoute | null;
  /** Protocols offered in the TLS handshake, the preferred one first. */
  alpn: ('h2' | 'http/1.1')[];
};

/** TLS sessions by host and port, so that a later connection resumes and saves a round trip. */
export class TlsSessions {
  readonly #sessions = new Map<string, Buffer>();

  sessionOf(key: string): Buffer | undefined {
    return this.#sessions.get(key);
  }

  keep(key: string, session: Buffer): void {
    this.#sessions.delete(key);
    const oldest = this.#sessions.keys().next();
    if (this.#sessions.size >= MOST_SESSIONS && !oldest.done) this.#sessions.delete(oldest.value);
    this.#sessions.set(key, session);
  }
}

const MOST_SESSIONS = 1_000;

/**
 * Opens a connection along a route: to the target, or through its proxy; with TLS where the origin is https. Plain
 * http goes to an http proxy without a tunnel: the request then names the whole URL.
 * @throws HttpError
 */
export function connectRoute(
  route: Route,
  options: { timeoutMs: number; sessions: TlsSessions },
  ports: SocketPorts,
): Promise<OpenedSocket> {
  const host = hostAndPort(route.endpoint);
  const attempt = new ConnectAttempt({
    host,
    timeoutMs: options.timeoutMs,
    clock: ports.clock,
    closing: ports.closing,
  });
  return attempt.run(() => open(route, options.sessions, attempt, ports));
}

async function open(
  route: Route,
  sessions: TlsSessions,
  attempt: ConnectAttempt,
  ports: SocketPorts,
): Promise<OpenedSocket> {
  const { socket, dnsMs, connectMs } = await openTransport(route, attempt, ports);
  if (!route.secure) return { socket, protocol: 'h1', timings: { dns: dnsMs, connect: connectMs, tls: 0 } };
  const key = hostAndPort(route.endpoint);
  const { socket: secure, tlsMs } = await openTls(
    socket,
    {
      hostname: route.endpoint.hostname,
      alpn: route.alpn,
      session: sessions.sessionOf(key),
      onSession: (session) => sessions.keep(key, session),
    },
    attempt,
    ports.trust,
  );
  const protocol = secure.alpnProtocol === 'h2' ? 'h2' : 'h1';
  return { socket: secure, protocol, timings: { dns: dnsMs, connect: connectMs, tls: tlsMs } };
}

async function openTransport(
  route: Route,
  attempt: ConnectAttempt,
  ports: SocketPorts,
): Promise<{ socket: Socket; dnsMs: number; connectMs: number }> {
  if (!route.proxy) return openTcp(route.endpoint, attempt, ports, { guarded: true });
  const startedAtMs = attempt.nowMs;
  const { socket, dnsMs } = await openTunnel(
    route.proxy,
    { target: route.endpoint, secure: route.secure },
    attempt,
    ports,
  );
  return { socket, dnsMs, connectMs: attempt.nowMs - startedAtMs - dnsMs };
}
