// The governor reads goodput over the last second: whatever lies in it has to be the server's doing.
const SPAN_MS = 1_000;

/** Remembers when our own store kept the crawl waiting: few answers and slow ones then say nothing of the server. */
export class HeldUp {
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs monotonic */
  note(nowMs: number): void {
    this.#lastMs = nowMs;
  }

  /** @returns whether an answer that came then, or what came in the second before it, was held up */
  mattersAt(endedAtMs: number): boolean {
    return this.#lastMs >= endedAtMs - SPAN_MS;
  }
}
