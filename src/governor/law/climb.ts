import { formatRate } from '../words.ts';

/** How a paced key looks upward: search towards the level that failed, hold below it, and rarely probe beyond it. */
export type ClimbPhase = 'search' | 'hold' | 'probe';

const SEARCH_GROWTH_PER_SEC = 0.16;
const UNSURE_GROWTH_PER_SEC = 0.05;
// A refusal by a full window says nothing of the rate: half of what was seen is then sure enough.
const LEAST_SURE_SHARE = 0.6;
const CREEP_GROWTH_PER_SEC = 0.01;
const PROBE_GROWTH_PER_SEC = 0.03;
// On the way back to a level that was once sustained, or where the level says little, there is less to fear.
const SWIFT_GROWTH_PER_SEC = 0.1;
const CREEP_AFTER_MS = 5_000;
const FIRST_QUIET_MS = 30_000;
// A limit that fell that far may be back soon: another client has gone, a penalty has run out. Nor is a level sure that
// was met without a pace.
const FELL_BELOW_SHARE = 0.75;
const QUIET_WHEN_UNSURE_MS = 10_000;
const MOST_RETURNS = 6;
const LONGEST_QUIET_MS = 600_000;
// After a first refusal within a burst of fewer sends, the level seen says little.
const SHORT_QUIET_MS = 3_000;
const SAME_LEVEL = 0.15;
// A pace of which less is used is not what holds the sends back.
const TESTED_SHARE = 0.65;
// Below it a second is too short to tell.
const FEW_RPS = 5;
// Time in which nobody asked to send teaches nothing.
const LONGEST_STEP_MS = 100;

/**
 * A level that was refused; `surelyRps` of it was granted. isFirst = it was met without a pace, so it may be far too high;
 * isTinyBurst = it was seen over so few sends that it says little.
 */
export type FailedLevel = { requestsPerSecond: number; surelyRps: number; isFirst: boolean; isTinyBurst: boolean };

/** The rate of a key whose limit has been met, as a function of time. */
export class Climb {
  readonly #headroom: number;
  #phase: ClimbPhase = 'hold';
  #requestsPerSecond = Number.POSITIVE_INFINITY;
  #failedRps = Number.POSITIVE_INFINITY;
  #formerRps = 0;
  #returns = 0;
  #saysLittle = false;
  #sureRps = Number.POSITIVE_INFINITY;
  #quietMs = FIRST_QUIET_MS;
  #heldSinceMs = 0;
  #steppedAtMs = 0;

  constructor(headroom: number) {
    this.#headroom = headroom;
  }

  get phase(): ClimbPhase {
    return this.#phase;
  }

  /** Infinity until a limit was met. */
  get requestsPerSecond(): number {
    return this.#requestsPerSecond;
  }

  /** The level that failed last; Infinity until one did. */
  get failedRps(): number {
    return this.#failedRps;
  }

  get quietMs(): number {
    return this.#quietMs;
  }

