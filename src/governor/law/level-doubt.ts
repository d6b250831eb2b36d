// So many faults that stood alone, each a while after the one before: a rate just above the limit draws several at once.
const ENOUGH_FAULTS = 3;
const COUNT_EVERY_MS = 1_000;
const FALL = 0.85;
const MOST_FALLS = 3;

/**
 * Whether a level that failed was a limit. Where only 503s tell of it, it may have been faults that came close together:
 * then others follow, at any rate.
 */
export class LevelDoubt {
  #isDoubtful = false;
  #faults = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  #falls = 0;

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
    return this.#falls >= MOST_FALLS;
  }

  /** A fault stood alone well below the level. @returns whether there have been enough of them */
  faultBelow(nowMs: number): boolean {
    if (!this.#isDoubtful || nowMs - this.#countedAtMs < COUNT_EVERY_MS) return false;
    this.#countedAtMs = nowMs;
    this.#faults += 1;
    return this.#faults >= ENOUGH_FAULTS;
  }

  /** The level is forgotten, and the doubt with it. */
  forget(): void {
    this.#isDoubtful = false;
    this.#faults = 0;
    this.#falls = 0;
  }
}
