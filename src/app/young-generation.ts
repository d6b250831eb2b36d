import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** What V8 tells and is told; replaced in tests. */
export type YoungHeap = {
  bytes: () => number;
  stopGrowing: () => void;
  /** Calls the listener after collections, which are what it grows by. @returns to be called when enough is heard */
  onCollected: (listener: () => void) => () => void;
};

// V8 would go to 134 MB where memory is plenty. From 16 MB on, more saves a crawl no time that can be measured.
const ENOUGH_BYTES = 16 * 2 ** 20;

/**
 * Lets V8's young generation grow to 16 MB or so and no further: what a crawl holds stays below 400 MB then. A flag of
 * the command line would do the same, but whoever starts us by the name of our file cannot give one.
 */
export function boundYoungGeneration(heap: YoungHeap = V8_HEAP): void {
  const listenNoMore = heap.onCollected(() => {
    if (heap.bytes() < ENOUGH_BYTES) return;
    heap.stopGrowing();
    listenNoMore();
  });
}

const V8_HEAP: YoungHeap = {
  bytes: () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0,
  // Read by V8 each time it thinks of growing.
  stopGrowing: () => setFlagsFromString('--semi-space-growth-factor=1'),
  onCollected: (listener) => {
    const observer = new PerformanceObserver(listener);
    observer.observe({ entryTypes: ['gc'] });
    return () => observer.disconnect();
  },
};
