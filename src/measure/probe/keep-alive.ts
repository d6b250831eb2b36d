import { connect as connectHttp2 } from 'node:http2';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { MeasureTarget } from '../common/send.ts';
import type { KeepAlive } from './probe-report.ts';

export type KeepAliveOptions = {
  target: MeasureTarget;
  httpVersion: '1.1' | '2';
  /** So long is waited at most. */
  boundMs: number;
  clock: Clock;
  trust: Pick<ConnectionOptions, 'ca'>;
  signal: AbortSignal;
};

// A server that closes within this after its answer does not keep the connection at all.
const AT_ONCE_MS = 50;

/**
 * Sends one request over a connection of its own, and then waits, idle, for the server to close it.
 * Never rejects but with the signal's reason.
 */
export async function measureKeepAlive(options: KeepAliveOptions): Promise<KeepAlive> {
  options.signal.throwIfAborted();
  try {
    return await (options.httpVersion === '2' ? watchHttp2(options) : watchHttp1(options));
  } catch (error) {
    options.signal.throwIfAborted();
    return { kind: 'unknown', reason: messageOf(error) };
  }
}

function watchHttp1({ target, boundMs, clock, trust, signal }: KeepAliveOptions): Promise<KeepAlive> {
  const url = new URL(target.url);
  const socket = openSocket(url, trust);
  return watch({ clock, boundMs, signal, end: () => socket.destroy() }, ({ answered, closed, failed }) => {
    socket.on('error', failed);
    socket.on('data', answered);
    socket.on('end', closed);
    socket.on('close', closed);
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => socket.write(requestText(url, target)));
  });
}

function openSocket(url: URL, trust: Pick<ConnectionOptions, 'ca'>): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port || (isSecure ? 443 : 80));
  if (!isSecure) return connect({ host, port });
  return connectTls({ ...trust, host, port, servername: isIP(host) ? '' : host, ALPNProtocols: ['http/1.1'] });
}

function requestText(url: URL, { headers }: MeasureTarget): string {
  const lines = Object.entries({ host: url.host, ...headers, connection: 'keep-alive' });
  const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${text}\r\n`;
}

function watchHttp2({ target, boundMs, clock, trust, signal }: KeepAliveOptions): Promise<KeepAlive> {
  const { origin, pathname, search } = new URL(target.url);
  const session = connectHttp2(origin, trust);
  return watch({ clock, boundMs, signal, end: () => session.destroy() }, ({ answered, closed, failed }) => {
    session.on('error', failed);
    session.on('goaway', closed);
    session.on('close', closed);
    const stream = session.request({ ...target.headers, ':path': pathname + search });
    stream.on('error', failed);
    stream.on('data', answered);
    stream.on('end', answered);
  });
}

type Watched = { answered: () => void; closed: () => void; failed: (error: Error) => void };

/** Measures from the last piece of the answer to the close. */
function watch(
  options: { clock: Clock; boundMs: number; signal: AbortSignal; end: () => void },
  listen: (watched: Watched) => void,
): Promise<KeepAlive> {
  const { clock, boundMs, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<KeepAlive>();
  let answeredAtMs: number | null = null;
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const onBound = (): void =>
    resolve(
      answeredAtMs === null
        ? { kind: 'unknown', reason: `no answer within ${boundMs / 1_000} s` }
        : { kind: 'kept', atLeastMs: clock.nowMs() - answeredAtMs },
    );
  let cancel = clock.schedule(boundMs, onBound);
  listen({
    answered: () => {
      answeredAtMs = clock.nowMs();
      cancel();
      cancel = clock.schedule(boundMs, onBound);
    },
    closed: () => {
      if (answeredAtMs === null) reject(new Error('closed before it answered'));
      else resolve(closedAfter(clock.nowMs() - answeredAtMs));
    },
    failed: (error) => (answeredAtMs === null ? reject(error) : resolve(closedAfter(clock.nowMs() - answeredAtMs))),
  });
  return promise.finally(() => {
    cancel();
    signal.removeEventListener('abort', onAbort);
    options.end();
  });
}

function closedAfter(afterMs: number): KeepAlive {
  return afterMs < AT_ONCE_MS ? { kind: 'closed-at-once' } : { kind: 'closed-after', afterMs };
}
