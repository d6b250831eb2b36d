import { getHeapStatistics } from 'node:v8';

// Above this share no new request is begun until it has fallen again.
const HIGH_SHARE = 0.9;
const LOW_SHARE = 0.8;

/** Bytes; `limit` 0 or beyond any machine = no limit is set, as `process.constrainedMemory` has it. */
export type MemoryReading = { rss: number; limit: number; heapUsed: number; heapLimit: number };

/** Knows when memory runs short: against the container's limit, or the heap's, whichever is nearer. */
export class MemoryGuard {
  readonly #read: () => MemoryReading;
  #isShort = false;

  constructor(read: () => MemoryReading = readMemory) {
    this.#read = read;
  }

  get isShort(): boolean {
    return this.#isShort;
  }

  /** Looks; a few microseconds, so once a second and not for every request. */
  look(): void {
    this.#isShort = usedShare(this.#read()) > (this.#isShort ? LOW_SHARE : HIGH_SHARE);
  }
}

/** @returns how much of what there is in use, the nearer of the two limits */
export function usedShare({ rss, limit, heapUsed, heapLimit }: MemoryReading): number {
  const isLimited = limit > 0 && limit < 2 ** 50;
  return Math.max(isLimited ? rss / limit : 0, heapUsed / heapLimit);
}

function readMemory(): MemoryReading {
  const { used_heap_size: heapUsed, heap_size_limit: heapLimit } = getHeapStatistics();
  return { rss: process.memoryUsage.rss(), limit: process.constrainedMemory(), heapUsed, heapLimit };
}
