import { parseHttpDate } from '../../governor/signals/http-date.ts';

/** A Date header, and between which two moments of our clock it was written; epoch ms. */
export type DateSeen = { dateText: string | undefined; sentWallMs: number; receivedWallMs: number };

// A Date is cut to the whole second: the server's clock then showed up to one more.
const DATE_RESOLUTION_MS = 1_000;

/**
 * How far the server's clock is ahead of ours.
 * @returns the bounds that every answer allows, ms; null when none had a Date, or when they contradict one another
 *   (several machines behind one name)
 */
export function clockSkew(seen: readonly DateSeen[]): { least: number; most: number } | null {
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  for (const { dateText, sentWallMs, receivedWallMs } of seen) {
    const dateMs = parseHttpDate(dateText);
    if (dateMs === undefined) continue;
    least = Math.max(least, dateMs - receivedWallMs);
    most = Math.min(most, dateMs + DATE_RESOLUTION_MS - sentWallMs);
  }
  return Number.isFinite(least) && least <= most ? { least, most } : null;
}
