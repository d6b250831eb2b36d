import { ceilingPacer, type Pacer } from './pacer.ts';

/** Ceilings over all keys of the process; null = none. */
export type GlobalLimits = { maxConcurrency: number | null; maxRequestsPerMinute: number | null };

/** Counts and paces what all keys send together. */
export class GlobalCeiling {
  readonly #maxConcurrency: number;
  readonly #pacer: Pacer | null;
  #inFlight = 0;

  constructor(limits: GlobalLimits) {
    const { maxConcurrency, maxRequestsPerMinute } = limits;
    this.#maxConcurrency = maxConcurrency ?? Number.POSITIVE_INFINITY;
    const requestsPerSecond = maxRequestsPerMinute === null ? null : maxRequestsPerMinute / 60;
    this.#pacer = ceilingPacer({ requestsPerSecond, minDelayMs: 0 });
  }

  /** @returns 0 when a send may go, else when to ask again (Infinity: after a finished request) */
  readyAtMs(nowMs: number): number {
    if (this.#inFlight >= this.#maxConcurrency) return Number.POSITIVE_INFINITY;
    return this.#pacer === null ? 0 : this.#pacer.askAt(nowMs);
  }

  take(nowMs: number): void {
    this.#inFlight += 1;
    this.#pacer?.take(nowMs);
  }

  giveBack(): void {
    this.#inFlight -= 1;
    this.#pacer?.giveBack();
  }

  release(): void {
    this.#inFlight -= 1;
  }
}
