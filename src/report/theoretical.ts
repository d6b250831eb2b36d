/** What bounds one host's rate. */
export type HostCeiling = {
  /** Limit of its rate, requests/s; null = none known. */
  limitRps: number | null;
  /** Most requests in flight it is configured for. */
  concurrency: number;
  /** Least time one request takes, ms; null = never measured. */
  latencyMs: number | null;
  /** Share of the run in which it had work, 0 to 1. */
  workShare: number;
  /** Requests sent to it: weighs its latency in the mean. */
  requests: number;
};

/**
 * The rate this position allows: the sum over hosts of min(limit, concurrency / base latency), each weighted by the
 * share of the run in which it had work; the sum is capped by maxConcurrency / mean base latency.
 * @returns requests/s; null when no host is bounded by anything measured
 */
export function theoreticalRps(hosts: readonly HostCeiling[], maxConcurrency: number): number | null {
  const rates = hosts.map(weightedRate).filter((rate) => rate !== null);
  if (rates.length === 0) return null;
  const sum = rates.reduce((total, rate) => total + rate, 0);
  const meanMs = meanLatencyMs(hosts);
  return meanMs === null ? sum : Math.min(sum, (maxConcurrency * 1_000) / meanMs);
}

function weightedRate({ limitRps, concurrency, latencyMs, workShare }: HostCeiling): number | null {
  const byLatency = latencyMs !== null && latencyMs > 0 ? (concurrency * 1_000) / latencyMs : null;
  if (byLatency === null && limitRps === null) return null;
  return Math.min(byLatency ?? Number.POSITIVE_INFINITY, limitRps ?? Number.POSITIVE_INFINITY) * workShare;
}

function meanLatencyMs(hosts: readonly HostCeiling[]): number | null {
  let requests = 0;
  let totalMs = 0;
  for (const host of hosts) {
    if (host.latencyMs === null || host.latencyMs <= 0) continue;
    requests += host.requests;
    totalMs += host.requests * host.latencyMs;
  }
  return requests > 0 ? totalMs / requests : null;
}
