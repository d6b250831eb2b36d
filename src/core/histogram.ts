/** A histogram as JSON: `counts` is a flat list of bucket, count, bucket, count, ... in bucket order. */
export type HistogramState = { bits: number; sum: number; min: number; max: number; counts: number[] };

// 2^41 µs is 25 days; longer values are counted as that.
const HIGHEST_EXPONENT = 40;
const HIGHEST_TICKS = 2 ** (HIGHEST_EXPONENT + 1) - 1;
const TICKS_PER_MS = 1_000;
const DEFAULT_BITS = 6;

/**
 * A log-linear histogram of times in ms (0 to 25 days, resolution 1 µs), in the manner of HdrHistogram: each
 * doubling is split into `2^bits` buckets, so that a percentile is off by at most `2^-(bits+1)` of its value
 * (0.8 % at 6 bits). Memory is bounded by 9 KiB at 6 bits and only taken for the doublings that occur.
 */
export class Histogram {
  readonly #bits: number;
  readonly #blocks: (Uint32Array | undefined)[] = [];
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  /** @param bits 1 to 10: resolution, see above */
  constructor(bits: number = DEFAULT_BITS) {
    this.#bits = bits;
  }

  get count(): number {
    return this.#count;
  }

  /** Sum of all values, ms: exact. */
  get sum(): number {
    return this.#sum;
  }

  /** Least value, ms: exact; null when empty. */
  get min(): number | null {
    return this.#count > 0 ? this.#min : null;
  }

  /** Greatest value, ms: exact; null when empty. */
  get max(): number | null {
    return this.#count > 0 ? this.#max : null;
  }

  /** ms; null when empty. */
  get mean(): number | null {
    return this.#count > 0 ? this.#sum / this.#count : null;
  }

  /** @param valueMs counted as 0 when negative or not a number */
  record(valueMs: number): void {
    // biome-ignore lint/complexity/useMathMinMax: Math.max would let NaN through
    const value = valueMs >= 0 ? valueMs : 0;
    this.#add(this.#bucketOf(value), 1);
    this.#sum += value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /**
   * @param share 0 to 1: 0.5 is the median
   * @returns ms, the middle of the bucket that holds it (never outside of min and max); null when empty
   */
  percentile(share: number): number | null {
    if (this.#count === 0) return null;
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (const [bucket, count] of this.buckets()) {
      seen += count;
      if (seen >= rank) return Math.min(Math.max(this.#middleMs(bucket), this.#min), this.#max);
    }
    return this.#max;
  }

  /** @returns how many values are at most `boundMs`, as exact as the buckets are */
  countUpTo(boundMs: number): number {
    const last = this.#bucketOf(boundMs);
    let count = 0;
    for (const [bucket, held] of this.buckets()) if (bucket <= last) count += held;
    return count;
  }

  /** Adds another one's values. @throws RangeError when its resolution differs */
  merge(other: Histogram): void {
    if (other.#bits !== this.#bits) throw new RangeError('Only histograms of one resolution can be merged');
    for (const [bucket, count] of other.buckets()) this.#add(bucket, count);
    this.#sum += other.#sum;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
  }

  /** Buckets that hold something, lowest first, each with its count. */
  *buckets(): Generator<[bucket: number, count: number]> {
    const size = 1 << this.#bits;
    for (let block = 0; block < this.#blocks.length; block++) {
      const counts = this.#blocks[block];
      if (counts === undefined) continue;
      for (let index = 0; index < size; index++) {
        const count = counts[index] as number;
        if (count > 0) yield [block * size + index, count];
      }
    }
  }

  toState(): HistogramState {
    const counts: number[] = [];
    for (const [bucket, count] of this.buckets()) counts.push(bucket, count);
    return { bits: this.#bits, sum: this.#sum, min: this.min ?? 0, max: this.#max, counts };
  }

  static fromState(state: HistogramState): Histogram {
    const histogram = new Histogram(state.bits);
    for (let at = 0; at + 1 < state.counts.length; at += 2)
      histogram.#add(state.counts[at] as number, state.counts[at + 1] as number);
    if (histogram.#count === 0) return histogram;
    histogram.#sum = state.sum;
    histogram.#min = state.min;
    histogram.#max = state.max;
    return histogram;
  }

  #add(bucket: number, count: number): void {
    const block = bucket >> this.#bits;
    let counts = this.#blocks[block];
    if (counts === undefined) {
      counts = new Uint32Array(1 << this.#bits);
      this.#blocks[block] = counts;
    }
    const index = bucket & ((1 << this.#bits) - 1);
    counts[index] = (counts[index] as number) + count;
    this.#count += count;
  }

  // Block 0 holds 0 .. 2^bits - 1 ticks one by one; block n holds the nth doubling after that in 2^bits steps.
  #bucketOf(valueMs: number): number {
    const ticks = Math.min(Math.round(valueMs * TICKS_PER_MS), HIGHEST_TICKS);
    const size = 1 << this.#bits;
    if (ticks < size) return ticks;
    // clz32 sees 32 bits only.
    const exponent = ticks < 2 ** 31 ? 31 - Math.clz32(ticks) : 47 - Math.clz32(ticks / 65_536);
    const shift = exponent - this.#bits;
    return (shift + 1) * size + Math.floor(ticks / 2 ** shift) - size;
  }

  #middleMs(bucket: number): number {
    const size = 1 << this.#bits;
    if (bucket < size) return bucket / TICKS_PER_MS;
    const shift = Math.floor(bucket / size) - 1;
    return ((size + (bucket % size) + 0.5) * 2 ** shift - 0.5) / TICKS_PER_MS;
  }
}
