/** One worker's part in a key's budget, as the others see it. */
export type Share = {
  workerId: number;
  /** What it could send now; 0 = nothing. */
  wantedRps: number;
  /** What it may send until its lease ends. */
  grantedRps: number;
  /** What it has sent lately. */
  sentRps: number;
  /** The rate its own law goes at: 0 = it waits, null = without a pace. */
  pacedRps: number | null;
  /** The rate at which it was refused; null = not yet. */
  foundRps: number | null;
  /** The limit it knows of, configured or stated, for all workers together; null = none. */
  ceilingRps: number | null;
};

export type GrantRequest = {
  workerId: number;
  wantedRps: number;
  ceilingRps: number | null;
  /** So many workers may send at once. */
  mostSharers: number;
};

// A worker's sends fall into a second as they come: one more or less than its share.
const ROUNDING_SENDS = 1;
const LEAST_PACED_SHARE = 0.5;

/**
 * Divides a rate: everybody gets what he wants while there is enough, and nobody more than another who wants more.
 * @returns the shares in the order of `wants`; their sum is at most `totalRps`
 */
export function fairShares(totalRps: number, wants: readonly number[]): number[] {
  const shares = wants.map(() => 0);
  const byWant = [...wants.keys()].sort((a, b) => wants[a]! - wants[b]!);
  let left = totalRps;
  for (const [position, index] of byWant.entries()) {
    const share = Math.min(wants[index]!, left / (byWant.length - position));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/**
 * What a worker may send until it asks again. Never more than is free: a share grows only after others have given theirs
 * back, or their leases have ended, so that all together stay within the limit at every moment.
 * @param others shares whose leases have not ended
 * @returns null when nobody knows of a limit
 */
export function grantFor(request: GrantRequest, others: readonly Share[]): number | null {
  const ceilings = [request.ceilingRps, ...others.map(({ ceilingRps }) => ceilingRps)].filter((rps) => rps !== null);
  if (ceilings.length === 0) return null;
  const sharers = chooseSharers(request, others);
  const place = sharers.findIndex(({ workerId }) => workerId === request.workerId);
  if (place < 0) return 0;
  const totalRps = pacedTotal(Math.min(...ceilings), sharers.length);
  const fair = fairShares(
    totalRps,
    sharers.map(({ wantedRps }) => wantedRps),
  )[place]!;
  const taken = others.reduce((sum, { grantedRps }) => sum + grantedRps, 0);
  return Math.max(0, Math.min(fair, totalRps - taken));
}

/** What `sharers` pacers may have together, so that their sends stay within the limit in every second. */
function pacedTotal(limitRps: number, sharers: number): number {
  if (sharers === 1) return limitRps;
  return Math.max(limitRps - sharers * ROUNDING_SENDS, LEAST_PACED_SHARE * limitRps);
}

/** Who sends to a key that not all may: who does already goes on, then the first that came. */
function chooseSharers(
  { workerId, wantedRps, mostSharers }: GrantRequest,
  others: readonly Share[],
): { workerId: number; wantedRps: number }[] {
  const all = [
    { workerId, wantedRps, holds: false },
    ...others.map((other) => ({ ...other, holds: other.grantedRps > 0 })),
  ];
  return all
    .filter((one) => one.wantedRps > 0)
    .sort((a, b) => Number(b.holds) - Number(a.holds) || a.workerId - b.workerId)
    .slice(0, mostSharers);
}

/** The law that one worker's governor follows, which the others go by: per worker, of equal parts. */
export type Lead = {
  workerId: number;
  /** The rate it goes at: 0 = it waits, null = without a pace. */
  pacedRps: number | null;
  /** The rate it was refused at; null = not yet. */
  foundRps: number | null;
};

/** @returns whose law all go by: of those who send to the key, the one that came first; null = one's own */
export function leadOf(workerId: number, others: readonly Share[]): Lead | null {
  const first = others.reduce<Share | null>(
    (best, one) => (best === null || one.workerId < best.workerId ? one : best),
    null,
  );
  return first !== null && first.workerId < workerId ? first : null;
}
