/** What is known of one refusal by the time the key may send again. Rates per second, times in ms. */
export type CutFacts = {
  /** Goodput just before the refusal. */
  goodput: number;
  /** From the last opening to the refusal. */
  openMs: number;
  /** From the refusal to now. */
  blockedMs: number;
  /** From the refusal to the last one after it: the window ended at some time between then and now. */
  refusedForMs: number;
  /** Accepted since the last opening. */
  accepted: number;
  /** Share accepted among what was sent between the first refused request and the cut; 1 when nothing was. */
  acceptedShare: number;
  /** The first refusal of this key, met while it was not paced. */
  isFirst: boolean;
  /** The first probe after it was refused too, or the server asked for a long wait: it counts by windows. */
  isWindow: boolean;
  /** Share of a found limit that is used. */
  headroom: number;
};

/** The rate to go on with, and whether it is to be approached from below or held. */
export type Cut = {
  requestsPerSecond: number;
  next: 'search' | 'hold';
  kind: 'first' | 'window' | 'short' | 'over';
  /** The level that failed. */
  failedRps: number;
};

// Shares measured in the prototype's ablations.
const LEAST_KEPT_SHARE = 0.5;
const FIRST_OVER_CYCLE = 1.2;
const WINDOW_SHARE = 0.9;

/**
 * Decides the rate after a refusal. Goodput seen through a burst allowance is not the rate, so what counts besides is
 * the mean of the whole cycle: accepted over open and blocked time.
 */
export function cutAfter(facts: CutFacts): Cut {
  const { goodput, openMs, blockedMs, headroom } = facts;
  const cycle = (facts.accepted * 1000) / Math.max(openMs + blockedMs, 1);
  if (facts.isWindow) {
    // What a window lets through at first is no rate; what it lets through from end to end is.
    const failedRps = Math.min((facts.accepted * 1000) / Math.max(openMs + facts.refusedForMs, 1), goodput);
    const requestsPerSecond = WINDOW_SHARE * Math.min(cycle, goodput);
    // Over several windows the slow start's own slowness would be taken for the limit.
    const isVague = facts.isFirst && openMs > 2 * blockedMs;
    return isVague
      ? { requestsPerSecond, next: 'search', kind: 'window', failedRps: goodput }
      : { requestsPerSecond, next: 'hold', kind: 'window', failedRps };
  }
  const failedRps = goodput;
  if (facts.isFirst) {
    const thinned = headroom * goodput * facts.acceptedShare;
    const careful = Math.min(LEAST_KEPT_SHARE * goodput, FIRST_OVER_CYCLE * cycle);
    return { requestsPerSecond: Math.max(careful, thinned), next: 'search', kind: 'first', failedRps };
  }
  if (openMs < 2 * blockedMs && cycle < headroom * goodput) {
    const rate = Math.max(WINDOW_SHARE * cycle, LEAST_KEPT_SHARE * goodput);
    return { requestsPerSecond: rate, next: 'search', kind: 'short', failedRps };
  }
  return { requestsPerSecond: headroom * goodput, next: 'hold', kind: 'over', failedRps };
}
