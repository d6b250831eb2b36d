import { type Waiter, WaitingLine } from './waiting-line.ts';

/**
 * Lets so many requests to one origin run at once; the others wait in line. (Node's agent does not count connections
 * that are still being opened.)
 */
export class OriginGate<T extends Waiter> {
  readonly #waiting = new WaitingLine<T>();
  readonly #running = new Set<T>();
  readonly #start: (waiter: T) => void;

  constructor(start: (waiter: T) => void) {
    this.#start = start;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  enter(waiter: T, limit: number): void {
    if (this.#running.size < limit) this.#run(waiter);
    else this.#waiting.push(waiter);
  }

  /** It is over, whether it ran or waited. */
  leave(waiter: T): void {
    this.#waiting.leave(waiter);
    if (!this.#running.delete(waiter)) return;
    const next = this.#waiting.shift();
    if (next) this.#run(next);
  }

  /** Starts what a raised limit has room for. */
  admit(limit: number): void {
    while (this.#running.size < limit) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#run(next);
    }
  }

  #run(waiter: T): void {
    this.#running.add(waiter);
    this.#start(waiter);
  }
}
