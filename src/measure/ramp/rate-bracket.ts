// Before anything is known: a burst hides a limit until the rate is well above it.
const WIDEST = 3;

/**
 * Between which bounds a rate limit lies, requests/s. A refusal leaves nothing in hand, whatever kind of limiter it is; so
 * what is accepted from then on, divided by the time since, is no more than the limit. A rate that is refused is no less.
 */
export class RateBracket {
  #least: number;
  #most: number;
  #emptyAtMs: number;
  #accepted = 0;

  /** @param refusal the rate at the first refusal, and when it came, ms */
  constructor(refusal: { rate: number; atMs: number }) {
    this.#least = refusal.rate / WIDEST;
    this.#most = refusal.rate;
    this.#emptyAtMs = refusal.atMs;
  }

  get least(): number {
    return this.#least;
  }

  get most(): number {
    return this.#most;
  }

  /** The likeliest value, and the best to try next: either outcome halves what is unknown. */
  get middle(): number {
    return Math.sqrt(this.#least * this.#most);
  }

  get ratio(): number {
    return this.#most / this.#least;
  }

  accepted(): void {
    this.#accepted += 1;
  }

  /** @param refusal the rate that was held when it came; null = none was */
  refused(refusal: { rate: number | null; atMs: number }): void {
    this.#learn(refusal.atMs);
    if (refusal.rate !== null) this.#most = Math.min(this.#most, refusal.rate);
    this.#least = Math.min(this.#least, this.#most);
    this.#emptyAtMs = refusal.atMs;
    this.#accepted = 0;
  }

  /** A rate was held to the end of a trial. */
  held(atMs: number): void {
    this.#learn(atMs);
    this.#most = Math.max(this.#most, this.#least);
  }

  #learn(atMs: number): void {
    const elapsedMs = atMs - this.#emptyAtMs;
    if (elapsedMs < LEAST_MS) return;
    this.#least = Math.max(this.#least, (this.#accepted * 1_000) / elapsedMs);
  }
}

// What comes sooner after a refusal is still of the same moment.
const LEAST_MS = 1_500;
