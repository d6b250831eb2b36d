import { messageOf } from '../core/errors.ts';
import type { HttpErrorCode } from './client.ts';
import { HttpError } from './http-error.ts';

/** What a connection was busy with when it failed. */
export type ConnectPhase = 'dns' | 'connect' | 'tls' | 'proxy';

export type ConnectFailure = {
  error: unknown;
  phase: ConnectPhase;
  /** host:port that was being reached. */
  host: string;
};

const CODE_OF_ERRNO: Record<string, HttpErrorCode> = {
  ENOTFOUND: 'DNS_NOT_FOUND',
  ENODATA: 'DNS_NOT_FOUND',
  EAI_AGAIN: 'DNS_FAILED',
  EAI_FAIL: 'DNS_FAILED',
  ESERVFAIL: 'DNS_FAILED',
  ETIMEOUT: 'DNS_FAILED',
  ECONNREFUSED: 'CONNECTION_REFUSED',
  ECONNRESET: 'CONNECTION_RESET',
  EPIPE: 'CONNECTION_RESET',
  ETIMEDOUT: 'TIMEOUT_CONNECT',
};

const PHASE_TEXT: Record<ConnectPhase, string> = {
  dns: 'looking up the name',
  connect: 'connecting',
  tls: 'in the TLS handshake',
  proxy: 'through the proxy',
};

/** @returns the error of a connection that was not made, as its caller should see it */
export function connectError({ error, phase, host }: ConnectFailure): HttpError {
  if (error instanceof HttpError) return error;
  const code = codeOfFailure(error, phase);
  const message = `${host}: ${describe(error)} ${PHASE_TEXT[phase]}`;
  return new HttpError({ code, message, wasSent: false }, { cause: error });
}

/** @returns the error of a connection that took longer than `timeoutMs` */
export function connectTimeout(facts: { phase: ConnectPhase; host: string; timeoutMs: number }): HttpError {
  const message = `${facts.host}: no connection within ${facts.timeoutMs} ms (still ${PHASE_TEXT[facts.phase]})`;
  return new HttpError({ code: 'TIMEOUT_CONNECT', message, wasSent: false });
}

/** @returns the error of a proxy that could not be reached within `timeoutMs` */
export function proxyTimeout(proxyLabel: string, timeoutMs: number): HttpError {
  const message = `${proxyLabel} cannot be reached: no connection within ${timeoutMs} ms`;
  return new HttpError({ code: 'PROXY_FAILED', message, wasSent: false });
}

function codeOfFailure(error: unknown, phase: ConnectPhase): HttpErrorCode {
  const errno = errnoOf(error);
  const known = CODE_OF_ERRNO[errno];
  if (known) return known;
  if (phase === 'dns') return 'DNS_FAILED';
  return phase === 'tls' ? 'TLS_FAILED' : 'CONNECTION_FAILED';
}

/** @returns the errno-like code of an error, or of the first of several (happy eyeballs tries many addresses); else "" */
export function errnoOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const own = (error as NodeJS.ErrnoException).code;
  if (typeof own === 'string') return own;
  return error instanceof AggregateError ? errnoOf(error.errors[0]) : '';
}

function describe(error: unknown): string {
  if (!(error instanceof AggregateError)) return messageOf(error);
  return error.errors.map(messageOf).join('; ');
}
