import { messageOf } from '../core/errors.ts';
import type { HttpErrorCode, HttpTimeouts, WireTimings } from './client.ts';
import { connectError, errnoOf } from './connect-error.ts';
import type { TimeLimit } from './deadlines.ts';
import { HttpError } from './http-error.ts';

/** How far a request had come when it failed. */
export type ExchangeFacts = {
  host: string;
  wasSent: boolean;
  responseStarted: boolean;
  bytesReceived: number;
  timings: Partial<WireTimings>;
};

// What undici calls a connection that ended under a request.
const LOSS_CODES: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const INVALID_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_HTTP_INVALID_HEADER_VALUE',
  'ERR_HTTP2_INVALID_CONNECTION_HEADERS',
]);
const TRUNCATED_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_HTTP_CONTENT_LENGTH_MISMATCH',
]);
const CLOSED_CODES: ReadonlySet<string> = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);
// RFC 9113 7: error codes of HTTP/2.
const REFUSED_STREAM = 7;
const HTTP_1_1_REQUIRED = 13;
// NO_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM: the server's choice, not a fault.
const FAULTLESS_HTTP2_CODES: ReadonlySet<number> = new Set([0, REFUSED_STREAM, 8, 11]);

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * RFC 9112 9.3.1: a kept-alive connection may close just as a request is written, and the client may send it again.
 * @param error what a request on a kept-alive connection ended with, before a byte of an answer
 * @returns whether it is of that kind, and the method changes nothing at the server
 */
export function maySendAgain(method: string, error: unknown): boolean {
  return SAFE_METHODS.has(method) && LOSS_CODES.has(errnoOf(error));
}

/**
 * How HTTP/2 itself went wrong, for such failures in a row make a host fall back to HTTP/1.1.
 * @returns stream = one request; connection = all on it; refusal = the server wants HTTP/1.1; null = not the
 *   protocol's fault
 */
export function http2Fault(error: unknown): 'stream' | 'connection' | 'refusal' | null {
  const goAway = /"GOAWAY" frame received with code (\d+)/.exec(messageOf(error))?.[1];
  const http2Code = goAway === undefined ? (error as { http2ErrorCode?: number }).http2ErrorCode : Number(goAway);
  if (http2Code === HTTP_1_1_REQUIRED) return 'refusal';
  if (http2Code !== undefined && FAULTLESS_HTTP2_CODES.has(http2Code)) return null;
  if (goAway !== undefined || LOSS_CODES.has(errnoOf(error))) return 'connection';
  return isHttp2Error(error) ? 'stream' : null;
}

function isHttp2Error(error: unknown): boolean {
  return errnoOf(error).startsWith('ERR_HTTP2') || /HTTP\/2|http2/i.test(messageOf(error));
}

function refusedStream(error: unknown): boolean {
  return (error as { http2ErrorCode?: number }).http2ErrorCode === REFUSED_STREAM;
}

// undici fails a request with GOAWAY only if the server said that it had not begun it, and with frameError if it
// never left.
function isUnprocessed(error: unknown, facts: ExchangeFacts): boolean {
  if (facts.responseStarted) return false;
  return refusedStream(error) || /"GOAWAY" frame|"frameError" received/.test(messageOf(error));
}

/** @returns what a failed exchange means to its caller */
export function exchangeError(error: unknown, facts: ExchangeFacts): HttpError {
  if (error instanceof HttpError) return error;
  const errno = errnoOf(error);
  if (!facts.wasSent && !INVALID_CODES.has(errno) && !CLOSED_CODES.has(errno) && !isUnprocessed(error, facts)) {
    return connectError({ error, phase: 'connect', host: facts.host });
  }
  const unprocessed = isUnprocessed(error, facts);
  const code = unprocessed ? 'CONNECTION_RESET' : codeOf(errno, error, facts);
  const message = `${facts.host}: ${describe(code, error, facts)}`;
  const { wasSent, timings } = facts;
  return new HttpError({ code, message, wasSent, unprocessed, timings }, { cause: error });
}

function codeOf(errno: string, error: unknown, facts: ExchangeFacts): HttpErrorCode {
  if (INVALID_CODES.has(errno)) return 'INVALID_REQUEST';
  if (CLOSED_CODES.has(errno)) return 'CONNECTION_FAILED';
  if (TRUNCATED_CODES.has(errno)) return 'TRUNCATED_BODY';
  if (errno === 'UND_ERR_HEADERS_OVERFLOW' || isParserError(error)) return 'HTTP_PROTOCOL';
  if (facts.responseStarted && (LOSS_CODES.has(errno) || isHttp2Error(error))) return 'TRUNCATED_BODY';
  if (LOSS_CODES.has(errno)) return 'CONNECTION_RESET';
  return isHttp2Error(error) ? 'HTTP_PROTOCOL' : 'CONNECTION_FAILED';
}

// undici's own has no code in most cases.
function isParserError(error: unknown): boolean {
  return error instanceof Error && (error.name === 'HTTPParserError' || errnoOf(error).startsWith('HPE_'));
}

function describe(code: HttpErrorCode, error: unknown, facts: ExchangeFacts): string {
  const seen = messageOf(error);
  switch (code) {
    case 'TRUNCATED_BODY':
      return `the body broke off after ${facts.bytesReceived} bytes (${seen})`;
    case 'CONNECTION_RESET':
      return `the connection ended before a response came (${seen})`;
    case 'HTTP_PROTOCOL':
      return `the response breaks the protocol (${seen})`;
    case 'INVALID_REQUEST':
      return `the request cannot be sent (${seen})`;
    default:
      return seen;
  }
}

type TimedExchange = {
  host: string;
  wasSent: boolean;
  stage: string;
  bytesReceived: number;
  request: { timeouts: HttpTimeouts };
};

/** @returns the error of an exchange that ran into one of its limits */
export function timeoutError(code: TimeLimit, exchange: TimedExchange): HttpError {
  const { timeouts } = exchange.request;
  const message = {
    TIMEOUT_FIRST_BYTE: `no first byte within ${timeouts.firstByteMs} ms of the request`,
    TIMEOUT_IDLE: `no more of the body for ${timeouts.idleMs} ms, after ${exchange.bytesReceived} bytes`,
    TIMEOUT_TOTAL: `not done within ${timeouts.totalMs} ms (${whatFor(exchange)})`,
  }[code];
  return new HttpError({ code, message: `${exchange.host}: ${message}`, wasSent: exchange.wasSent });
}

function whatFor(exchange: TimedExchange): string {
  if (exchange.stage === 'waiting') return 'still waiting for a connection';
  return exchange.stage === 'sent'
    ? 'still waiting for the first byte'
    : `${exchange.bytesReceived} bytes of the body received`;
}
