/** A refusal that is not yet decided upon: what was measured when it came, and what came since. Rates per second, times in ms. */
export class PendingCut {
  readonly goodput: number;
  readonly openMs: number;
  readonly inFlight: number;
  /** Whether the rate is not to blame. */
  readonly isInnocent: boolean;
  /** Whether it may have been a fault of the server's. */
  readonly isOverload: boolean;
  readonly atMs: number;
  lastRefusedAtMs: number;
  isWindow = false;
  tailAccepted = 0;
  tailRefused = 0;
  readonly #firstRefusedSentAtMs: number;

  constructor(facts: {
    goodput: number;
    openMs: number;
    inFlight: number;
    isInnocent: boolean;
    isOverload: boolean;
    nowMs: number;
    sentAtMs: number;
  }) {
    this.goodput = facts.goodput;
    this.openMs = facts.openMs;
    this.inFlight = facts.inFlight;
    this.isInnocent = facts.isInnocent;
    this.isOverload = facts.isOverload;
    this.atMs = facts.nowMs;
    this.lastRefusedAtMs = facts.nowMs;
    this.#firstRefusedSentAtMs = facts.sentAtMs;
  }

  /** Counts the outcome of a request that was sent between the first refused one and the cut. */
  countTail(sentAtMs: number, isAccepted: boolean): void {
    if (sentAtMs < this.#firstRefusedSentAtMs || sentAtMs > this.atMs) return;
    if (isAccepted) this.tailAccepted += 1;
    else this.tailRefused += 1;
  }
}
