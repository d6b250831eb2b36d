import type { Summary } from '../core/summary.ts';

// So far above what was reached, what is possible is a figure of arithmetic.
const MOST_FACTOR = 10;
// Answers this fast leave our own process as what limits.
const FAST_MS = 5;
// A crawl this short was filling and draining its slots.
const SHORT_SECS = 3;

/**
 * What is worth telling people of the rate that was possible.
 * @returns requests/s, and the share of it reached, 0 to 1; null where not the network and the hosts but our own
 *   process, or the crawl's few seconds, were what limited
 */
export function possibleRate({
  theoreticalRps,
  achievedShare,
  latencyMs: { p50 },
  durationSecs,
}: Pick<Summary, 'theoreticalRps' | 'achievedShare' | 'latencyMs' | 'durationSecs'>): {
  rps: number;
  share: number;
} | null {
  if (theoreticalRps === null || achievedShare === null) return null;
  const isFar = achievedShare * MOST_FACTOR < 1;
  const isOurs = (p50 !== null && p50 < FAST_MS) || durationSecs < SHORT_SECS;
  return isFar && isOurs ? null : { rps: theoreticalRps, share: achievedShare };
}
