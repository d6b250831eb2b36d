import { Histogram } from '../core/histogram.ts';
import type { HostSummary, Summary } from '../core/summary.ts';
import type { HostLimits, HostRecordState } from './host-record.ts';

/** @returns percentiles and mean, ms to the microsecond; null when nothing was recorded */
export function latencySummary(histogram: Histogram): Summary['latencyMs'] {
  const at = (share: number): number | null => roundMs(histogram.percentile(share));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), mean: roundMs(histogram.mean) };
}

/** p10 of first byte + download on reused connections, ms; null when no connection was reused. */
export function baseLatencyMs(record: HostRecordState): number | null {
  return roundMs(Histogram.fromState(record.reusedBase).percentile(0.1));
}

/** The same, of new connections where none was reused: what one request costs without handshakes, ms. */
export function bestLatencyMs(record: HostRecordState): number | null {
  return baseLatencyMs(record) ?? roundMs(Histogram.fromState(record.freshBase).percentile(0.1));
}

/** One host's part of the summary. @param limits its governor keys added up; the last known when it has none now */
export function summariseHost(record: HostRecordState, limits: HostLimits | null): HostSummary {
  return {
    requests: record.attempts,
    succeeded: record.succeeded,
    failed: record.failed,
    rateLimited: record.limited,
    limitRps: limits?.limitRps ?? null,
    limitSource: limits?.limitSource ?? null,
    concurrency: limits?.concurrency ?? null,
    latencyMs: latencySummary(Histogram.fromState(record.latency)),
    baseLatencyMs: baseLatencyMs(record),
    roundTripMs: roundMs(record.leastConnectMs),
    httpVersion: httpVersionOf(record),
    parkedUntil: limits?.parkedUntilMs == null ? null : new Date(limits.parkedUntilMs).toISOString(),
    givenUp: limits?.givenUp ?? null,
  };
}

/** @returns the value to three digits after the point */
export function roundMs(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1_000) / 1_000;
}

function httpVersionOf({ http1, http2 }: HostRecordState): string | null {
  if (http1 === 0 && http2 === 0) return null;
  return http2 >= http1 ? '2' : '1.1';
}
