/** A count that fades with every other answer, and from where on it is no chance any more. */
type Fading = { kept: number; most: number };

// Two within 8 answers: a server that fails 1 request in 100 does that for 1 failure in 12, one that is asked for
// twice what it serves at once.
const CLOSE: Fading = { kept: 0.92, most: 1.5 };
// After some 150 answers without any.
const FORGOTTEN = 0.1;
// Three or four within some 40 answers: what a server does that is asked for a tenth more than it serves.
const FREQUENT: Fading = { kept: 0.98, most: 2.5 };

/**
 * Tells a server that fails now and then from one that is asked for too much, where both answer 503: by how close
 * together such answers come, and by how near the known limit they are.
 */
export class Overloads {
  #close = 0;
  #frequent = 0;
  #isConfirmed = false;

  /** Any other answer came. */
  answered(): void {
    this.#close *= CLOSE.kept;
    this.#frequent *= FREQUENT.kept;
    if (this.#frequent < FORGOTTEN) this.#isConfirmed = false;
  }

  /**
   * @param isNearLimit a refusal is no surprise at this rate: then one is enough, if there have been many lately (what
   *   a fault made us take for the limit would else be found again and again, lower each time)
   * @returns whether this one stands alone: a fault of the server's, that says nothing of the rate
   */
  refused(isNearLimit: boolean): boolean {
    this.#close += 1;
    this.#frequent += 1;
    if (this.#frequent >= FREQUENT.most) this.#isConfirmed = true;
    if (isNearLimit && this.#isConfirmed) return false;
    return this.#close < CLOSE.most && this.#frequent < FREQUENT.most;
  }
}
