import { SECOND_MS } from '../../core/units.ts';

const MEASURED_OVER_MS = SECOND_MS / 2;

/**
 * How fast what remains of a limit of unknown window comes back, by the answers counted against it: a token bucket
 * refills while it is used, a window does not until it ends.
 */
export class Refill {
  #atMs = Number.NEGATIVE_INFINITY;
  #remaining = 0;
  #answers = 0;
  #perSecond: number | null = 0;

  /** Requests per second that come back; null = at least as fast as we send, so the limit does not bind. */
  get perSecond(): number | null {
    return this.#perSecond;
  }

  /** One answer, and what it said remains. */
  add(nowMs: number, remaining: number): void {
    this.#answers += 1;
    const passedMs = nowMs - this.#atMs;
    if (passedMs < MEASURED_OVER_MS) return;
    if (passedMs < 4 * MEASURED_OVER_MS) this.#measure(passedMs, this.#remaining - remaining);
    this.#atMs = nowMs;
    this.#remaining = remaining;
    this.#answers = 0;
  }

  #measure(passedMs: number, fell: number): void {
    const cameBack = this.#answers - fell;
    this.#perSecond = fell <= 1 ? null : (Math.max(0, cameBack) * SECOND_MS) / passedMs;
  }
}
