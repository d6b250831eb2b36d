/**
 * An even sender, in the manner of the generic cell rate algorithm: one send an interval, no bursts. A send that was told
 * to wait and comes late by at most the credit keeps the schedule (timers of a millisecond would otherwise lose a third of
 * 1,000 sends/s); idle time, and time spent waiting for anything else, earns nothing.
 */
export class Pacer {
  #fixedCreditMs: number | null;
  #extraCreditMs = 0;
  #intervalMs: number;
  #readyAtMs = Number.NEGATIVE_INFINITY;
  #readyBeforeMs = Number.NEGATIVE_INFINITY;
  #isAwaited = false;

  /**
   * @param intervalMs least time between two sends; 0 = not paced
   * @param creditMs   lateness that keeps the schedule; null = 20 ms or half an interval
   */
  constructor(intervalMs: number, creditMs: number | null = null) {
    this.#intervalMs = intervalMs;
    this.#fixedCreditMs = creditMs;
  }

  get #creditMs(): number {
    if (this.#fixedCreditMs !== null) return this.#fixedCreditMs;
    const ownMs = Math.min(Math.max(LATE_TIMER_CREDIT_MS, this.#intervalMs / 2), MOST_CREDIT_MS);
    const mostMs = Math.max(LEAST_CREDIT_MS, MOST_MADE_UP * this.#intervalMs);
    return Math.min(Math.max(ownMs, this.#extraCreditMs), mostMs);
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  /** When the next send may go; in the past when it may go now. */
  get readyAtMs(): number {
    return this.#readyAtMs;
  }

  /** @returns 0 when a send may go now, else when to ask again: who then comes a little late has lost nothing */
  askAt(nowMs: number): number {
    if (this.#readyAtMs <= nowMs) return 0;
    this.#isAwaited = true;
    return this.#readyAtMs;
  }

  /** How much lateness the limit that is paced for is known to bear; 0 = nothing is known. */
  bear(latenessMs: number): void {
    this.#extraCreditMs = latenessMs;
  }

  /** Makes up for lateness of so much, whatever the pace. */
  setCredit(creditMs: number): void {
    this.#fixedCreditMs = creditMs;
  }

  /** From now on lateness is not made up for: the server refuses what comes close together. */
  beStrict(): void {
    this.#fixedCreditMs = 0;
  }

  /** Something else holds sends back now: what passes is no lateness. */
  heldByOthers(): void {
    this.#isAwaited = false;
  }

  /** Whether a send now would only just be due: the pace, not a want of work, decides. */
  isBinding(nowMs: number): boolean {
    return nowMs - this.#readyAtMs <= this.#creditMs;
  }

  take(nowMs: number): void {
    this.#readyBeforeMs = this.#readyAtMs;
    const isOnSchedule = this.#isAwaited && nowMs - this.#readyAtMs <= this.#creditMs;
    this.#readyAtMs = (isOnSchedule ? this.#readyAtMs : nowMs) + this.#intervalMs;
    // Whoever is late by several intervals makes up for them one after the other.
    this.#isAwaited = isOnSchedule && this.#readyAtMs <= nowMs;
  }

  /** Undoes the last take: nothing was sent. */
  giveBack(): void {
    this.#readyAtMs = Math.max(this.#readyBeforeMs, this.#readyAtMs - this.#intervalMs);
  }

  /** Changes the pace; the wait under way is measured by the new one. */
  setInterval(intervalMs: number): void {
    this.#readyAtMs += intervalMs - this.#intervalMs;
    this.#readyBeforeMs = Math.min(this.#readyBeforeMs, this.#readyAtMs);
    this.#intervalMs = intervalMs;
  }
}

/**
 * Lateness of a send that is still on schedule: an event loop under load is late by some ms. At 0.97 of a stated limit the
 * sends made up for still fit into a window of one second.
 */
const LATE_TIMER_CREDIT_MS = 20;
const MOST_CREDIT_MS = 100;
// However fast the pace, what is made up for at once stays within a small token bucket.
const MOST_MADE_UP = 12;
const LEAST_CREDIT_MS = 10;
// A configured ceiling is a promise to the send, and each ms of credit lowers the pace that keeps it.
const CEILING_CREDIT_MS = 10;

// At up to 50/s a late timer costs little, so no credit is needed and the ceiling holds to the send.
const CREDIT_FROM_RPS = 50;

/**
 * A pacer for a ceiling somebody configured: in no second does it grant more than `requestsPerSecond` (rounded up), nor
 * two sends less than `minDelayMs` apart.
 * @returns null when neither is set
 */
export function ceilingPacer(ceiling: { requestsPerSecond: number | null; minDelayMs: number }): Pacer | null {
  const { requestsPerSecond, minDelayMs } = ceiling;
  if (requestsPerSecond === null) return minDelayMs > 0 ? new Pacer(minDelayMs, 0) : null;
  const paced = pacedInterval(requestsPerSecond);
  return paced.intervalMs >= minDelayMs ? new Pacer(paced.intervalMs, paced.creditMs) : new Pacer(minDelayMs, 0);
}

/** With a credit of c a second may hold R(1 + c) + 1 sends: the pace is lowered until that is the ceiling. */
function pacedInterval(requestsPerSecond: number): { intervalMs: number; creditMs: number } {
  if (requestsPerSecond <= CREDIT_FROM_RPS) return { intervalMs: 1000 / requestsPerSecond, creditMs: 0 };
  const strictRps = (requestsPerSecond - 1) / (1 + CEILING_CREDIT_MS / 1000);
  return { intervalMs: 1000 / strictRps, creditMs: CEILING_CREDIT_MS };
}
