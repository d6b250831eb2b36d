import { SECOND_MS } from '../core/units.ts';

// As Finagle's RetryBudget: the share is counted over the last 10 s, and 10 retries a second are free on top, so that
// a small crawl never meets its budget. https://twitter.github.io/finagle/guide/Clients.html#retry-budget
const WINDOW_MS = 10 * SECOND_MS;
const FREE_PER_MS = 10 / SECOND_MS;
const FREE_AT_MOST = FREE_PER_MS * WINDOW_MS;

/**
 * How many retries a host may send: a share of its requests, and a few a second whatever it does. It never refuses a
 * retry, it says how long to wait: the crawl must lose nothing, so a dying host's retries are spread out and parked
 * while its first attempts, and other hosts, go on. Constant time and memory.
 */
export class RetryBudget {
  readonly #share: number;
  readonly #longestWaitMs: number;
  /** Retries that may go now; below 0 as many are already waiting for their turn. */
  #tokens = FREE_AT_MOST;
  /** First attempts of about the last WINDOW_MS: those longer ago fade out. */
  #recentRequests = 0;
  #updatedAtMs: number;

  /**
   * @param facts.share retries per request, 0 to 1
   * @param facts.longestWaitMs the host's maxDelayMs: no retry waits longer for its turn
   */
  constructor(facts: { share: number; longestWaitMs: number; nowMs: number }) {
    this.#share = facts.share;
    this.#longestWaitMs = facts.longestWaitMs;
    this.#updatedAtMs = facts.nowMs;
  }

  /** A first attempt was sent: earns its share. */
  onRequest(nowMs: number): void {
    this.#pass(nowMs);
    this.#recentRequests += 1;
    this.#tokens += this.#share;
  }

  /** @returns how long the next retry should wait for its turn, ms, 0 to longestWaitMs */
  waitMs(nowMs: number): number {
    this.#pass(nowMs);
    if (this.#tokens >= 1) return 0;
    return Math.min((1 - this.#tokens) / this.#incomePerMs(), this.#longestWaitMs);
  }

  /** A retry was decided: takes its place. */
  onRetry(nowMs: number): void {
    this.#pass(nowMs);
    // A debt beyond the longest wait would delay later retries for the sake of ones that have long gone.
    this.#tokens = Math.max(this.#tokens - 1, -this.#longestWaitMs * this.#incomePerMs());
  }

  #incomePerMs(): number {
    return FREE_PER_MS + (this.#share * this.#recentRequests) / WINDOW_MS;
  }

  #pass(nowMs: number): void {
    const elapsedMs = nowMs - this.#updatedAtMs;
    if (elapsedMs <= 0) return;
    this.#updatedAtMs = nowMs;
    this.#recentRequests *= Math.exp(-elapsedMs / WINDOW_MS);
    const most = FREE_AT_MOST + this.#share * this.#recentRequests;
    this.#tokens = Math.min(this.#tokens + elapsedMs * FREE_PER_MS, most);
  }
}
