import type { Clock } from '../core/clock.ts';
import type { Exchange } from './exchange.ts';

// Each limit is checked so many times within itself, so that it is overrun by an eighth at most.
const CHECKS_PER_LIMIT = 8;
const SHORTEST_TICK_MS = 5;
const LONGEST_TICK_MS = 250;

/**
 * Watches the time limits of all exchanges with one timer, which costs nothing per request but a place in a list.
 * A limit is noticed at most an eighth of the shortest limit, or 250 ms, late.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #exchanges: Exchange[] = [];
  #tickMs = LONGEST_TICK_MS;
  #cancelTick: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get exchanges(): readonly Exchange[] {
    return this.#exchanges;
  }

  add(exchange: Exchange): void {
    exchange.slot = this.#exchanges.length;
    this.#exchanges.push(exchange);
    const { firstByteMs, idleMs, totalMs } = exchange.request.timeouts;
    const shortestMs = Math.min(firstByteMs, idleMs, totalMs);
    if (shortestMs < this.#tickMs * CHECKS_PER_LIMIT) this.#tickFaster(shortestMs);
    if (this.#cancelTick === null) this.#arm();
  }

  remove(exchange: Exchange): void {
    const { slot } = exchange;
    if (slot < 0) return;
    const last = this.#exchanges.pop()!;
    if (last !== exchange) {
      this.#exchanges[slot] = last;
      last.slot = slot;
    }
    exchange.slot = -1;
  }

  close(): void {
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #tickFaster(limitMs: number): void {
    const tickMs = Math.max(SHORTEST_TICK_MS, Math.floor(limitMs / CHECKS_PER_LIMIT));
    if (tickMs >= this.#tickMs) return;
    this.#tickMs = tickMs;
    this.close();
  }

  #arm(): void {
    this.#cancelTick = this.#clock.schedule(this.#tickMs, () => this.#tick());
  }

  #tick(): void {
    this.#cancelTick = null;
    const nowMs = this.#clock.nowMs();
    // From the end, since one that ends is replaced by the last.
    for (let slot = this.#exchanges.length - 1; slot >= 0; slot -= 1) this.#exchanges[slot]?.checkDeadlines(nowMs);
    if (this.#exchanges.length > 0) this.#arm();
  }
}
