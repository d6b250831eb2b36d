import type { Clock } from '../../core/clock.ts';
import { SECOND_MS } from '../../core/units.ts';

export type Token = {
  value: string;
  /** Monotonic ms from which on it is renewed before use; Infinity when the server does not say how long it is good. */
  renewAtMs: number;
};

/** Gets a token; throws when it cannot. */
export type FetchToken = () => Promise<Token>;

/**
 * Holds one token for all requests: one fetch for all that wait, renewed before it expires, and once when it is
 * refused, however many requests were refused with it.
 */
export class TokenSource {
  readonly #fetchToken: FetchToken;
  readonly #clock: Clock;
  #current: Token | null = null;
  #generation = 0;
  #pending: Promise<Token> | null = null;

  constructor(options: { fetchToken: FetchToken; clock: Clock }) {
    this.#fetchToken = options.fetchToken;
    this.#clock = options.clock;
  }

  /** @returns a token that is good now, and its number */
  async get(): Promise<{ token: string; generation: number }> {
    const token = this.#current !== null && !this.#isDue(this.#current) ? this.#current : await this.#renew();
    return { token: token.value, generation: this.#generation };
  }

  /**
   * A token was refused.
   * @returns whether there is a newer one: fetched now, or already by another request
   */
  async refused(generation: number): Promise<boolean> {
    if (generation === this.#generation) await this.#renew();
    return true;
  }

  #isDue(token: Token): boolean {
    return this.#clock.nowMs() >= token.renewAtMs;
  }

  // Not tied to one caller's signal: the others wait for the same fetch.
  #renew(): Promise<Token> {
    this.#pending ??= this.#fetchToken()
      .then((token) => {
        this.#current = token;
        this.#generation++;
        return token;
      })
      .finally(() => {
        this.#pending = null;
      });
    return this.#pending;
  }
}

/**
 * When to renew a token: so long before it expires, but not before half its life.
 * @param expiresInSecs as the server says; null = it does not
 */
export function renewalMs(nowMs: number, expiresInSecs: number | null, renewBeforeSecs: number): number {
  if (expiresInSecs === null) return Number.POSITIVE_INFINITY;
  return nowMs + Math.max(expiresInSecs - renewBeforeSecs, expiresInSecs / 2) * SECOND_MS;
}
