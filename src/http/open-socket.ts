import { isIP, connect as netConnect, type Socket } from 'node:net';
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls';
import type { Clock } from '../core/clock.ts';
import { type ConnectPhase, connectError, connectTimeout, proxyTimeout } from './connect-error.ts';
import type { DnsCache } from './dns-cache.ts';
import { HttpError } from './http-error.ts';
import { isLocalName, isPrivateAddress } from './private-addresses.ts';

/** Settings of TLS connections; certificates are always verified. */
export type TlsTrust = Partial<
  Pick<ConnectionOptions, 'ca' | 'secureContext' | 'ciphers' | 'ecdhCurve' | 'sigalgs' | 'secureOptions'>
>;

/** Where to connect. */
export type Endpoint = {
  /** Name or IP address, IPv6 without brackets. */
  hostname: string;
  port: number;
};

export type OpenedSocket = {
  socket: Socket;
  /** As ALPN chose; HTTP/1.1 without TLS. */
  protocol: 'h1' | 'h2';
  /** ms; `connect` includes what a proxy took. */
  timings: { dns: number; connect: number; tls: number };
};

/** @returns `host:port`, an IPv6 address in brackets */
export function hostAndPort({ hostname, port }: Endpoint): string {
  return isIP(hostname) === 6 ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** What makes sockets: handed down by the client. */
export type SocketPorts = {
  clock: Clock;
  dns: DnsCache;
  trust: TlsTrust;
  /** Refuse addresses that are not on the public Internet. */
  blockPrivateAddresses: boolean;
  /** Aborted when the client closes. */
  closing: AbortSignal;
};

/** One attempt to connect: its deadline, its phase, and all sockets it opened, which fail together. */
export class ConnectAttempt {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  readonly #sockets: Socket[] = [];
  readonly #cancelTimer: () => void;
  readonly #timeout: Promise<never>;
  #fail: (error: HttpError) => void = () => {};
  #isOver = false;
  phase: ConnectPhase = 'dns';
  /** host:port of the target. */
  readonly host: string;
  /** The proxy that is being reached, or was; null while the target is. */
  proxyLabel: string | null = null;

  constructor(options: { host: string; timeoutMs: number; clock: Clock; closing: AbortSignal }) {
    this.host = options.host;
    this.#clock = options.clock;
    this.#closing = options.closing;
    this.#timeout = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#timeout.catch(() => {});
    this.#cancelTimer = options.clock.schedule(options.timeoutMs, this.#onTimeout(options.timeoutMs));
    options.closing.addEventListener('abort', this.#onClosing);
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /**
   * The attempt's sockets are destroyed when it fails; one that comes later, at once.
   */
  own<T extends Socket>(socket: T): T {
    this.#sockets.push(socket);
    if (this.#isOver) this.#destroySockets();
    return socket;
  }

  /**
   * Runs the attempt.
   * @throws HttpError
   */
  async run<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await Promise.race([action(), this.#timeout]);
    } catch (error) {
      this.#isOver = true;
      this.#destroySockets();
      throw connectError({ error, phase: this.phase, host: this.host });
    } finally {
      this.#cancelTimer();
      this.#closing.removeEventListener('abort', this.#onClosing);
    }
  }

  // TLS before the socket beneath it.
  #destroySockets(): void {
    for (const socket of this.#sockets.toReversed()) socket.on('error', () => {}).destroy();
  }

  #onTimeout(timeoutMs: number): () => void {
    return () => {
      const { phase, host, proxyLabel } = this;
      this.#fail(proxyLabel ? proxyTimeout(proxyLabel, timeoutMs) : connectTimeout({ phase, host, timeoutMs }));
    };
  }

  readonly #onClosing = (): void => this.#fail(clientClosed(this.host));
}

/** @returns the error of requests that are still under way, or come, when the client closes */
export function clientClosed(host: string, wasSent = false): HttpError {
  return new HttpError({ code: 'CONNECTION_FAILED', message: `${host}: the HTTP client was closed`, wasSent });
}

/**
 * Opens a TCP connection, to the first address that answers (happy eyeballs, RFC 8305, as Node does it).
 * @param options.guarded refuse private addresses; off for the proxies that the user configured
 * @throws what the system or the attempt says
 */
export async function openTcp(
  endpoint: Endpoint,
  attempt: ConnectAttempt,
  ports: SocketPorts,
  options: { guarded: boolean },
): Promise<{ socket: Socket; dnsMs: number; connectMs: number }> {
  const guarded = options.guarded && ports.blockPrivateAddresses;
  if (guarded) refuseLiteral(endpoint.hostname);
  const startedAtMs = attempt.nowMs;
  attempt.phase = 'dns';
  const addresses = isIP(endpoint.hostname) ? [] : await ports.dns.addressesOf(endpoint.hostname);
  if (addresses.length === 0 && !isIP(endpoint.hostname)) throw noAddress(endpoint.hostname);
  const allowed = guarded ? addresses.filter(({ address }) => !isPrivateAddress(address)) : addresses;
  if (allowed.length < addresses.length && allowed.length === 0)
    throw blocked(endpoint.hostname, addresses[0]!.address);
  const resolvedAtMs = attempt.nowMs;
  attempt.phase = 'connect';
  const socket = attempt.own(
    netConnect({
      host: endpoint.hostname,
      port: endpoint.port,
      autoSelectFamily: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      lookup: (_hostname, { all }, callback) => {
        if (all) callback(null, allowed);
        else callback(null, allowed[0]!.address, allowed[0]!.family);
      },
    }),
  );
  await settled(socket, 'connect');
  return { socket, dnsMs: resolvedAtMs - startedAtMs, connectMs: attempt.nowMs - resolvedAtMs };
}

// Below the idle limits of common load balancers and NATs (AWS: 350 s).
const TCP_KEEP_ALIVE_MS = 60_000;

/**
 * Speaks TLS over a connected socket; the certificate is verified for `hostname`.
 * @throws what Node says of the handshake or the certificate
 */
export async function openTls(
  socket: Socket,
  options: { hostname: string; alpn: string[]; session?: Buffer; onSession?: (session: Buffer) => void },
  attempt: ConnectAttempt,
  trust: TlsTrust,
): Promise<{ socket: TLSSocket; tlsMs: number }> {
  attempt.phase = 'tls';
  const startedAtMs = attempt.nowMs;
  const secure = attempt.own(
    tlsConnect({
      ...trust,
      socket,
      host: options.hostname,
      // RFC 6066 3: no IP addresses in SNI.
      servername: isIP(options.hostname) ? '' : options.hostname,
      ALPNProtocols: options.alpn,
      session: options.session,
      rejectUnauthorized: true,
    }),
  );
  if (options.onSession) secure.on('session', options.onSession);
  await settled(secure, 'secureConnect');
  return { socket: secure, tlsMs: attempt.nowMs - startedAtMs };
}

/** @returns a promise of the socket's event; rejects when it errs or closes before */
export function settled(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(Object.assign(new Error('closed by the other side'), { code: 'ECONNRESET' }));
    socket.once('error', reject);
    socket.once('close', onClose);
    socket.once(event, () => {
      socket.off('error', reject);
      socket.off('close', onClose);
      resolve();
    });
  });
}

/** @throws HttpError BLOCKED_ADDRESS when the host is written as a private address or a local name */
export function refuseLiteral(hostname: string): void {
  if (isLocalName(hostname) || (isIP(hostname) && isPrivateAddress(hostname))) throw blocked(hostname, hostname);
}

function noAddress(hostname: string): Error {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

function blocked(hostname: string, address: string): HttpError {
  const resolved = hostname === address ? '' : ` (it resolves to ${address})`;
  return new HttpError({
    code: 'BLOCKED_ADDRESS',
    message: `${hostname} is a private or local address${resolved}: refused`,
    wasSent: false,
  });
}
