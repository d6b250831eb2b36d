import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/units.ts';

// Windows people configure; a measured one is taken for the nearest within 15 %.
const USUAL_WINDOWS_MS = [
  ...[10, 15, 20, 30].map((secs) => secs * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((mins) => mins * MINUTE_MS),
  HOUR_MS,
  DAY_MS,
];
// Resets in whole seconds seem to move by less than one while they stand still.
const LEAST_STEP_MS = 950;
// Shorter ones are mostly rounding.
const TELLING_RESET_MS = 3 * SECOND_MS;
const MILLISECONDS_READ_AS_SECONDS = 1000;

/** @returns a measured window, rounded to what somebody may have configured */
export function usualWindowMs(measuredMs: number): number {
  const near = USUAL_WINDOWS_MS.find((usualMs) => Math.abs(measuredMs - usualMs) <= 0.15 * usualMs);
  return near ?? Math.max(1, Math.round(measuredMs / SECOND_MS)) * SECOND_MS;
}

/** What one response says of a window of unknown length; `inFlight` counts it. */
export type WindowReading = { nowMs: number; inFlight: number; remaining: number | null; resetMs: number | null };

/** @returns whether so much came back that it is a new window, not two answers that overtook one another */
export function hasRolledOver(before: number | null, remaining: number | null, inFlight: number): boolean {
  return before !== null && remaining !== null && remaining > before + inFlight;
}

/**
 * Learns the length of a limit's window, and the unit of its reset, from how both change. A fixed window's reset jumps
 * when it rolls over and what remains comes back; that of a sliding one moves on all the time.
 */
export class WindowLearner {
  #windowMs: number | null = null;
  #resetAtMs: number | null = null;
  #longestResetMs = 0;
  #remaining: number | null = null;
  #rolledAtMs: number | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #resetMs: number | null = null;
  #divisor = 1;

  /** null until a reset has been seen to move. */
  get windowMs(): number | null {
    return this.#windowMs;
  }

  /** @returns the time to the reset, its unit corrected */
  read({ nowMs, inFlight, remaining, resetMs: toldMs }: WindowReading): number | null {
    const resetMs = toldMs === null ? null : toldMs / this.#correctedDivisor(nowMs, toldMs);
    const isNewWindow = hasRolledOver(this.#remaining, remaining, inFlight);
    this.#remaining = remaining;
    if (isNewWindow) this.#rolledOver(nowMs);
    if (resetMs !== null) this.#readReset({ nowMs, resetMs, isNewWindow });
    return resetMs;
  }

  #readReset({ nowMs, resetMs, isNewWindow }: { nowMs: number; resetMs: number; isNewWindow: boolean }): void {
    const resetAtMs = nowMs + resetMs;
    this.#longestResetMs = Math.max(this.#longestResetMs, resetMs);
    const stepMs = this.#resetAtMs === null ? 0 : resetAtMs - this.#resetAtMs;
    if (this.#resetAtMs === null || isNewWindow || Math.abs(stepMs) >= LEAST_STEP_MS) this.#resetAtMs = resetAtMs;
    if (stepMs < LEAST_STEP_MS) return;
    this.#learn(!isNewWindow && this.#longestResetMs >= TELLING_RESET_MS ? this.#longestResetMs : stepMs);
  }

  /** Where resets are too coarse to see them move, the time between rollovers is the window. */
  #rolledOver(nowMs: number): void {
    const sinceMs = this.#rolledAtMs === null ? 0 : nowMs - this.#rolledAtMs;
    this.#rolledAtMs = nowMs;
    if (sinceMs >= LEAST_STEP_MS && this.#longestResetMs < TELLING_RESET_MS) this.#learn(sinceMs);
  }

  /** A window in which nothing was sent makes two look like one: the smallest is right, but none is shorter than its rest. */
  #learn(measuredMs: number): void {
    const leastMs = Math.max(measuredMs, this.#longestResetMs - SECOND_MS);
    this.#windowMs = Math.min(this.#windowMs ?? Number.POSITIVE_INFINITY, usualWindowMs(leastMs));
  }

  /** "Seconds" above a day that fall by a thousand a second are milliseconds. */
  #correctedDivisor(nowMs: number, toldMs: number): number {
    const fellMs = (this.#resetMs ?? 0) - toldMs;
    const passedMs = nowMs - this.#readAtMs;
    if (this.#divisor === 1 && toldMs > DAY_MS && passedMs > 0 && fellMs > 0) {
      const speed = fellMs / passedMs;
      if (speed > MILLISECONDS_READ_AS_SECONDS / 2 && speed < MILLISECONDS_READ_AS_SECONDS * 2) {
        this.#divisor = MILLISECONDS_READ_AS_SECONDS;
      }
    }
    if (passedMs > 0) {
      this.#resetMs = toldMs;
      this.#readAtMs = nowMs;
    }
    return this.#divisor;
  }
}
