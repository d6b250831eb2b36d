/** What can wait in a line. */
export type Waiter = {
  /** Set by the line. */
  inLine: boolean;
};

/** Exchanges in line for a connection, first come, first served; those that ended meanwhile do not count. */
export class WaitingLine<T extends Waiter> {
  #items: (T | undefined)[] = [];
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(exchange: T): void {
    exchange.inLine = true;
    this.#items.push(exchange);
    this.#size += 1;
  }

  /** Takes out one that ended: by a timeout, or its signal. */
  leave(exchange: T): void {
    if (!exchange.inLine) return;
    exchange.inLine = false;
    this.#size -= 1;
  }

  first(): T | undefined {
    this.#skipEnded();
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const first = this.first();
    if (!first) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    this.leave(first);
    return first;
  }

  /** @returns all that were in line */
  clear(): T[] {
    const rest = this.#items.slice(this.#head) as T[];
    const waiting = rest.filter((exchange) => exchange.inLine);
    for (const exchange of waiting) this.leave(exchange);
    this.#items = [];
    this.#head = 0;
    return waiting;
  }

  #skipEnded(): void {
    while (this.#items[this.#head]?.inLine === false) this.#head += 1;
    if (this.#head < COMPACT_AFTER || this.#head * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

const COMPACT_AFTER = 256;
