const ROUND_TRIPS_PER_DOUBLING = 23;
const SHORTEST_DOUBLING_MS = 50;
const LONGEST_DOUBLING_MS = 2_000;

/** @returns the time in which a growing cap doubles: 23 round trips, within 50 ms and 2 s. */
export function doublingMs(latencyMs: number): number {
  return Math.min(Math.max(ROUND_TRIPS_PER_DOUBLING * latencyMs, SHORTEST_DOUBLING_MS), LONGEST_DOUBLING_MS);
}

/**
 * @returns what one accepted answer adds to the cap, so that a cap in full use doubles in `doublingMs`: continuous
 *   growth keeps the number of requests on their way at the first refusal at 2 to 4
 */
export function growthPerAnswer(latencyMs: number): number {
  return (Math.LN2 * latencyMs) / doublingMs(latencyMs);
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
