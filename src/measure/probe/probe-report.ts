import type { HttpErrorCode } from '../../http/client.ts';
import type { Machine } from '../common/machine.ts';

/** Phases of one request, ms each. `total` is from its start to its last byte. */
export type PhaseTimes = {
  dns: number;
  connect: number;
  tls: number;
  firstByte: number;
  download: number;
  total: number;
};

/** How long the server keeps an idle connection. `atLeastMs` = it was still open when we stopped waiting. */
export type KeepAlive =
  | { kind: 'closed-at-once' }
  | { kind: 'closed-after'; afterMs: number }
  | { kind: 'kept'; atLeastMs: number }
  | { kind: 'unknown'; reason: string };

export type FamilyResult = {
  family: 4 | 6;
  address: string;
  /** Connect time; null when it could not be reached. */
  connectMs: number | null;
  error: string | null;
};

/** A limit the server states, as requests per second where that can be said. */
export type StatedRate = {
  name: string;
  unit: 'requests' | 'concurrent';
  limit: number | null;
  remaining: number | null;
  windowMs: number | null;
};

/** What was found out about one URL. Times are medians, ms; null = it could not be measured. */
export type UrlProbe = {
  url: string;
  host: string;
  /** Of the last answer; null when none came. */
  status: number | null;
  error: { code: HttpErrorCode | 'UNKNOWN'; message: string } | null;
  httpVersion: '1.1' | '2' | null;
  /** A request over a new connection, and one over a connection that was there. */
  fresh: PhaseTimes | null;
  /** The fastest of those over a new connection, as it was. */
  freshBest: PhaseTimes | null;
  reused: PhaseTimes | null;
  samples: { fresh: number; reused: number };
  /** Least connect time: one round trip. */
  roundTripMs: number | null;
  /** Median first byte on a reused connection less a round trip: what the server itself takes. */
  serverMs: number | null;
  isReused: boolean;
  keepAlive: KeepAlive;
  /** `Keep-Alive: timeout=5`, ms. */
  statedKeepAliveMs: number | null;
  contentEncoding: string | null;
  /** As it travelled, and decoded. */
  wireBytes: number | null;
  bodyBytes: number | null;
  limits: StatedRate[];
  retryAfterMs: number | null;
  /** Why the server refused a request; null when it did not. Nothing more is sent then. */
  refusal: string | null;
  /** null = not looked at, as a request was refused before. */
  robots: { verdict: 'allowed' | 'disallowed' | 'unreachable'; rule: string | null; crawlDelayMs: number } | null;
  /** The server's clock less ours: somewhere between the two, ms. */
  clockSkewMs: { least: number; most: number } | null;
  families: FamilyResult[];
  outlook: Outlook | null;
};

/** What the position allows. */
export type Outlook = {
  /** Of one request over a kept connection (over a new one where none is kept), ms. */
  latencyMs: number;
  wishedRps: number;
  /** In flight at once for the wished rate: rate x latency (Little's law). */
  concurrency: number;
  /** The stated limit, requests/s; null = none stated. */
  statedRps: number | null;
  /** With `maxConcurrency` in flight, and below the stated limit. */
  ceilingRps: number;
  maxConcurrency: number;
};

/** A probe as it is saved, and as --json gives it. */
export type ProbeReport = {
  kind: 'millrace probe';
  version: 1;
  /** ISO 8601. */
  madeAt: string;
  machine: Machine;
  urls: UrlProbe[];
};
