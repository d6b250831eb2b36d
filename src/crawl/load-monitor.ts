import { performance } from 'node:perf_hooks';
import type { Clock } from '../core/clock.ts';

const INTERVAL_MS = 100;
// Above this share of busy time responses wait for us, so their latency says nothing of the server.
const OVERLOADED_SHARE = 0.95;

/** Knows when our own process was the bottleneck. */
export class LoadMonitor {
  readonly #clock: Clock;
  #cancel: (() => void) | null = null;
  #last = performance.eventLoopUtilization();
  #overloadedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    this.#last = performance.eventLoopUtilization();
    this.#arm();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** @param sinceMs monotonic time */
  wasOverloadedSince(sinceMs: number): boolean {
    return this.#overloadedAtMs >= sinceMs;
  }

  #arm(): void {
    this.#cancel = this.#clock.schedule(INTERVAL_MS, () => {
      const now = performance.eventLoopUtilization();
      const share = performance.eventLoopUtilization(now, this.#last).utilization;
      this.#last = now;
      if (share >= OVERLOADED_SHARE) this.#overloadedAtMs = this.#clock.nowMs();
      this.#arm();
    });
  }
}
