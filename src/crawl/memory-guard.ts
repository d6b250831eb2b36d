import { getHeapStatistics } from 'node:v8';

// Above this share no new request is begun until it has fallen again.
const HIGH_SHARE = 0.9;
const LOW_SHARE = 0.8;

/** Knows when memory runs short: against the container's limit, or the heap's, whichever is nearer. */
export class MemoryGuard {
  #isShort = false;

  get isShort(): boolean {
    return this.#isShort;
  }

  /** Looks; a few microseconds, so once a second and not for every request. */
  look(): void {
    const share = Math.max(process.memoryUsage.rss() / memoryLimitBytes(), heapShare());
    this.#isShort = share > (this.#isShort ? LOW_SHARE : HIGH_SHARE);
  }
}

function memoryLimitBytes(): number {
  const limit = process.constrainedMemory();
  // 0 or beyond any machine: no limit is set.
  return limit > 0 && limit < 2 ** 50 ? limit : Number.POSITIVE_INFINITY;
}

function heapShare(): number {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  return used_heap_size / heap_size_limit;
}
