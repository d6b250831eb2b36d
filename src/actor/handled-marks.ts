import type { PlatformQueue, QueuedRequest } from './platform.ts';

// The platform takes 200 calls a second of one queue.
const AT_ONCE = 20;
/** So many may wait before the crawl waits for them. */
const MOST_WAITING = 2_000;

/** Tells the platform's queue which requests are handled: behind the crawl, but not far, and after their records. */
export class HandledMarks {
  readonly #queue: Pick<PlatformQueue, 'update'>;
  readonly #before: () => Promise<void>;
  readonly #fail: (error: unknown) => void;
  #waiting: QueuedRequest[] = [];
  #working: Promise<void> | null = null;

  constructor(options: {
    queue: Pick<PlatformQueue, 'update'>;
    /** Resolves when the records of what has been added so far are handed over. */
    before: () => Promise<void>;
    fail: (error: unknown) => void;
  }) {
    this.#queue = options.queue;
    this.#before = options.before;
    this.#fail = options.fail;
  }

  /** Resolves at once, unless too many wait. */
  async add(requests: readonly QueuedRequest[]): Promise<void> {
    this.#waiting.push(...requests);
    const working = this.flush();
    working.catch(this.#fail);
    if (this.#waiting.length > MOST_WAITING) await working;
  }

  /** Resolves when all that waits is marked. */
  flush(): Promise<void> {
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
    return this.#working;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#before();
      for (let start = 0; start < batch.length; start += AT_ONCE)
        await Promise.all(batch.slice(start, start + AT_ONCE).map((request) => this.#queue.update(request)));
    }
  }
}
