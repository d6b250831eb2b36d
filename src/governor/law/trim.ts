const TRY_EVERY_MS = 2_000;
const STEP_SHARE = 0.1;
// Over a second, the counts of a slow host vary by as much.
const KEPT_GOODPUT_SHARE = 0.85;

/**
 * Takes slots away from a server that more requests in flight only make slower, one try after the other, for as long as
 * it serves as much as before: what waited in its queue is then gone, and its answers come as fast as it can.
 */
export class Trim {
  #isOn = false;
  #capBefore = 0;
  #goodput = 0;
  #triedAtMs = 0;

  get isOn(): boolean {
    return this.#isOn;
  }

  start(nowMs: number, cap: number): void {
    this.#isOn = true;
    this.#capBefore = cap;
    this.#goodput = 0;
    this.#triedAtMs = nowMs;
  }

  /**
   * @param facts.goodput accepted in the last second
   * @returns the cap to go on with; null = leave it
   */
  step({ nowMs, goodput, cap }: { nowMs: number; goodput: number; cap: number }): number | null {
    if (!this.#isOn || nowMs - this.#triedAtMs < TRY_EVERY_MS) return null;
    this.#triedAtMs = nowMs;
    if (goodput < KEPT_GOODPUT_SHARE * this.#goodput) return this.#end(this.#capBefore);
    this.#goodput = Math.max(this.#goodput, goodput);
    if (cap <= 1) return this.#end(cap);
    this.#capBefore = cap;
    return cap - Math.max(1, Math.floor(STEP_SHARE * cap));
  }

  #end(cap: number): number {
    this.#isOn = false;
    return cap;
  }
}
