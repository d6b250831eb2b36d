import type { ResponseHeaders } from '../core/headers.ts';
import type { NetworkFailure } from '../core/sample.ts';

/** Time limits of one attempt, in ms. */
export type HttpTimeouts = { connectMs: number; firstByteMs: number; idleMs: number; totalMs: number };

/** One hop: redirects are answers here, followed by the caller under the next host's pacing. */
export type HttpRequest = {
  /** Absolute, http or https. */
  url: string;
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  timeouts: HttpTimeouts;
  /** Bound after decompression. */
  maxBodyBytes: number;
  proxyUrl: string | null;
  http2: 'auto' | 'off';
};

/** Phases measured on the wire, ms; 0 on a reused connection for dns, connect and tls. */
export type WireTimings = { dns: number; connect: number; tls: number; firstByte: number; download: number };

export type HttpResponse = {
  status: number;
  headers: ResponseHeaders;
  /** Decompressed. */
  body: Buffer;
  /** Bytes of the body as it travelled; left out by clients that do not see them. */
  wireBytes?: number;
  httpVersion: '1.1' | '2';
  timings: WireTimings;
  reusedConnection: boolean;
};

export type ConnectionStats = {
  opened: number;
  requests: number;
  /** Requests sent over HTTP/2. */
  http2Requests: number;
  /** Requests now waiting for a connection. */
  waiting: number;
};

/** Sends requests over kept-alive connections. */
export interface HttpClient {
  /** @throws HttpError; or the signal's reason when aborted */
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>;
  /** Room for so many requests in flight to a host: grows pools ahead of need. */
  reserve?(origin: string, connections: number): void;
  stats(): ConnectionStats;
  close(): Promise<void>;
}

/** Stable codes of failures below HTTP; all are listed in docs/failures.md. */
export type HttpErrorCode =
  | 'DNS_NOT_FOUND'
  | 'DNS_FAILED'
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_RESET'
  | 'CONNECTION_FAILED'
  | 'TIMEOUT_CONNECT'
  | 'TIMEOUT_FIRST_BYTE'
  | 'TIMEOUT_IDLE'
  | 'TIMEOUT_TOTAL'
  | 'TLS_FAILED'
  | 'HTTP_PROTOCOL'
  | 'TRUNCATED_BODY'
  | 'BAD_ENCODING'
  | 'TOO_LARGE'
  | 'PROXY_FAILED'
  | 'BLOCKED_ADDRESS'
  | 'INVALID_URL'
  | 'INVALID_REQUEST';

/** How the governor's circuit sees each code; null = no fault of the network. */
export const NETWORK_FAILURE_OF: Record<HttpErrorCode, NetworkFailure | null> = {
  DNS_NOT_FOUND: 'dns',
  DNS_FAILED: 'dns',
  CONNECTION_REFUSED: 'refused',
  CONNECTION_RESET: 'reset',
  CONNECTION_FAILED: 'reset',
  TIMEOUT_CONNECT: 'timeout',
  TIMEOUT_FIRST_BYTE: 'timeout',
  TIMEOUT_IDLE: 'timeout',
  TIMEOUT_TOTAL: 'timeout',
  TLS_FAILED: 'tls',
  HTTP_PROTOCOL: 'protocol',
  TRUNCATED_BODY: 'reset',
  BAD_ENCODING: null,
  TOO_LARGE: null,
  PROXY_FAILED: 'proxy',
  BLOCKED_ADDRESS: null,
  INVALID_URL: null,
  INVALID_REQUEST: null,
};
