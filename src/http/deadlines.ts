import type { Clock } from '../core/clock.ts';
import type { HttpRequest } from './client.ts';

// Each limit is checked so many times within itself, so that it is overrun by an eighth at most.
const CHECKS_PER_LIMIT = 8;
const SHORTEST_TICK_MS = 5;
const LONGEST_TICK_MS = 250;

/** How far an exchange is: waiting for a connection, sent, within the body, over. */
export type ExchangeStage = 'waiting' | 'sent' | 'body' | 'settled';

/** A request under way whose time limits are watched. */
export interface Timed {
  readonly request: HttpRequest;
  readonly startedAtMs: number;
  readonly stage: ExchangeStage;
  readonly bytesReceived: number;
  /** Held back by our own decoder: the server is not to blame for the silence. */
  readonly paused: boolean;
  /** Place in the list. */
  slot: number;
  /** When the current stage, or the last piece of the body, began. */
  quietSinceMs: number;
  /** Of the body, at the last look. */
  bytesSeen: number;
  /** Ends it. */
  onTimeout(limit: TimeLimit): void;
}

export type TimeLimit = 'TIMEOUT_FIRST_BYTE' | 'TIMEOUT_IDLE' | 'TIMEOUT_TOTAL';

/** @returns the limit that has passed; null while none has */
export function expiredLimit(exchange: Timed, nowMs: number): TimeLimit | null {
  const { totalMs, firstByteMs, idleMs } = exchange.request.timeouts;
  if (nowMs - exchange.startedAtMs >= totalMs) return 'TIMEOUT_TOTAL';
  if (exchange.bytesReceived !== exchange.bytesSeen || exchange.paused) {
    exchange.bytesSeen = exchange.bytesReceived;
    exchange.quietSinceMs = nowMs;
  }
  const quietMs = nowMs - exchange.quietSinceMs;
  if (exchange.stage === 'sent') return quietMs >= firstByteMs ? 'TIMEOUT_FIRST_BYTE' : null;
  return exchange.stage === 'body' && quietMs >= idleMs ? 'TIMEOUT_IDLE' : null;
}

/**
 * Watches the time limits of all exchanges with one timer, which costs nothing per request but a place in a list.
 * A limit is noticed at most an eighth of the shortest limit, or 250 ms, late.
 */
export class Deadlines<T extends Timed> {
  readonly #clock: Clock;
  readonly #exchanges: T[] = [];
  #tickMs = LONGEST_TICK_MS;
  #cancelTick: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get exchanges(): readonly T[] {
    return this.#exchanges;
  }

  add(exchange: T): void {
    exchange.slot = this.#exchanges.length;
    this.#exchanges.push(exchange);
    const { firstByteMs, idleMs, totalMs } = exchange.request.timeouts;
    const shortestMs = Math.min(firstByteMs, idleMs, totalMs);
    if (shortestMs < this.#tickMs * CHECKS_PER_LIMIT) this.#tickFaster(shortestMs);
    if (this.#cancelTick === null) this.#arm();
  }

  remove(exchange: T): void {
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
    for (let slot = this.#exchanges.length - 1; slot >= 0; slot -= 1) {
      const exchange = this.#exchanges[slot];
      const limit = exchange && expiredLimit(exchange, nowMs);
      if (limit) exchange.onTimeout(limit);
    }
    if (this.#exchanges.length > 0) this.#arm();
  }
}
