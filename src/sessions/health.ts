/** How long something that failed rests: the first time, doubled with each failure in a row, at most. In ms. */
export type RestPolicy = { firstRestMs: number; longestRestMs: number };

// A trial whose answer never comes (aborted, process paused) is followed by another after so long.
const TRIAL_MS = 30_000;

/**
 * Whether a proxy or a credential may be used. One that failed rests; then a single use tries it, and it is back when
 * that one succeeds. Times are of the monotonic clock.
 */
export class Health {
  readonly #policy: RestPolicy;
  #failures = 0;
  #readyAtMs = 0;
  #isOnTrial = false;

  constructor(policy: RestPolicy) {
    this.#policy = policy;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** From when it may be used. */
  get readyAtMs(): number {
    return this.#readyAtMs;
  }

  canUse(nowMs: number): boolean {
    return this.#failures === 0 || nowMs >= this.#readyAtMs;
  }

  /** It is being used: after a rest nobody else may use it until this use has ended. */
  use(nowMs: number): void {
    if (this.#failures === 0 || nowMs < this.#readyAtMs) return;
    this.#isOnTrial = true;
    this.#readyAtMs = nowMs + TRIAL_MS;
  }

  /** @returns whether it rests from now on; false when it did already: failures of one burst count once */
  fail(nowMs: number): boolean {
    if (!this.canUse(nowMs) && !this.#isOnTrial) return false;
    this.#isOnTrial = false;
    this.#failures += 1;
    const restMs = this.#policy.firstRestMs * 2 ** (this.#failures - 1);
    this.#readyAtMs = nowMs + Math.min(restMs, this.#policy.longestRestMs);
    return true;
  }

  /**
   * It works.
   * @param nowMs when an answer said so: while it rests that is an answer to what was sent before it failed, which says
   *   nothing. Left out = for another reason
   * @returns whether it had failed before
   */
  heal(nowMs?: number): boolean {
    if (this.#failures === 0) return false;
    if (nowMs !== undefined && !this.canUse(nowMs) && !this.#isOnTrial) return false;
    this.#failures = 0;
    this.#readyAtMs = 0;
    this.#isOnTrial = false;
    return true;
  }

  /** @returns what `load` takes; null while it is well */
  save({ nowMs, wallMs }: Moment): SavedHealth | null {
    if (this.#failures === 0) return null;
    return { failures: this.#failures, readyAtWallMs: Math.round(wallMs + this.#readyAtMs - nowMs) };
  }

  load({ failures, readyAtWallMs }: SavedHealth, { nowMs, wallMs }: Moment): void {
    this.#failures = failures;
    // Bounded, as the system's clock may have been set back.
    this.#readyAtMs = nowMs + Math.min(Math.max(0, readyAtWallMs - wallMs), this.#policy.longestRestMs);
  }
}

/** One moment by both clocks. */
export type Moment = { nowMs: number; wallMs: number };

/** `readyAtWallMs` is epoch ms: the monotonic clock begins anew with each process. */
export type SavedHealth = { failures: number; readyAtWallMs: number };
