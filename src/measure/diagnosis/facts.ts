import type { HostConfig } from '../../config/host-schema.ts';
import { Histogram } from '../../core/histogram.ts';
import type { HostLimits, HostRecordState } from '../../report/host-record.ts';
import type { RecorderState } from '../../report/recorder.ts';
import type { SlotAccountState } from './slot-account.ts';

/** The settings that advice may be about. */
export type DiagnosedHostConfig = Pick<
  HostConfig,
  'maxConcurrency' | 'requestsPerSecond' | 'minDelayMs' | 'headroom' | 'discovery' | 'http2'
> & { sessionPool: Pick<HostConfig['sessionPool'], 'rotation' | 'proxyUrls' | 'credentials'> };

/** What a diagnosis is made of. */
export type DiagnosisFacts = {
  recorder: RecorderState;
  slots: SlotAccountState;
  maxConcurrency: number;
  maxRequestsPerMinute: number | null;
  durability: 'normal' | 'full';
  hostConfig: (host: string) => DiagnosedHostConfig;
};

/** One host, in the figures that rules ask for. Times are ms of one request. */
export type HostFacts = {
  host: string;
  config: DiagnosedHostConfig;
  attempts: number;
  /** Attempts whose answer says what the work costs: no rejection, no server error. */
  answered: number;
  limited: number;
  retries: number;
  /** Handled requests per second of the time it had work. */
  requestsPerSecond: number;
  limits: HostLimits | null;
  /** Requests in flight beyond which the governor saw the server only get slower; null = it saw no such thing. */
  kneeConcurrency: number | null;
  /** Least connect time; null when no connection was opened, or when it tells of our own load and not of the way. */
  roundTripMs: number | null;
  /** p10 and median of first byte + download. */
  baseMs: number | null;
  medianMs: number | null;
  /** The same of the very first answers, before our own load could slow it; null when it is not known. */
  unloadedMs: number | null;
  /** Share of the requests sent on a connection that was there already. */
  reuseShare: number;
  isHttp2: boolean;
  isSecure: boolean;
  failures: Readonly<Record<string, number>>;
  statuses: Readonly<Record<string, number>>;
  /** Totals over all its attempts. */
  handshakeMs: number;
  firstByteMs: number;
  downloadMs: number;
  parseMs: number;
  handlerMs: number;
};

/** @returns the hosts, those with most attempts first */
export function hostFacts({ recorder, hostConfig }: DiagnosisFacts): HostFacts[] {
  return Object.entries(recorder.hosts)
    .filter(([, record]) => record.attempts > 0)
    .map(([host, record]) => factsOf(host, record, { config: hostConfig(host), recorder }))
    .sort((a, b) => b.attempts - a.attempts);
}

function factsOf(
  host: string,
  record: HostRecordState,
  { config, recorder }: { config: DiagnosedHostConfig; recorder: RecorderState },
): HostFacts {
  const latency = Histogram.fromState(record.latency);
  const reused = Histogram.fromState(record.reusedBase);
  const base = reused.count > 0 ? reused : Histogram.fromState(record.freshBase);
  const baseMs = base.percentile(0.1);
  const [, , dns = 0, connect = 0, tls = 0, firstByte = 0, download = 0, parse = 0, handler = 0] = record.timeMs;
  const workMs = record.workMs > 0 ? record.workMs : recorder.activeMs;
  return {
    host,
    config,
    attempts: record.attempts,
    answered: latency.count,
    limited: record.limited,
    retries: record.retries,
    requestsPerSecond: workMs > 0 ? ((record.succeeded + record.failed) * 1_000) / workMs : 0,
    limits: record.limits,
    kneeConcurrency: kneeOf(host, recorder, config.maxConcurrency),
    roundTripMs: THIS_MACHINE.test(host) ? null : roundTripOf(record.leastConnectMs, baseMs),
    baseMs,
    medianMs: base.percentile(0.5),
    // Our own start slows some of them.
    unloadedMs: record.earlyMs?.length ? Math.min(...record.earlyMs) : null,
    reuseShare: record.reused / record.attempts,
    isHttp2: record.http2 > record.http1,
    isSecure: tls > 0,
    failures: record.networkFailures,
    statuses: record.statuses,
    handshakeMs: dns + connect + tls,
    firstByteMs: firstByte,
    downloadMs: download,
    parseMs: parse,
    handlerMs: handler,
  };
}

// There is no way to it: what connecting takes is our own doing.
const THIS_MACHINE = /^(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/;
// Some of it is jitter.
const LONGEST_WAY_SHARE = 1.1;

/** Who takes longer to connect than a whole request takes was held up by us: many connections were opened at once. */
function roundTripOf(leastConnectMs: number | null, baseMs: number | null): number | null {
  if (leastConnectMs === null || baseMs === null) return leastConnectMs;
  return leastConnectMs <= LONGEST_WAY_SHARE * baseMs ? leastConnectMs : null;
}

/** The governor says so by an event that sets a concurrency, and neither a rate nor a limit. */
function kneeOf(host: string, { events }: RecorderState, maxConcurrency: number): number | null {
  const last = events.events.findLast((event) => event.kind === 'limit-changed' && event.host === host)?.facts;
  if (last === undefined || last.limitRps !== null || last.requestsPerSecond !== null) return null;
  return typeof last.concurrency === 'number' && last.concurrency < maxConcurrency ? last.concurrency : null;
}
