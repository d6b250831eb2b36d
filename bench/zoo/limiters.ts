/** What a limiter makes of one arriving request. */
export type Decision = {
  accepted: boolean;
  /** How long the answer is held back beyond the base latency, ms. */
  delayMs: number;
  /** Until a refused client would be let in again, ms. */
  waitMs: number;
  /** Sends left in the present window, and the time until it ends, ms. */
  remaining: number;
  resetMs: number;
};

/** A rate limiter as a server runs it: time comes in, so that it works on a real and on a virtual clock. */
export interface Limiter {
  /** Its policy as it would be stated in headers; null where a rate does not describe it. */
  readonly policy: { limit: number; windowMs: number } | null;
  arrive(nowMs: number): Decision;
  /** An accepted request was answered. */
  leave(nowMs: number): void;
  /** Changes the limit in mid-run to a share of the one it was made with. */
  scale(share: number): void;
}

function accept(remaining: number, resetMs: number, delayMs = 0): Decision {
  return { accepted: true, delayMs, waitMs: 0, remaining: Math.floor(remaining), resetMs };
}

function refuse(waitMs: number, resetMs = waitMs): Decision {
  return { accepted: false, delayMs: 0, waitMs, remaining: 0, resetMs };
}

/** What a server answers that fails, whatever the load. */
export const FAULT: Decision = { accepted: false, delayMs: 0, waitMs: 0, remaining: 0, resetMs: 0 };

export class NoLimit implements Limiter {
  readonly policy = null;
  arrive(): Decision {
    return accept(1_000_000, 1000);
  }
  leave(): void {}
  scale(): void {}
}

/** Refills evenly, holds at most `burst`. */
export class TokenBucket implements Limiter {
  readonly #rate: number;
  readonly #burst: number;
  #share = 1;
  #tokens: number;
  #atMs = 0;

  constructor(requestsPerSecond: number, burst: number) {
    this.#rate = requestsPerSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  get policy() {
    return { limit: this.#rate * this.#share, windowMs: 1000 };
  }

  arrive(nowMs: number): Decision {
    const perMs = (this.#rate * this.#share) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * perMs);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return refuse((1 - this.#tokens) / perMs);
    this.#tokens -= 1;
    return accept(this.#tokens, (this.#burst - this.#tokens) / perMs);
  }

  leave(): void {}

  scale(share: number): void {
    this.#share = share;
  }
}

/** So many a window; windows follow the clock. */
export class FixedWindow implements Limiter {
  readonly #limit: number;
  readonly #windowMs: number;
  #share = 1;
  #window = -1;
  #count = 0;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  get policy() {
    return { limit: this.#limit * this.#share, windowMs: this.#windowMs };
  }

  arrive(nowMs: number): Decision {
    const window = Math.floor(nowMs / this.#windowMs);
    if (window !== this.#window) {
      this.#window = window;
      this.#count = 0;
    }
    const resetMs = (window + 1) * this.#windowMs - nowMs;
    if (this.#count >= this.#limit * this.#share) return refuse(resetMs);
    this.#count += 1;
    return accept(this.#limit * this.#share - this.#count, resetMs);
  }

  leave(): void {}

  scale(share: number): void {
    this.#share = share;
  }
}

/** So many in any window: remembers when each was accepted. */
export class SlidingLog implements Limiter {
  readonly #limit: number;
  readonly #windowMs: number;
  #share = 1;
  #log: number[] = [];

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  get policy() {
    return { limit: this.#limit * this.#share, windowMs: this.#windowMs };
  }

  arrive(nowMs: number): Decision {
    while (this.#log.length > 0 && (this.#log[0] ?? 0) <= nowMs - this.#windowMs) this.#log.shift();
    const oldest = this.#log[0] ?? nowMs;
    const resetMs = oldest + this.#windowMs - nowMs;
    if (this.#log.length >= this.#limit * this.#share) return refuse(resetMs);
    this.#log.push(nowMs);
    return accept(this.#limit * this.#share - this.#log.length, resetMs);
  }

  leave(): void {}

  scale(share: number): void {
    this.#share = share;
  }
}

/** So many at once. */
export class ConcurrencyLimit implements Limiter {
  readonly policy = null;
  readonly #limit: number;
  #share = 1;
  #inFlight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  arrive(): Decision {
    if (this.#inFlight >= this.#limit * this.#share) return refuse(1000);
    this.#inFlight += 1;
    return accept(this.#limit * this.#share - this.#inFlight, 1000);
  }

  leave(): void {
    this.#inFlight -= 1;
  }

  scale(share: number): void {
    this.#share = share;
  }
}

/** Lets requests through at an even rate by holding them back; refuses only when the queue is full. */
export class LeakyDelay implements Limiter {
  readonly #rate: number;
  readonly #queueLength: number;
  #share = 1;
  #nextMs = 0;

  constructor(requestsPerSecond: number, queueLength: number) {
    this.#rate = requestsPerSecond;
    this.#queueLength = queueLength;
  }

  get policy() {
    return { limit: this.#rate * this.#share, windowMs: 1000 };
  }

  arrive(nowMs: number): Decision {
    const intervalMs = 1000 / (this.#rate * this.#share);
    const delayMs = Math.max(0, this.#nextMs - nowMs);
    if (delayMs > this.#queueLength * intervalMs) return refuse(delayMs - this.#queueLength * intervalMs);
    this.#nextMs = Math.max(this.#nextMs, nowMs) + intervalMs;
    return accept(this.#queueLength - delayMs / intervalMs, delayMs, delayMs);
  }

  leave(): void {}

  scale(share: number): void {
    this.#share = share;
  }
}

/** A token bucket that halves its rate for a while when a client keeps pushing. */
export class Adaptive implements Limiter {
  readonly #bucket: TokenBucket;
  #refusals = 0;
  #halvedUntilMs = 0;
  #share = 1;

  constructor(requestsPerSecond: number, burst: number) {
    this.#bucket = new TokenBucket(requestsPerSecond, burst);
  }

  get policy() {
    return this.#bucket.policy;
  }

  arrive(nowMs: number): Decision {
    this.#bucket.scale(nowMs < this.#halvedUntilMs ? this.#share / 2 : this.#share);
    const decision = this.#bucket.arrive(nowMs);
    if (!decision.accepted && ++this.#refusals >= REFUSALS_TO_HALVE) {
      this.#refusals = 0;
      this.#halvedUntilMs = nowMs + HALVED_MS;
    }
    return decision;
  }

  leave(): void {}

  scale(share: number): void {
    this.#share = share;
  }
}

const REFUSALS_TO_HALVE = 20;
const HALVED_MS = 10_000;
