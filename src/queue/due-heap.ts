type Entry<T> = { atMs: number; item: T };

/** A binary heap of things that become due, the earliest first. */
export class DueHeap<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** When the earliest is due; null when empty. */
  get nextAtMs(): number | null {
    return this.#entries[0]?.atMs ?? null;
  }

  push(atMs: number, item: T): void {
    const entries = this.#entries;
    let index = entries.push({ atMs, item }) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (entries[parent]!.atMs <= atMs) break;
      swap(entries, index, parent);
      index = parent;
    }
  }

  /** Removes and returns the earliest if it is due at `nowMs`. */
  popDue(nowMs: number): T | undefined {
    const first = this.#entries[0];
    if (first === undefined || first.atMs > nowMs) return undefined;
    const last = this.#entries.pop()!;
    if (this.#entries.length > 0) {
      this.#entries[0] = last;
      this.#sink(0);
    }
    return first.item;
  }

  #sink(start: number): void {
    const entries = this.#entries;
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= entries.length) return;
      const right = left + 1;
      const smaller = right < entries.length && entries[right]!.atMs < entries[left]!.atMs ? right : left;
      if (entries[smaller]!.atMs >= entries[index]!.atMs) return;
      swap(entries, index, smaller);
      index = smaller;
    }
  }
}

function swap<T>(entries: Entry<T>[], a: number, b: number): void {
  const held = entries[a]!;
  entries[a] = entries[b]!;
  entries[b] = held;
}
