/**
 * The rate at which a counter grows, smoothed so that half of its weight lies on the last `halfLifeMs`; from the
 * first sample on it is the mean since the start, not a value that climbs from 0.
 */
export class RateEstimate {
  readonly #halfLifeMs: number;
  #last: { atMs: number; count: number } | null = null;
  #weightMs = 0;
  #weighted = 0;

  constructor(halfLifeMs: number) {
    this.#halfLifeMs = halfLifeMs;
  }

  /** @param count the counter's value now; one that fell (a run started anew) begins afresh */
  update(atMs: number, count: number): void {
    const last = this.#last;
    this.#last = { atMs, count };
    if (last === null || count < last.count) {
      this.#weightMs = 0;
      this.#weighted = 0;
      return;
    }
    const elapsedMs = Math.max(0, atMs - last.atMs);
    const kept = 2 ** (-elapsedMs / this.#halfLifeMs);
    this.#weightMs = this.#weightMs * kept + elapsedMs;
    this.#weighted = this.#weighted * kept + (count - last.count);
  }

  /** Per second; null until time has passed. */
  get perSecond(): number | null {
    return this.#weightMs > 0 ? (this.#weighted * 1_000) / this.#weightMs : null;
  }
}

// Short enough to see a change, long enough to read.
const SHOWN_HALF_LIFE_MS = 5_000;
// A host parked for a few seconds, or one slow page, shall not turn minutes into hours.
const ETA_HALF_LIFE_MS = 60_000;
const GROWTH_HALF_LIFE_MS = 10_000;

/** Rate and remaining time of a crawl whose total may still grow. */
export class EtaEstimate {
  readonly #shown = new RateEstimate(SHOWN_HALF_LIFE_MS);
  readonly #done = new RateEstimate(ETA_HALF_LIFE_MS);
  readonly #total = new RateEstimate(GROWTH_HALF_LIFE_MS);
  #pending = 0;

  update(atMs: number, { done, total }: { done: number; total: number }): void {
    this.#shown.update(atMs, done);
    this.#done.update(atMs, done);
    this.#total.update(atMs, total);
    this.#pending = Math.max(0, total - done);
  }

  /** Requests done per second, lately; null until known. */
  get requestsPerSecond(): number | null {
    return this.#shown.perSecond;
  }

  /** null while nothing gets done, or while the work grows faster than it is done. */
  get remainingSecs(): number | null {
    const net = (this.#done.perSecond ?? 0) - (this.#total.perSecond ?? 0);
    if (this.#pending === 0) return 0;
    return net > 0 ? this.#pending / net : null;
  }
}
