import { MINUTE_MS, SECOND_MS } from '../../core/units.ts';
import type { StatedLimit } from '../signals/stated-limit.ts';
import { Refill } from './refill.ts';
import { hasRolledOver, WindowLearner } from './window.ts';

// Close to the full rate: what is left covers clocks that differ and sends that bunch up on their way.
const FULL_SHARE = 0.97;
// Windows up to a minute are paced evenly. Of a longer one the first nine tenths may go as fast as the server bears it.
const EVEN_WINDOW_MS = MINUTE_MS;
const RESERVE_SHARE = 0.1;
const OWN_USE_SHARE = 0.8;
const LEAST_RPS = 1 / 60;
const SHARE_AFTER_REFUSAL = 0.98;
const LEAST_SHARE = 0.85;
const STRIKES = 2;
const EMPTY_STRIKES = 3;
const MOST_LATE_MS = 250;
const LEAST_MEMORY_MS = 5 * SECOND_MS;
const FORGOTTEN_AFTER_MS = 5 * MINUTE_MS;

type Known = StatedLimit & { window: WindowLearner; refill: Refill; answersInWindow: number; seenAtMs: number };

/** What holds at one response: `inFlight` counts it. */
export type StatedFacts = { nowMs: number; inFlight: number };

/** Turns the limits a server states into a pace, and judges whether they deserve it. */
export class StatedPace {
  readonly #known = new Map<string, Known>();
  #share = FULL_SHARE;
  #strikes = 0;
  #emptyStrikes = 0;
  #wasBlocked = false;
  #isTrusted = true;
  #requestsPerSecond: number | null = null;
  #limitRps: number | null = null;
  #concurrency: number | null = null;
  #bearsLateMs = 0;
  #blockedUntilMs = 0;

  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  /** The pace all stated limits allow; null = none is stated, or none binds now. */
  get requestsPerSecond(): number | null {
    return this.#requestsPerSecond;
  }

  /** The lowest rate stated; null = none. */
  get limitRps(): number | null {
    return this.#limitRps;
  }

  /** The stated number of requests in flight; null = none. */
  get concurrency(): number | null {
    return this.#concurrency;
  }

  /** Sends so late may be made up for, and the window still holds no more than is stated. */
  get bearsLateMs(): number {
    return this.#bearsLateMs;
  }

  /** Until when nothing is left, monotonic ms; in the past when something is. */
  get blockedUntilMs(): number {
    return this.#blockedUntilMs;
  }

  /** Takes in what one response states. @returns whether the stated limit changed noticeably */
  observe(limits: readonly StatedLimit[], facts: StatedFacts): boolean {
    if (!this.#isTrusted || (limits.length === 0 && this.#known.size === 0)) return false;
    const before = this.#limitRps;
    for (const limit of limits) this.#note(limit, facts);
    this.#forget(facts.nowMs);
    this.#recompute(facts);
    return differs(before, this.#limitRps);
  }

  #note(limit: StatedLimit, { nowMs, inFlight }: StatedFacts): void {
    const before = this.#known.get(limit.name);
    const window = before?.window ?? new WindowLearner();
    const refill = before?.refill ?? new Refill();
    const resetMs = window.read({ nowMs, inFlight, remaining: limit.remaining, resetMs: limit.resetMs });
    const windowMs = limit.windowMs ?? window.windowMs;
    if (windowMs === null && limit.remaining !== null) refill.add(nowMs, limit.remaining);
    const isNewWindow = hasRolledOver(before?.remaining ?? null, limit.remaining, inFlight);
    const answersInWindow = isNewWindow ? 1 : (before?.answersInWindow ?? 0) + 1;
    this.#known.set(limit.name, { ...limit, resetMs, windowMs, window, refill, answersInWindow, seenAtMs: nowMs });
  }

  /** What a server has stopped stating does not bind for ever. */
  #forget(nowMs: number): void {
    for (const [name, limit] of this.#known) {
      const spanMs = Math.max(limit.windowMs ?? 0, limit.resetMs ?? 0, LEAST_MEMORY_MS);
      if (nowMs - limit.seenAtMs > Math.min(2 * spanMs, FORGOTTEN_AFTER_MS)) this.#known.delete(name);
    }
  }

  #recompute(facts: StatedFacts): void {
    let pace = Number.POSITIVE_INFINITY;
    let limitRps = Number.POSITIVE_INFINITY;
    let concurrency = Number.POSITIVE_INFINITY;
    for (const limit of this.#known.values()) {
      if (limit.unit === 'concurrent') concurrency = Math.min(concurrency, limit.limit ?? concurrency);
      else {
        const limitPace = paceOf(limit, this.#share);
        if (limitPace < pace) this.#bearsLateMs = bearsLateMs(limit, limitPace);
        pace = Math.min(pace, limitPace);
        limitRps = Math.min(limitRps, rateOf(limit));
        if (limit.seenAtMs === facts.nowMs) this.#blockIfEmpty(limit, facts);
      }
    }
    this.#requestsPerSecond = Number.isFinite(pace) ? Math.max(pace, LEAST_RPS) : null;
    this.#limitRps = Number.isFinite(limitRps) ? limitRps : null;
    this.#concurrency = Number.isFinite(concurrency) ? Math.max(1, Math.floor(concurrency)) : null;
  }

