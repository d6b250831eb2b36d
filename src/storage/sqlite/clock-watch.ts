import type { Clock } from '../../core/clock.ts';

// Less than this is the usual slewing and rounding.
const SMALLEST_STEP_MS = 1_000;

/** Tells when the wall clock was set, by comparing it with the monotonic one. */
export class ClockWatch {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.wallMs() - clock.nowMs();
  }

  /** @returns the time now, epoch ms, and by how much the clock was set since the last call (0 = it was not) */
  look(): { nowMs: number; stepMs: number } {
    const nowMs = this.#clock.wallMs();
    const offsetMs = nowMs - this.#clock.nowMs();
    const stepMs = offsetMs - this.#offsetMs;
    if (Math.abs(stepMs) < SMALLEST_STEP_MS) return { nowMs, stepMs: 0 };
    this.#offsetMs = offsetMs;
    return { nowMs, stepMs: Math.round(stepMs) };
  }
}
