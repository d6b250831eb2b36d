const ROUND_TRIPS_PER_DOUBLING = 23;
const SHORTEST_DOUBLING_MS = 50;
const LONGEST_DOUBLING_MS = 2_300;

/** @returns the time in which a growing cap about doubles: 23 round trips, within 50 ms and 4 s. */
export function doublingMs(latencyMs: number): number {
  return Math.min(Math.max(ROUND_TRIPS_PER_DOUBLING * latencyMs, SHORTEST_DOUBLING_MS), LONGEST_DOUBLING_MS);
}

// The least refusals over the limiters of bench/zoo with a cap of 50 still full after about 120 round trips.
const QUICK_UNTIL_CAP = 5;
const QUICK_GROWTH = 0.04;
const ANSWERS_OF_SMALL_BUDGET = 183;
const STEADY_GROWTH = 0.024;
const STEADY_UNTIL_CAP = 26;
const LATE_GROWTH = 0.1;

/**
 * What one accepted answer adds to the cap. A full window refuses all that is on its way, about one cap, so the cap stays
 * small while the budget may be a small one, then near 3 % of what was accepted.
 * @param accepted answers since the start
 */
export function growthPerAnswer(cap: number, latencyMs: number, accepted: number): number {
  // On slow hosts it goes by time rather than by round trips.
  const haste = Math.max(1, (ROUND_TRIPS_PER_DOUBLING * latencyMs) / LONGEST_DOUBLING_MS);
  if (cap < QUICK_UNTIL_CAP) return Math.min(QUICK_GROWTH * haste, QUICK_UNTIL_CAP - cap);
  if (accepted * haste < ANSWERS_OF_SMALL_BUDGET) return 0;
  // Late and slow, what is on its way when the first refusal comes is many: no haste there.
  return cap < STEADY_UNTIL_CAP ? STEADY_GROWTH * haste : LATE_GROWTH / Math.sqrt(haste);
}

// Lets slots, not the pace, hold sends back, and still spreads them over a round trip.
const PACE_OVER_SLOTS = 1.15;

/** @returns the interval between sends of a growing cap, ms */
export function startIntervalMs(cap: number, latencyMs: number): number {
  return latencyMs / (PACE_OVER_SLOTS * cap);
}

const KNEE_GROWTH = 1.25;
const KNEE_LATENCY = 2;
const CAP_LATENCIES = 2.5;

/** Goodput (per second) and mean latency (ms) now and one doubling ago. */
export type KneeFacts = { goodput: number; goodputBefore: number; latencyMs: number; leastLatencyMs: number };

/** @returns whether more requests in flight only make the server slower */
export function isKnee(facts: KneeFacts): boolean {
  return facts.goodput < KNEE_GROWTH * facts.goodputBefore && facts.latencyMs > KNEE_LATENCY * facts.leastLatencyMs;
}

/** @returns the in-flight cap at which a server of that goodput answers within 2.5 times its least latency */
export function capAtKnee(goodput: number, leastLatencyMs: number): number {
  return Math.max(1, Math.floor((CAP_LATENCIES * goodput * leastLatencyMs) / 1000));
}
