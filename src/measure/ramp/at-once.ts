import type { Arrival } from './observations.ts';

// One more or less may be on its way.
const TOLERANCE_SHARE = 0.08;

/**
 * Whether a limit of requests at once would have answered like this.
 * @returns the limit, and how many refusals it does not explain
 */
export function fitAtOnce(arrivals: readonly Arrival[]): { concurrency: number; misses: number } {
  let concurrency = 1;
  for (const { isAccepted, inFlight } of arrivals) if (isAccepted) concurrency = Math.max(concurrency, inFlight + 1);
  // Who is alone there is refused by no such limit.
  const least = Math.max(1, concurrency - Math.max(1, concurrency * TOLERANCE_SHARE));
  const misses = arrivals.filter(({ isAccepted, inFlight }) => !isAccepted && inFlight < least).length;
  return { concurrency, misses };
}
