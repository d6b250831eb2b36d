import type { ResponseHeaders } from './headers.ts';

/** How an attempt failed below HTTP, as far as pacing and the circuit care. */
export type NetworkFailure = 'dns' | 'refused' | 'timeout' | 'reset' | 'tls' | 'protocol' | 'proxy' | 'aborted';

/** What the governor learns from one attempt. Times are of the monotonic clock, in ms. */
export type Sample = {
  key: string;
  origin: string;
  sentAtMs: number;
  endedAtMs: number;
  /** null when no response came. */
  status: number | null;
  failure: NetworkFailure | null;
  headers: ResponseHeaders;
  /** Epoch ms at which the response came: to compare with its Date header. */
  wallMs: number;
  /** The body of a non-2xx or otherwise suspicious response (at most a few KiB), for limits told in the body. */
  bodyText: string | null;
  /** What was asked for, for servers that name the budget a request counts to; may be left out. */
  method?: string;
  url?: string;
  /** The attempt overlapped a time in which our own process was overloaded: its latency says nothing of the server. */
  overloaded: boolean;
  /** No answer of the API itself, but robots.txt or a token: what it took says nothing of them. Left out = it is one. */
  isAside?: boolean;
};

/**
 * What the governor makes of an attempt.
 * ok = an answer like any other (whatever its status); limited = the server asked for less: same request again, no
 * retry spent; failed = a network failure or an overload: a retry is due.
 */
export type Verdict = 'ok' | 'limited' | 'failed';
