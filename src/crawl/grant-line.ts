import type { Clock } from '../core/clock.ts';
import { Fifo } from '../queue/fifo.ts';
import { RequestFailure } from './failure-codes.ts';
import type { SendGate } from './parts.ts';

/** How long one waits for a host before it is asked again whether it was given up, ms. */
const LONGEST_POLL_MS = 250;

type Waiter = {
  resolve: (key: string) => void;
  reject: (error: unknown) => void;
  signal: AbortSignal | undefined;
};

type HostQueue = { waiters: Fifo<Waiter>; atMs: number; cancelTimer: () => void };

/**
 * Requests that are not of the queue (redirects, `sendRequest`) and wait for a host's leave, first come first served:
 * one timer a host, however many wait. Whoever is in line goes before new requests of the queue, for it has begun.
 */
export class GrantLine {
  readonly #gate: SendGate;
  readonly #clock: Clock;
  readonly #hosts = new Map<string, HostQueue>();

  constructor({ gate, clock }: { gate: SendGate; clock: Clock }) {
    this.#gate = gate;
    this.#clock = clock;
  }

  /** @returns the granted key; null when there is none now: `wait` for it */
  tryNow(host: string): string | null {
    if (this.#hosts.has(host)) return null;
    const answer = this.#gate.tryAcquire(host, this.#clock.nowMs());
    return typeof answer === 'string' ? answer : null;
  }

  /**
   * @returns the granted key
   * @throws RequestFailure HOST_GIVEN_UP; the signal's reason when aborted
   */
  wait(host: string, signal?: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const waiting = this.#queueOf(host);
      waiting.waiters.push({ resolve, reject, signal });
      this.#serve(host, waiting);
    });
  }

  /** A request of the host has ended: whoever is first may go. */
  released(host: string): void {
    if (this.#hosts.size === 0) return;
    const waiting = this.#hosts.get(host);
    if (waiting !== undefined) this.#serve(host, waiting);
  }

  #queueOf(host: string): HostQueue {
    let waiting = this.#hosts.get(host);
    if (waiting === undefined) {
      waiting = { waiters: new Fifo(), atMs: Number.POSITIVE_INFINITY, cancelTimer: () => {} };
      this.#hosts.set(host, waiting);
    }
    return waiting;
  }

  #serve(host: string, waiting: HostQueue): void {
    const { waiters } = waiting;
    for (let waiter = waiters.peek(); waiter !== undefined; waiter = waiters.peek()) {
      const answer = waiter.signal?.aborted ? null : this.#gate.tryAcquire(host, this.#clock.nowMs());
      if (typeof answer === 'number') {
        this.#standBy(host, waiting, answer);
        return;
      }
      if (answer === null) waiter.reject(waiter.signal?.reason);
      else waiter.resolve(answer);
      waiters.shift();
    }
    waiting.cancelTimer();
    this.#hosts.delete(host);
  }

  #standBy(host: string, waiting: HostQueue, askAtMs: number): void {
    const nowMs = this.#clock.nowMs();
    const reason = this.#gate.givenUp(host, nowMs);
    if (reason !== null) {
      this.#refuseAll(host, waiting, reason);
      return;
    }
    const atMs = Math.min(Math.max(askAtMs, nowMs + 1), nowMs + LONGEST_POLL_MS);
    // One that is due earlier asks in vain, at worst.
    if (waiting.atMs > nowMs && waiting.atMs <= atMs) return;
    waiting.cancelTimer();
    waiting.atMs = atMs;
    waiting.cancelTimer = this.#clock.schedule(atMs - nowMs, () => {
      waiting.atMs = Number.POSITIVE_INFINITY;
      this.#serve(host, waiting);
    });
  }

  #refuseAll(host: string, waiting: HostQueue, reason: string): void {
    waiting.cancelTimer();
    this.#hosts.delete(host);
    for (const waiter of waiting.waiters.drain())
      waiter.reject(new RequestFailure('HOST_GIVEN_UP', `${host} was given up: ${reason}`));
  }
}
