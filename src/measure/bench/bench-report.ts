import type { Machine } from '../common/machine.ts';

/** How one load is made. */
export type BenchSetting = {
  requests: number;
  /** Requests sent before, not measured. */
  warmup: number;
  /** In flight at once, each answered before the next is sent (a closed model). */
  concurrency: number;
  /** Sent at this rate whatever comes back (an open model), requests/s; null = the closed model. */
  rate: number | null;
  http2: 'auto' | 'off';
  httpClient: 'undici' | 'got-scraping';
};

/** ms; null when there was no answer. */
export type Percentiles = {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  p999: number | null;
  mean: number | null;
  max: number | null;
};

/** What one load gave. */
export type BenchResult = {
  setting: BenchSetting;
  wallSecs: number;
  requestsPerSecond: number;
  /**
   * From the moment a request was due to its last byte: what a user sees. In the open model a late answer delays
   * nothing, so nothing is left out of the figures (corrected for coordinated omission).
   */
  latencyMs: Percentiles;
  /** From the moment it was really sent; the same as latencyMs in the closed model. */
  serviceMs: Percentiles;
  /** Of one request at a time over a kept connection, before the load: p10, ms. */
  baseLatencyMs: number | null;
  /** concurrency / base latency; the rate in the open model. */
  theoreticalRps: number | null;
  achievedShare: number | null;
  connectionsOpened: number;
  httpVersion: string | null;
  /** As they travelled, and decoded. */
  wireBytes: number;
  bodyBytes: number;
  /** Of an answer, in the mean. */
  meanBodyBytes: number | null;
  statusCodes: Record<string, number>;
  failures: Record<string, number>;
  /** Share of the time in which our own event loop was busy: near 1, the figures are ours, not the server's. */
  busyShare: number;
};

/** Two settings in turns: the ratio of their rates and of their medians, second over first; the median of the rounds. */
export type BenchComparison = {
  rounds: number;
  rateRatio: number;
  p50Ratio: number | null;
  leastRatio: number;
  mostRatio: number;
};

export type BenchReport = {
  kind: 'millrace bench';
  version: 1;
  /** ISO 8601. */
  madeAt: string;
  url: string;
  machine: Machine;
  /** Where the answers come from, as far as their headers tell. */
  targetRegion: string | null;
  results: BenchResult[];
  comparison: BenchComparison | null;
};
