import type { Socket } from 'node:net';
import { SocksClient } from 'socks';
import { messageOf } from '../core/errors.ts';
import type { HttpErrorCode } from './client.ts';
import { errnoOf } from './connect-error.ts';
import { HttpError } from './http-error.ts';
import {
  type ConnectAttempt,
  type Endpoint,
  hostAndPort,
  openTcp,
  openTls,
  refuseLiteral,
  type SocketPorts,
} from './open-socket.ts';
import { basicAuthorization } from './target.ts';

/** A proxy as its URL says. */
export type ProxyRoute = {
  kind: 'http' | 'https' | 'socks4' | 'socks5';
  endpoint: Endpoint;
  /** Without credentials, for messages. */
  label: string;
  /** Proxy-Authorization of an http or https proxy. */
  authorization: string | null;
  username: string;
  password: string;
};

const KINDS: Record<string, { kind: ProxyRoute['kind']; defaultPort: number }> = {
  'http:': { kind: 'http', defaultPort: 80 },
  'https:': { kind: 'https', defaultPort: 443 },
  'socks:': { kind: 'socks5', defaultPort: 1080 },
  'socks4:': { kind: 'socks4', defaultPort: 1080 },
  'socks4a:': { kind: 'socks4', defaultPort: 1080 },
  'socks5:': { kind: 'socks5', defaultPort: 1080 },
  'socks5h:': { kind: 'socks5', defaultPort: 1080 },
};

/**
 * @param proxyUrl http, https, socks, socks4(a) or socks5(h); with user and password where it asks for them
 * @throws HttpError PROXY_FAILED when it is no such URL
 */
export function parseProxy(proxyUrl: string): ProxyRoute {
  const url = URL.parse(proxyUrl);
  const known = url && KINDS[url.protocol];
  if (!url || !known || url.hostname === '') {
    throw proxyError('the proxy', 'is no http, https, socks4 or socks5 URL');
  }
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? known.defaultPort : Number(url.port);
  return {
    kind: known.kind,
    endpoint: { hostname, port },
    label: `${url.protocol}//${url.hostname}:${port}`,
    authorization: basicAuthorization(url),
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  };
}

/** @returns whether requests to such an origin name the whole URL, and go to the proxy without a tunnel */
export function isForwarded(proxy: ProxyRoute | null, secure: boolean): boolean {
  return proxy !== null && !secure && (proxy.kind === 'http' || proxy.kind === 'https');
}

/**
 * Opens a connection through a proxy, up to where TLS with the target begins.
 * @throws HttpError: PROXY_FAILED when the proxy is the trouble, else what it said of the target
 */
export async function openTunnel(
  proxy: ProxyRoute,
  goal: { target: Endpoint; secure: boolean },
  attempt: ConnectAttempt,
  ports: SocketPorts,
): Promise<{ socket: Socket; dnsMs: number }> {
  // What a name resolves to is known at the proxy only; an address says it itself.
  if (ports.blockPrivateAddresses) refuseLiteral(goal.target.hostname);
  attempt.proxyLabel = proxy.label;
  const { socket, dnsMs } = await openProxy(proxy, attempt, ports);
  attempt.proxyLabel = null;
  attempt.phase = 'proxy';
  if (proxy.kind === 'socks4' || proxy.kind === 'socks5') await connectSocks(socket, proxy, goal.target);
  else if (goal.secure) await connectHttp(socket, proxy, goal.target);
  return { socket, dnsMs };
}

async function openProxy(
  proxy: ProxyRoute,
  attempt: ConnectAttempt,
  ports: SocketPorts,
): Promise<{ socket: Socket; dnsMs: number }> {
  try {
    const { socket, dnsMs } = await openTcp(proxy.endpoint, attempt, ports, { guarded: false });
    if (proxy.kind !== 'https') return { socket, dnsMs };
    const { hostname } = proxy.endpoint;
    const secure = await openTls(socket, { hostname, alpn: ['http/1.1'] }, attempt, ports.trust);
    return { socket: secure.socket, dnsMs };
  } catch (error) {
    throw proxyError(proxy.label, `cannot be reached: ${messageOf(error) || errnoOf(error)}`, error);
  }
}

async function connectSocks(socket: Socket, proxy: ProxyRoute, target: Endpoint): Promise<void> {
  try {
    await SocksClient.createConnection({
      command: 'connect',
      existing_socket: socket,
      destination: { host: target.hostname, port: target.port },
      proxy: {
        host: proxy.endpoint.hostname,
        port: proxy.endpoint.port,
        type: proxy.kind === 'socks4' ? 4 : 5,
        ...(proxy.username === '' ? {} : { userId: proxy.username, password: proxy.password }),
      },
    });
  } catch (error) {
    throw socksError(proxy, target, error);
  }
}

