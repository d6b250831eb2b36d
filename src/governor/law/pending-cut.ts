/** What was known when the refusal came. Rates per second, times in ms. */
type CutFacts = {
  readonly goodput: number;
  readonly openMs: number;
  readonly inFlight: number;
  /** Whether the rate is not to blame. */
  readonly isInnocent: boolean;
  /** Whether it may have been a fault of the server's. */
  readonly isOverload: boolean;
  readonly nowMs: number;
  /** When the refused request was sent. */
  readonly sentAtMs: number;
};

/** A refusal that is not yet decided upon: what was measured when it came, and what came since. */
export class PendingCut {
  readonly facts: CutFacts;
  lastRefusedAtMs: number;
  isWindow = false;
  tailAccepted = 0;
  tailRefused = 0;

  constructor(facts: CutFacts) {
    this.facts = facts;
    this.lastRefusedAtMs = facts.nowMs;
  }

  /** Counts the outcome of a request that was sent between the refused one and the refusal. */
  countTail(sentAtMs: number, isAccepted: boolean): void {
    if (sentAtMs < this.facts.sentAtMs || sentAtMs > this.facts.nowMs) return;
    if (isAccepted) this.tailAccepted += 1;
    else this.tailRefused += 1;
  }
}
