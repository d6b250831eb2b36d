// A refusal below the level that failed, with all slots taken, is put down to the slots so often in a row.
const MOST_BLAMES = 3;
// Of a few slots all are often taken by chance.
const LEAST_BLAMED_CAP = 8;
const BELOW_SHARE = 0.97;
const MANY_OVER_USUAL = 1.25;

/** One refusal. Rates per second; `failedRps` is null while no level has failed. */
export type BlameFacts = {
  goodput: number;
  failedRps: number | null;
  inFlight: number;
  cap: number;
  latencyMs: number;
};

/** Whether a server that refuses counts what is in flight: then a slower pace does not help, a slot less does. */
export class SlotBlame {
  #inARow = 0;

  /** A request was refused. @returns whether the slots are to blame */
  refused({ goodput, failedRps, inFlight, cap, latencyMs }: BlameFacts): boolean {
    const isBelow = failedRps !== null && goodput < BELOW_SHARE * failedRps;
    // By Little's law; more come of sends that were late and went together, or of answers that were.
    const usual = (goodput * latencyMs) / 1000;
    const many = Math.max(Math.min(cap, Math.ceil(MANY_OVER_USUAL * usual)), LEAST_BLAMED_CAP);
    const isToBlame = isBelow && inFlight >= many && this.#inARow < MOST_BLAMES;
    this.#inARow = isToBlame ? this.#inARow + 1 : 0;
    return isToBlame;
  }
}