// RFC 1928 6: replies about the target; the others are the proxy's own.
const SOCKS_TARGET_REPLIES: readonly [RegExp, HttpErrorCode][] = [
  [/ConnectionRefused/, 'CONNECTION_REFUSED'],
  [/NetworkUnreachable|HostUnreachable|TTLExpired/, 'CONNECTION_FAILED'],
];

function socksError(proxy: ProxyRoute, target: Endpoint, error: unknown): HttpError {
  const text = messageOf(error);
  const code = SOCKS_TARGET_REPLIES.find(([pattern]) => pattern.test(text))?.[1];
  if (!code) return proxyError(proxy.label, `did not connect to ${target.hostname}: ${text}`, error);
  return targetError(code, { proxy, target, said: text });
}

// Statuses by which a proxy says that the target is at fault; 590 to 599 are proxy-chain's and Apify Proxy's.
const TARGET_STATUSES: Record<number, HttpErrorCode> = {
  502: 'CONNECTION_FAILED',
  503: 'CONNECTION_FAILED',
  504: 'TIMEOUT_CONNECT',
  593: 'DNS_NOT_FOUND',
  594: 'CONNECTION_REFUSED',
  595: 'CONNECTION_RESET',
  596: 'CONNECTION_RESET',
  599: 'CONNECTION_FAILED',
};

async function connectHttp(socket: Socket, proxy: ProxyRoute, target: Endpoint): Promise<void> {
  const authority = hostAndPort(target);
  const authorization = proxy.authorization ? `proxy-authorization: ${proxy.authorization}\r\n` : '';
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${authorization}\r\n`, 'latin1');
  const status = await readConnectStatus(socket, proxy);
  if (status >= 200 && status < 300) return;
  const code = TARGET_STATUSES[status];
  if (code) throw targetError(code, { proxy, target, said: `status ${status}` });
  const hint = status === 407 ? ' (wrong or missing user and password)' : '';
  throw proxyError(proxy.label, `answered CONNECT ${authority} with status ${status}${hint}`);
}

// A proxy's answer to CONNECT is a status line and a few headers.
const LONGEST_CONNECT_ANSWER = 16 * 1024;

/** @returns the status; the socket is left at the first byte after the answer's head */
function readConnectStatus(socket: Socket, proxy: ProxyRoute): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0);
    const finish = (outcome: number | HttpError): void => {
      socket.off('readable', read).off('end', onEnd).off('error', onError);
      if (typeof outcome === 'number') resolve(outcome);
      else reject(outcome);
    };
    const onEnd = (): void => finish(proxyError(proxy.label, 'closed the connection instead of answering CONNECT'));
    const onError = (error: Error): void => finish(proxyError(proxy.label, `failed: ${messageOf(error)}`, error));
    const read = (): void => {
      const chunk: Buffer | null = socket.read();
      if (!chunk) return;
      answer = Buffer.concat([answer, chunk]);
      const end = answer.indexOf('\r\n\r\n');
      if (end < 0) {
        if (answer.length > LONGEST_CONNECT_ANSWER) finish(proxyError(proxy.label, 'answered CONNECT without an end'));
        return;
      }
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer.toString('latin1', 0, end))?.[1];
      if (!status) {
        finish(proxyError(proxy.label, 'answered CONNECT with something that is not HTTP'));
        return;
      }
      if (answer.length > end + 4) socket.unshift(answer.subarray(end + 4));
      finish(Number(status));
    };
    socket.on('readable', read).on('end', onEnd).on('error', onError);
  });
}

function proxyError(label: string, what: string, cause?: unknown): HttpError {
  return new HttpError({ code: 'PROXY_FAILED', message: `${label} ${what}`, wasSent: false }, { cause });
}

function targetError(code: HttpErrorCode, facts: { proxy: ProxyRoute; target: Endpoint; said: string }): HttpError {
  const { proxy, target, said } = facts;
  const message = `${hostAndPort(target)} cannot be reached through ${proxy.label}, which says: ${said}`;
  return new HttpError({ code, message, wasSent: false });
}

/** @returns the failure of a forwarded request that the proxy itself refused (407); undefined for other statuses */
export function refusedByProxy(proxy: ProxyRoute, status: number): HttpError | undefined {
  if (status !== 407) return undefined;
  return proxyError(proxy.label, 'answered status 407 (wrong or missing user and password)');
}
