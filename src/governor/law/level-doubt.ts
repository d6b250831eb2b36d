// So many faults that stood alone, each a while after the one before: a rate just above the limit draws several at once.
const ENOUGH_FAULTS = 3;
const COUNT_EVERY_MS = 1_000;
// Of a level that comes back after it was forgotten, so many times more: it is likely one after all.
const MORE_EACH_TIME = 4;
const MOST_FAULTS = 48;
const SAME_LEVEL = 0.25;
const FALL = 0.85;
const MOST_FALLS = 3;
// A rate so far above the level is served, so the level is none.
const REFUTED_SHARE = 1.4;

export const WHY_FORGOTTEN = {
  faults: 'it fails now and then at any rate: the limit taken from that is forgotten',
  served: 'it serves far more than what it seemed to refuse: that limit is forgotten',
};

/**
 * Whether a level that failed was a limit. Where only 503s tell of it, it may have been faults that came close together:
 * then others follow, at any rate.
 */
export class LevelDoubt {
  #isDoubtful = false;
  #faults = 0;
  #enough = ENOUGH_FAULTS;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  #falls = 0;
  #failedRps = 0;
  #forgottenRps: number | null = null;
  #hasForgotten = false;

  /**
   * Another level has failed.
   * @param level.formerRps what failed before; Infinity = nothing
   * @returns whether it has fallen again and again, as a limit does not
   */
  failedAt(level: { failedRps: number; formerRps: number; isOverload: boolean }): boolean {
    const { failedRps, formerRps, isOverload } = level;
    const hasFallen = isOverload && Number.isFinite(formerRps) && failedRps < FALL * formerRps;
    this.#falls = hasFallen ? this.#falls + 1 : 0;
    this.#isDoubtful = isOverload;
    if (!isOverload) this.#faults = 0;
    this.#compareWithForgotten(failedRps);
    this.#failedRps = failedRps;
    return this.#falls >= MOST_FALLS;
  }

  #compareWithForgotten(failedRps: number): void {
    if (this.#forgottenRps === null) return;
    if (Math.abs(failedRps - this.#forgottenRps) <= SAME_LEVEL * this.#forgottenRps) {
      this.#enough = Math.min(MORE_EACH_TIME * this.#enough, MOST_FAULTS);
      this.#faults = 0;
      this.#forgottenRps = null;
    } else if (failedRps > this.#forgottenRps) this.#enough = ENOUGH_FAULTS;
  }

  /** A fault stood alone well below the level. @returns whether there have been enough of them */
  faultBelow(nowMs: number): boolean {
    if (!this.#isDoubtful || nowMs - this.#countedAtMs < COUNT_EVERY_MS) return false;
    this.#countedAtMs = nowMs;
    this.#faults += 1;
    return this.#faults >= this.#enough;
  }

  /** @returns whether a level that fails at `failedRps` is refuted by a rate that is served */
  isRefutedBy(requestsPerSecond: number, failedRps: number): boolean {
    return this.#isDoubtful && requestsPerSecond > REFUTED_SHARE * failedRps;
  }

  /**
   * The level is forgotten, and the doubt with it.
   * @returns whether to look upward gently: for its faults one has been forgotten before
   */
  forget(why: keyof typeof WHY_FORGOTTEN): boolean {
    this.#isDoubtful = false;
    this.#faults = 0;
    this.#falls = 0;
    this.#forgottenRps = this.#failedRps;
    const isAgain = this.#hasForgotten && why === 'faults';
    this.#hasForgotten ||= why === 'faults';
    return isAgain;
  }
}
