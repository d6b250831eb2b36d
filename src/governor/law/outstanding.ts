const BUCKET_MS = 1_000;
const BUCKETS = 32;

/**
 * How long the requests in flight have been out, to the second: so that answers that never come do not take a key's
 * slots away for as long as their timeouts last.
 */
export class Outstanding {
  readonly #counts = new Uint16Array(BUCKETS);
  #bucket = 0;
  /** Sent before the oldest bucket. */
  #older = 0;

  sent(nowMs: number): void {
    this.#roll(nowMs);
    const slot = this.#bucket % BUCKETS;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  /** @param sentAtMs when it went out; it was granted then, or shortly before */
  ended(sentAtMs: number): void {
    const sentBucket = Math.min(Math.floor(sentAtMs / BUCKET_MS), this.#bucket);
    for (let bucket = sentBucket; bucket > this.#bucket - BUCKETS && bucket >= 0; bucket--) {
      const slot = bucket % BUCKETS;
      const count = this.#counts[slot] ?? 0;
      if (count === 0) continue;
      this.#counts[slot] = count - 1;
      return;
    }
    this.#older = Math.max(0, this.#older - 1);
  }

  /** @returns how many were sent at least `ageMs` ago (to the second) and have no answer yet */
  olderThan(ageMs: number, nowMs: number): number {
    this.#roll(nowMs);
    let count = this.#older;
    const newest = Math.floor((nowMs - ageMs) / BUCKET_MS) - 1;
    for (let bucket = newest; bucket > this.#bucket - BUCKETS && bucket >= 0; bucket--) {
      count += this.#counts[bucket % BUCKETS] ?? 0;
    }
    return count;
  }

  #roll(nowMs: number): void {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    while (this.#bucket < bucket) {
      this.#bucket += 1;
      const slot = this.#bucket % BUCKETS;
      this.#older += this.#counts[slot] ?? 0;
      this.#counts[slot] = 0;
      if (bucket - this.#bucket > BUCKETS) this.#bucket = bucket - BUCKETS;
    }
  }
}
