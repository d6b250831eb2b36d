import type { NetworkFailure } from '../core/sample.ts';

// A flaky network loses one or two in a row; five without an answer between them are an outage.
const OPENS_AFTER_FAILURES = 5;
const FIRST_WAIT_MS = 1_000;
const WAIT_GROWTH = 2;
const LONGEST_WAIT_MS = 60_000;
// A dead name or port is told apart from a restart by how long it stays: then failures may be final.
const DEAD_AFTER_MS = 20_000;
// While a never-seen origin refuses, probes come often enough that it is known as dead within the minute.
const LONGEST_WAIT_BEFORE_DEAD_MS = 4_000;

const WORDS: Record<NetworkFailure, string> = {
  dns: 'its name does not resolve',
  refused: 'it refuses connections',
  timeout: 'it does not answer in time',
  reset: 'it drops connections',
  tls: 'TLS fails',
  protocol: 'it breaks the HTTP protocol',
  proxy: 'the proxy fails',
  aborted: 'requests were aborted',
};

/** @returns the failure in plain words, to follow "because". */
export function describeFailure(failure: NetworkFailure): string {
  return WORDS[failure];
}

/** What a result changed. */
export type CircuitChange = 'opened' | 'closed' | 'dead' | null;

/**
 * Keeps requests from an origin that does not answer: opens after a few failures in a row, then lets one probe through
 * at a time. An origin that never did anything but refuse (or not resolve) for a while is dead: the circuit closes again
 * and lets its requests fail.
 */
export class Circuit {
  #failuresInRow = 0;
  #firstFailureAtMs = 0;
  #hasAnswered = false;
  #isOpen = false;
  #openUntilMs = 0;
  #waitMs = FIRST_WAIT_MS;
  #probeSentAtMs = Number.NEGATIVE_INFINITY;
  #probeInFlight = false;
  #isDead = false;
  #lastFailure: NetworkFailure = 'timeout';

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get openUntilMs(): number {
    return this.#openUntilMs;
  }

  get lastFailure(): NetworkFailure {
    return this.#lastFailure;
  }

  get failuresInRow(): number {
    return this.#failuresInRow;
  }

  /** @returns 0 when a request may go, else when to ask again (Infinity: when the probe is back). */
  readyAtMs(nowMs: number, hungAfterMs: number): number {
    if (!this.#isOpen) return 0;
    if (nowMs < this.#openUntilMs) return this.#openUntilMs;
    if (!this.#probeInFlight) return 0;
    const hungAtMs = this.#probeSentAtMs + hungAfterMs;
    return nowMs >= hungAtMs ? 0 : hungAtMs;
  }

  /** A request goes while the circuit is open: it is the probe. */
  sent(nowMs: number): void {
    if (!this.#isOpen) return;
    this.#probeInFlight = true;
    this.#probeSentAtMs = nowMs;
  }

  /** The grant was not used. */
  cancelled(): void {
    this.#probeInFlight = false;
  }

  answered(): CircuitChange {
    this.#failuresInRow = 0;
    this.#hasAnswered = true;
    this.#isDead = false;
    this.#waitMs = FIRST_WAIT_MS;
    if (!this.#isOpen) return null;
    this.#isOpen = false;
    this.#probeInFlight = false;
    return 'closed';
  }

  failed(failure: NetworkFailure, facts: { sentAtMs: number; nowMs: number }): CircuitChange {
    // A fault of the proxy, or our own stopping, says nothing of the origin.
    if (failure === 'proxy' || failure === 'aborted') return this.#probeLost(facts);
    if (this.#failuresInRow === 0) this.#firstFailureAtMs = facts.nowMs;
    this.#failuresInRow += 1;
    this.#lastFailure = failure;
    if (this.#isDead) return null;
    if (this.#isOpen) return this.#failedWhileOpen(facts);
    if (this.#failuresInRow < OPENS_AFTER_FAILURES) return null;
    this.#isOpen = true;
    this.#openUntilMs = facts.nowMs + this.#waitMs;
    return 'opened';
  }

  #failedWhileOpen(facts: { sentAtMs: number; nowMs: number }): CircuitChange {
    // Results of requests that were already on their way when it opened are no new evidence.
    if (!this.#probeInFlight || facts.sentAtMs < this.#openUntilMs) return null;
    this.#probeInFlight = false;
    if (this.#looksDead(facts.nowMs)) {
      this.#isDead = true;
      this.#isOpen = false;
      return 'dead';
    }
    this.#waitMs = Math.min(this.#waitMs * WAIT_GROWTH, this.#longestWaitMs());
    this.#openUntilMs = facts.nowMs + this.#waitMs;
    return 'opened';
  }

  #probeLost(facts: { sentAtMs: number }): null {
    if (this.#isOpen && facts.sentAtMs >= this.#openUntilMs) this.#probeInFlight = false;
    return null;
  }

  #looksDead(nowMs: number): boolean {
    return this.#refusesFromTheStart() && nowMs - this.#firstFailureAtMs >= DEAD_AFTER_MS;
  }

  #longestWaitMs(): number {
    return this.#refusesFromTheStart() ? LONGEST_WAIT_BEFORE_DEAD_MS : LONGEST_WAIT_MS;
  }

  #refusesFromTheStart(): boolean {
    return !this.#hasAnswered && (this.#lastFailure === 'dns' || this.#lastFailure === 'refused');
  }
}
