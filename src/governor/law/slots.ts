const GROW_EVERY_MS = 2_000;
const GROWTH = 0.1;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 600_000;
const LOST_SHARE = 0.7;

type LoadFacts = { nowMs: number; latencyMs: number };

/** The in-flight cap of a key, and how it is tried upward where slots, not the pace, hold sends back. */
export class Slots {
  readonly #ceiling: number;
  #cap: number;
  #trialFrom: number | null = null;
  #latencyBeforeMs = 0;
  #grewAtMs = 0;
  #nextGrowthAtMs = 0;
  #retryMs = FIRST_RETRY_MS;
  #refusedCap = Number.POSITIVE_INFINITY;
  #refusedUntilMs = 0;

  constructor(ceiling: number, cap: number) {
    this.#ceiling = ceiling;
    this.#cap = Math.min(cap, ceiling);
  }

  /** Whole requests, at least 1. */
  get cap(): number {
    return Math.max(1, Math.floor(this.#cap));
  }

  get isAtCeiling(): boolean {
    return this.#cap >= this.#ceiling;
  }

  /** A slot more than is proven is in use. */
  get isTrying(): boolean {
    return this.#trialFrom !== null;
  }

  get exact(): number {
    return this.#cap;
  }

  /** Slow start: grows in steps smaller than a slot. */
  grow(by: number): void {
    this.#cap = Math.min(this.#cap + by, this.#ceiling);
  }

  set(cap: number, nowMs: number): void {
    this.#cap = Math.min(Math.max(1, cap), this.#ceiling);
    this.#trialFrom = null;
    this.#nextGrowthAtMs = nowMs + GROW_EVERY_MS;
  }

  /** All slots are taken while the pace would allow another send: tries one more now and then. */
  tryMore(facts: LoadFacts): void {
    if (facts.nowMs < this.#nextGrowthAtMs || this.isAtCeiling) return;
    if (Math.floor(this.#nextCap()) >= this.#refusedCap && facts.nowMs < this.#refusedUntilMs) return;
    if (this.#trialFrom !== null && this.#hasOnlySlowed(facts)) this.#revert(this.#trialFrom, facts.nowMs);
    else this.#startTrial(facts);
  }

  #nextCap(): number {
    return this.#cap + Math.max(1, GROWTH * this.#cap);
  }

  /** Answers take longer than they did, so the same rate needs more slots. */
  stretch(cap: number): void {
    if (cap > this.#cap) this.#cap = Math.min(cap, this.#ceiling);
  }

  /** So many in flight were refused: they are not tried again soon. Of a few, sooner: they may have come at once. */
  refusedAt(inFlight: number, nowMs: number): void {
    this.set(inFlight - 1, nowMs);
    this.#refusedCap = inFlight;
    this.#refusedUntilMs = nowMs + Math.min(GROW_EVERY_MS * this.cap ** 2, FIRST_RETRY_MS);
  }

  /** What was refused was no limit. */
  forgetRefusal(): void {
    this.#refusedCap = Number.POSITIVE_INFINITY;
  }

  #startTrial(facts: LoadFacts): void {
    this.#trialFrom = this.#cap;
    this.#latencyBeforeMs = facts.latencyMs;
    this.#grewAtMs = facts.nowMs;
    this.#nextGrowthAtMs = facts.nowMs + GROW_EVERY_MS;
    this.grow(this.#nextCap() - this.#cap);
  }

  /** By Little's law goodput is cap / latency: if latency grew nearly as much as the cap, nothing was gained. */
  #hasOnlySlowed({ latencyMs }: LoadFacts): boolean {
    const grownBy = this.cap / Math.max(1, Math.floor(this.#trialFrom ?? 1));
    return latencyMs > this.#latencyBeforeMs * (1 + LOST_SHARE * (grownBy - 1));
  }

  #revert(cap: number, nowMs: number): void {
    this.#cap = cap;
    this.#trialFrom = null;
    this.#nextGrowthAtMs = nowMs + this.#retryMs;
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }

  /**
   * A request sent with `inFlight` others (itself included) was refused.
   * @returns whether the last try was at fault: the cap is back where it was, and the rate is innocent
   */
  takeBack(facts: { nowMs: number; sentAtMs: number; inFlight: number }): boolean {
    const from = this.#trialFrom;
    if (from === null || facts.sentAtMs < this.#grewAtMs || facts.inFlight <= Math.floor(from)) return false;
    if (facts.nowMs > this.#grewAtMs + 2 * GROW_EVERY_MS) return false;
    this.#revert(from, facts.nowMs);
    return true;
  }
}