  /** Nothing left: waits for the reset. A server that says so after every reset is wrong about it. */
  #blockIfEmpty(limit: Known, { nowMs, inFlight }: StatedFacts): void {
    if (limit.remaining === null || limit.resetMs === null) return;
    // In a long window sends are not paced by it, so those on their way count as spent.
    const isLong = limit.resetMs > EVEN_WINDOW_MS / 6;
    const left = limit.remaining - (isLong ? inFlight - 1 : 0);
    if (left > 0 || isOwnEvenUse(limit)) {
      this.#emptyStrikes = 0;
      this.#wasBlocked = false;
      return;
    }
    if (this.#wasBlocked && nowMs > this.#blockedUntilMs && (limit.limit ?? 0) > 2) this.#emptyStrikes += 1;
    this.#wasBlocked = true;
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, nowMs + limit.resetMs);
    if (this.#emptyStrikes >= EMPTY_STRIKES) this.#distrust();
  }

  /**
   * A request was refused for a limit's sake.
   * @param limits what the refusal itself states
   * @returns whether the stated limits explain it (the pace is lowered a little), or else tell an untruth
   */
  refused(limits: readonly StatedLimit[], facts: StatedFacts): boolean {
    if (!this.#isTrusted || this.#known.size === 0) return false;
    const own = limits.filter(tellsRemaining);
    const known = [...this.#known.values()].filter(tellsRemaining);
    const last = own.length > 0 ? own : known;
    const isExplained =
      own.length > 0 ? own.some(isSpent) : known.some((limit) => isNearlySpent(limit, facts.inFlight));
    if (isExplained || last.length === 0) {
      this.#share = Math.max(this.#share * SHARE_AFTER_REFUSAL, LEAST_SHARE);
      return isExplained;
    }
    this.#strikes += 1;
    if (this.#strikes >= STRIKES) this.#distrust();
    return false;
  }

  #distrust(): void {
    this.#isTrusted = false;
    this.#known.clear();
    this.#requestsPerSecond = null;
    this.#limitRps = null;
    this.#concurrency = null;
    this.#blockedUntilMs = 0;
  }
}

function tellsRemaining(limit: StatedLimit): boolean {
  return limit.unit === 'requests' && limit.remaining !== null;
}

function isSpent(limit: StatedLimit): boolean {
  return (limit.remaining ?? 0) < 1;
}

/** What was left at the last answer, less what has been sent since. */
function isNearlySpent(limit: StatedLimit, inFlight: number): boolean {
  return (limit.remaining ?? 0) <= Math.max(inFlight, RESERVE_SHARE * (limit.limit ?? 0));
}

/** The rate a limit comes to over its whole window, requests per second; Infinity when it tells no window. */
function rateOf({ limit, windowMs }: StatedLimit): number {
  return limit === null || windowMs === null ? Number.POSITIVE_INFINITY : (limit * SECOND_MS) / windowMs;
}

/** Paced evenly, we are the ones who have used it, and it comes back as evenly: there is nothing to wait for. */
function isOwnEvenUse({ limit, windowMs, answersInWindow }: Known): boolean {
  return limit !== null && windowMs !== null && windowMs <= EVEN_WINDOW_MS && answersInWindow >= OWN_USE_SHARE * limit;
}

function paceOf(limit: Known, share: number): number {
  const { remaining, windowMs, resetMs } = limit;
  const evenRps = share * rateOf(limit);
  const spanMs = windowMs ?? resetMs;
  if (spanMs === null) return Number.POSITIVE_INFINITY;
  if (windowMs !== null && windowMs <= EVEN_WINDOW_MS && limit.limit !== null) return evenRps;
  if (remaining === null) return evenRps;
  if (spanMs > EVEN_WINDOW_MS && remaining > RESERVE_SHARE * (limit.limit ?? remaining))
    return Number.POSITIVE_INFINITY;
  if (windowMs === null && limit.refill.perSecond === null) return Number.POSITIVE_INFINITY;
  const refillRps = windowMs === null ? share * (limit.refill.perSecond ?? 0) : 0;
  const leftMs = resetMs ?? spanMs;
  return Math.max(refillRps, (share * remaining * SECOND_MS) / Math.max(leftMs, SECOND_MS / 2));
}

/** What pacing below the limit leaves free of one window, less the send that opens it. */
function bearsLateMs({ windowMs }: StatedLimit, paceRps: number): number {
  const freeMs = windowMs === null ? 0 : (1 / FULL_SHARE - 1) * windowMs;
  return Math.max(0, Math.min(freeMs - SECOND_MS / paceRps, MOST_LATE_MS));
}

function differs(before: number | null, after: number | null): boolean {
  if (before === null || after === null) return before !== after;
  return Math.abs(after - before) > 0.01 * before;
}
