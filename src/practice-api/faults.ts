import { hashOf } from './seeded.ts';

/** A failure to serve instead of an answer; `retryAfterSecs` null = without the header. */
export type Fault = { retryAfterSecs: number | null };

/**
 * Decides which requests fail: a share of all distinct ones, by the seed alone, each the first time it is made. So
 * two crawls of two servers meet the same failures, and a retry succeeds.
 */
export class FaultPlan {
  readonly #errorRate: number;
  readonly #seed: number;
  readonly #failedOnce = new Set<string>();

  constructor({ errorRate, seed }: { errorRate: number; seed: number }) {
    this.#errorRate = errorRate;
    this.#seed = seed;
  }

  /** @param identity what tells two requests apart: method, URL and body */
  next(identity: string): Fault | null {
    if (hashOf(this.#seed, 'fault', identity) / 2 ** 32 >= this.#errorRate) return null;
    if (this.#failedOnce.has(identity)) return null;
    this.#failedOnce.add(identity);
    return { retryAfterSecs: hashOf(this.#seed, 'retry-after', identity) % 2 === 0 ? 1 : null };
  }
}
