import type { Outlook, PhaseTimes, StatedRate } from './probe-report.ts';

/**
 * What a position allows: the concurrency that a wished rate needs, and the rate that the given concurrency allows.
 * @param phases of a request as most of a crawl's are: over a kept connection, or a new one where none is kept
 * @returns null when nothing was measured
 */
export function outlookOf(facts: {
  phases: PhaseTimes | null;
  limits: readonly StatedRate[];
  wishedRps: number;
  maxConcurrency: number;
}): Outlook | null {
  const { phases, wishedRps, maxConcurrency } = facts;
  if (phases === null || phases.total <= 0) return null;
  const statedRps = statedRate(facts.limits);
  const concurrent = statedConcurrency(facts.limits);
  const inFlight = Math.min(maxConcurrency, concurrent ?? maxConcurrency);
  const byLatency = (inFlight * 1_000) / phases.total;
  return {
    latencyMs: phases.total,
    wishedRps,
    concurrency: Math.max(1, Math.ceil((wishedRps * phases.total) / 1_000)),
    statedRps,
    ceilingRps: statedRps === null ? byLatency : Math.min(byLatency, statedRps),
    maxConcurrency: inFlight,
  };
}

/** @returns the lowest stated rate, requests/s; null when none can be told */
export function statedRate(limits: readonly StatedRate[]): number | null {
  const rates = limits
    .filter(({ unit }) => unit === 'requests')
    .flatMap(({ limit, windowMs }) =>
      limit === null || windowMs === null || windowMs <= 0 ? [] : [(limit * 1_000) / windowMs],
    );
  return rates.length === 0 ? null : Math.min(...rates);
}

function statedConcurrency(limits: readonly StatedRate[]): number | null {
  const counts = limits.flatMap(({ unit, limit }) => (unit === 'concurrent' && limit !== null ? [limit] : []));
  return counts.length === 0 ? null : Math.min(...counts);
}
