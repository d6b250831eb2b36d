/** A refusal that is not yet decided upon: what was measured when it came, and what came since. Rates per second, times in ms. */
export type PendingCut = {
  goodput: number;
  openMs: number;
  inFlight: number;
  isInnocent: boolean;
  atMs: number;
  lastRefusedAtMs: number;
  firstRefusedSentAtMs: number;
  tailAccepted: number;
  tailRefused: number;
  isWindow: boolean;
  isOverload: boolean;
  countTail: (this: PendingCut, sentAtMs: number, isAccepted: boolean) => void;
};

/** Counts the outcome of a request that was sent between the first refused one and the cut. */
export function countTail(this: PendingCut, sentAtMs: number, isAccepted: boolean): void {
  if (sentAtMs < this.firstRefusedSentAtMs || sentAtMs > this.atMs) return;
  if (isAccepted) this.tailAccepted += 1;
  else this.tailRefused += 1;
}
