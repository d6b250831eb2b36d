const LONGER = 1.25;
// A hiccup, on the way or on our side, is over in a few answers.
const AFTER_MS = 1_000;
const SPARE_SLOTS = 1.25;

/**
 * How many may be in flight at a pace that bounds the load: as many as when the pace was found, and more where latency
 * has risen for good since.
 */
export class Stretch {
  #cap = 1;
  #latencyMs = Number.POSITIVE_INFINITY;
  #longerSinceMs: number | null = null;

  /** A pace has been found. */
  start({ cap, latencyMs }: { cap: number; latencyMs: number }): void {
    this.#cap = cap;
    this.#latencyMs = latencyMs;
    this.#longerSinceMs = null;
  }

  /** @param latencyMs the mean, with the answer that just came */
  answered(latencyMs: number): void {
    if (latencyMs < LONGER * this.#latencyMs) this.#longerSinceMs = null;
  }

  /** @returns the least cap that keeps the pace now; 0 = nothing has changed */
  capFor({ nowMs, latencyMs, intervalMs }: { nowMs: number; latencyMs: number; intervalMs: number }): number {
    const longer = latencyMs / this.#latencyMs;
    if (longer < LONGER) return 0;
    this.#longerSinceMs ??= nowMs;
    if (nowMs - this.#longerSinceMs < AFTER_MS) return 0;
    const needed = Math.ceil((SPARE_SLOTS * latencyMs) / intervalMs);
    return Math.min(needed, Math.ceil(this.#cap * longer));
  }
}
