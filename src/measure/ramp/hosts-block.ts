import type { RampResult } from './ramp-report.ts';

/** Share of what was found that a crawl is to use. */
const HEADROOM = 0.8;
// In flight, so that an answer twice as slow as usual does not hold the rate back.
const LATENCY_ROOM = 2;

/** Settings of one host that hold below what a ramp found; null where it found nothing to hold. */
export type HostSettings = { requestsPerSecond?: number; maxConcurrency: number };

export function hostSettings({ limitRps, concurrency, baseLatencyMs }: RampResult): HostSettings | null {
  if (concurrency !== null) return { maxConcurrency: Math.max(1, Math.floor(concurrency * HEADROOM)) };
  if (limitRps === null) return null;
  const requestsPerSecond = Number((limitRps * HEADROOM).toPrecision(3));
  const needed = (requestsPerSecond * (baseLatencyMs ?? 0) * LATENCY_ROOM) / 1_000;
  return { requestsPerSecond, maxConcurrency: Math.max(2, Math.ceil(needed)) };
}

/** @returns the `hosts:` block of an input document, without a newline at its end */
export function hostsBlock(host: string, settings: HostSettings): string {
  const lines = Object.entries(settings).map(([key, value]) => `    ${key}: ${value}`);
  return [`hosts:`, `  "${host}":`, ...lines].join('\n');
}
