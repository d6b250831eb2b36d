/** One request that was answered; monotonic ms, as seen from here. */
export type Observation = { sentMs: number; endedMs: number; isAccepted: boolean };

/** One request as it reached the server. `inFlight` = others that were there, as far as can be told. */
export type Arrival = { atMs: number; isAccepted: boolean; inFlight: number };

// Fits look at every arrival many times; what came long before the limit says nothing of it.
const MOST_ARRIVALS = 6_000;

/**
 * What the server saw, in its order.
 * @param roundTripMs half of it passes before a request is there, half after its answer has left
 */
export function arrivalsOf(observations: readonly Observation[], roundTripMs: number): Arrival[] {
  const oneWayMs = roundTripMs / 2;
  const sorted = observations.toSorted(byArrival).slice(-MOST_ARRIVALS);
  const leaves = sorted
    .filter(({ isAccepted }) => isAccepted)
    .map(({ endedMs }) => endedMs - oneWayMs)
    .sort((a, b) => a - b);
  let accepted = 0;
  let left = 0;
  return sorted.map(({ sentMs, isAccepted }) => {
    const atMs = sentMs + oneWayMs;
    while (left < leaves.length && (leaves[left] as number) <= atMs) left += 1;
    const inFlight = Math.max(0, accepted - left);
    if (isAccepted) accepted += 1;
    return { atMs, isAccepted, inFlight };
  });
}

// What was sent within one ms came in no order that can be told: as a limiter would have had it, the refused ones last.
function byArrival(a: Observation, b: Observation): number {
  return Math.floor(a.sentMs) - Math.floor(b.sentMs) || Number(b.isAccepted) - Number(a.isAccepted);
}
