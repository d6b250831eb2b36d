const GAIN = 0.1;
// Early on the plain mean is the better estimate.
const WARM_UP_SAMPLES = 1 / GAIN;

/** The moving mean of a key's latency, and the least that mean has been. */
export class Latency {
  #meanMs = 0;
  #leastMs = Number.POSITIVE_INFINITY;
  #samples = 0;

  /** Mean, ms; 0 before the first sample. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /** The least the mean has been, ms; Infinity before the first sample. */
  get leastMs(): number {
    return this.#leastMs;
  }

  add(latencyMs: number): void {
    this.#samples += 1;
    const gain = this.#samples < WARM_UP_SAMPLES ? 1 / this.#samples : GAIN;
    this.#meanMs += gain * (latencyMs - this.#meanMs);
    if (this.#meanMs < this.#leastMs) this.#leastMs = this.#meanMs;
  }
}