  /** The phase it is in, in plain words. */
  describe(): string {
    const rate = formatRate(this.#requestsPerSecond);
    return this.#phase === 'hold'
      ? `holding ${rate}, below the ${formatRate(this.#failedRps)} that was refused`
      : `nothing was refused for ${this.#quietMs / 1000} s: looking upward from ${rate}, gently`;
  }

  /** Remembers the level that failed. */
  failedAt(level: FailedLevel): void {
    const { requestsPerSecond: failedRps, surelyRps, isFirst } = level;
    this.#quietMs = this.#quietAfter(level);
    this.#saysLittle = level.isTinyBurst;
    this.#sureRps = Math.max(surelyRps, LEAST_SURE_SHARE * failedRps);
    if (!isFirst) this.#formerRps = Math.max(this.#formerRps, failedRps);
    if (failedRps >= FELL_BELOW_SHARE * this.#formerRps) this.#returns = 0;
    this.#failedRps = failedRps;
  }

  /** All levels are by so much higher, or lower: another part of the same limit is ours. */
  rescale(factor: number): void {
    this.#requestsPerSecond *= factor;
    this.#failedRps *= factor;
    this.#formerRps *= factor;
    this.#sureRps *= factor;
  }

  /** Goes at the rate of another that has found the same level. */
  follow(nowMs: number, requestsPerSecond: number): void {
    this.#requestsPerSecond = requestsPerSecond;
    this.#steppedAtMs = nowMs;
  }

  /** There was no such level. */
  forget(): void {
    this.#failedRps = Number.POSITIVE_INFINITY;
    this.#formerRps = 0;
    this.#sureRps = Number.POSITIVE_INFINITY;
    this.#quietMs = FIRST_QUIET_MS;
  }

  #quietAfter({ requestsPerSecond: failedRps, isTinyBurst, isFirst }: FailedLevel): number {
    if (isTinyBurst) return SHORT_QUIET_MS;
    if (isFirst) return QUIET_WHEN_UNSURE_MS;
    const hasFallen = failedRps < FELL_BELOW_SHARE * this.#formerRps;
    if (hasFallen && this.#returns < MOST_RETURNS) return this.#quietAfterFall();
    if (Number.isFinite(this.#failedRps) && Math.abs(failedRps - this.#failedRps) <= SAME_LEVEL * this.#failedRps)
      return Math.min(2 * this.#quietMs, LONGEST_QUIET_MS);
    return hasFallen ? QUIET_WHEN_UNSURE_MS : FIRST_QUIET_MS;
  }

  /** What was once sustained is looked for again soon, and again, but not for ever. */
  #quietAfterFall(): number {
    this.#returns += 1;
    return this.#returns === 1 ? QUIET_WHEN_UNSURE_MS : 2 * QUIET_WHEN_UNSURE_MS;
  }

  start(nowMs: number, requestsPerSecond: number, phase: ClimbPhase): void {
    this.#requestsPerSecond = requestsPerSecond;
    this.#phase = phase;
    this.#heldSinceMs = nowMs;
    this.#steppedAtMs = nowMs;
  }

  /**
   * Moves on to `nowMs`; call only while the pace is what holds sends back.
   * @param servedRps tells what was answered in the last second; asked only where that decides
   * @returns whether the phase changed
   */
  advance(nowMs: number, servedRps: () => number): boolean {
    // A slow pace asks rarely.
    const longestMs = Math.max(LONGEST_STEP_MS, (2 * 1000) / this.#requestsPerSecond);
    const stepMs = Math.min(nowMs - this.#steppedAtMs, longestMs);
    this.#steppedAtMs = nowMs;
    if (this.#phase === 'search') return this.#search(nowMs, stepMs);
    if (this.#phase === 'hold') return this.#hold(nowMs, stepMs);
    // What slots or other limits hold back proves nothing of a higher pace.
    if (this.#requestsPerSecond > FEW_RPS && servedRps() < TESTED_SHARE * this.#requestsPerSecond) return false;
    const isSwift =
      this.#saysLittle ||
      !Number.isFinite(this.#failedRps) ||
      (this.#requestsPerSecond > this.#failedRps && this.#requestsPerSecond < this.#headroom * this.#formerRps);
    this.#grow(isSwift ? SWIFT_GROWTH_PER_SEC : PROBE_GROWTH_PER_SEC, stepMs, Number.POSITIVE_INFINITY);
    return false;
  }

  #search(nowMs: number, stepMs: number): boolean {
    const targetRps = this.#headroom * this.#failedRps;
    const isSure = this.#requestsPerSecond < this.#headroom * this.#sureRps;
    this.#grow(isSure ? SEARCH_GROWTH_PER_SEC : UNSURE_GROWTH_PER_SEC, stepMs, targetRps);
    if (this.#requestsPerSecond < targetRps) return false;
    this.#phase = 'hold';
    this.#heldSinceMs = nowMs;
    return true;
  }

  #hold(nowMs: number, stepMs: number): boolean {
    const heldMs = nowMs - this.#heldSinceMs;
    if (heldMs > CREEP_AFTER_MS) this.#grow(CREEP_GROWTH_PER_SEC, stepMs, ((1 + this.#headroom) / 2) * this.#failedRps);
    if (heldMs <= this.#quietMs) return false;
    this.#phase = 'probe';
    return true;
  }

  /** Grows towards `mostRps`; a rate already above it stays. */
  #grow(perSec: number, stepMs: number, mostRps: number): void {
    if (this.#requestsPerSecond >= mostRps) return;
    this.#requestsPerSecond = Math.min(this.#requestsPerSecond * Math.exp((perSec * stepMs) / 1000), mostRps);
  }
}
