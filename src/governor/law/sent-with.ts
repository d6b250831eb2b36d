const LENGTH = 256;

/** How many requests were in flight when each of the last 256 was sent, itself included. */
export class SentWith {
  readonly #atMs = new Float64Array(LENGTH);
  readonly #inFlight = new Uint16Array(LENGTH);
  #count = 0;

  sent(nowMs: number, inFlight: number): void {
    const slot = this.#count++ % LENGTH;
    this.#atMs[slot] = nowMs;
    this.#inFlight[slot] = inFlight;
  }

  /**
   * @param sentAtMs when it went out; it was granted then, or shortly before
   * @returns null when it was sent too long ago
   */
  at(sentAtMs: number): number | null {
    const oldest = Math.max(0, this.#count - LENGTH);
    for (let index = this.#count - 1; index >= oldest; index--)
      if ((this.#atMs[index % LENGTH] as number) <= sentAtMs) return this.#inFlight[index % LENGTH] as number;
    return null;
  }
}
