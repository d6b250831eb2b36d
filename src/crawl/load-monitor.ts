import { performance } from 'node:perf_hooks';
import type { Clock } from '../core/clock.ts';

const INTERVAL_MS = 100;
// Above this share of busy time responses wait for us, so their latency says nothing of the server.
const OVERLOADED_SHARE = 0.95;

/** Knows when our own process was the bottleneck. */
export class LoadMonitor {
  readonly #clock: Clock;
  readonly #busyShare: () => number;
  #cancel: (() => void) | null = null;
  #overloadedAtMs = Number.NEGATIVE_INFINITY;

  /** @param busyShare share of busy time since it was asked last, 0 to 1 */
  constructor(clock: Clock, busyShare: () => number = eventLoopShare()) {
    this.#clock = clock;
    this.#busyShare = busyShare;
  }

  start(): void {
    this.#cancel?.();
    this.#busyShare();
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
      if (this.#busyShare() >= OVERLOADED_SHARE) this.#overloadedAtMs = this.#clock.nowMs();
      this.#arm();
    });
  }
}

function eventLoopShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
