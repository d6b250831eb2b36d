// What is remembered: a refusal counts half after 35 answers.
const KEPT_AN_ANSWER = 0.98;
// Three in about 40 answers: a server that fails 1 request in 100 gets there once in a thousand answers or less, one
// that is asked for a tenth more than it serves, within 30.
const MOST_LONE = 2.5;

/**
 * Tells a server that fails now and then from one that is asked for too much, where both answer 503: by how close
 * together such answers come.
 */
export class Overloads {
  #recent = 0;

  /** Any other answer came. */
  answered(): void {
    this.#recent *= KEPT_AN_ANSWER;
  }

  /** @returns whether this one stands alone: a fault of the server's, that says nothing of the rate */
  refused(): boolean {
    this.#recent += 1;
    return this.#recent < MOST_LONE;
  }
}
