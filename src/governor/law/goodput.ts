const BUCKET_MS = 50;
const BUCKETS = 21;

/** Counts accepted answers over the last second, so that a rate can be read over any span up to it. */
export class Goodput {
  readonly #counts = new Uint16Array(BUCKETS);
  #bucket = -1;
  #startMs = 0;

  /** Forgets what was counted: a new stretch begins. */
  reset(nowMs: number): void {
    this.#counts.fill(0);
    this.#bucket = Math.floor(nowMs / BUCKET_MS);
    this.#startMs = nowMs;
  }

  add(nowMs: number): void {
    this.#roll(nowMs);
    const slot = this.#bucket % BUCKETS;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  /**
   * @param spanMs 50 to 1000
   * @returns accepted answers per second over the last `spanMs`, or over the stretch so far where that is shorter
   */
  perSecond(nowMs: number, spanMs: number): number {
    this.#roll(nowMs);
    const buckets = Math.round(spanMs / BUCKET_MS);
    let count = 0;
    for (let back = 0; back <= buckets; back++) count += this.#counts[(this.#bucket - back + BUCKETS) % BUCKETS] ?? 0;
    // The oldest bucket counts whole, so the span reaches back to where it began.
    const fromMs = Math.max(this.#startMs, (this.#bucket - buckets) * BUCKET_MS);
    return (count * 1000) / Math.max(nowMs - fromMs, BUCKET_MS);
  }

  #roll(nowMs: number): void {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    if (bucket <= this.#bucket) return;
    const passed = Math.min(bucket - this.#bucket, BUCKETS);
    for (let step = 1; step <= passed; step++) this.#counts[(this.#bucket + step) % BUCKETS] = 0;
    if (bucket - this.#bucket > BUCKETS) this.#counts.fill(0);
    this.#bucket = bucket;
  }
}
