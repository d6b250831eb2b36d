import type { Clock } from '../core/clock.ts';
import type { CommitResult, QueueStore, UnitOfWork } from '../storage/store.ts';

// Few enough that one commit does not hold up the event loop, many enough that a transaction's cost is shared.
const BATCH_SIZE = 128;
const LONGEST_WAIT_MS = 5;

type Waiting = { unit: UnitOfWork; resolve: (result: CommitResult) => void; reject: (error: unknown) => void };

/** Gathers units of work for a few milliseconds and commits them together. */
export class Committer {
  readonly #store: QueueStore;
  readonly #clock: Clock;
  readonly #onCommitted: (units: readonly UnitOfWork[], results: readonly CommitResult[]) => void;
  #waiting: Waiting[] = [];
  #cancelTimer: (() => void) | null = null;
  /** Whether the timer is the short one. */
  #isHurried = false;
  #inFlight = 0;
  /** When each commit under way began, the oldest first. */
  readonly #begunMs: number[] = [];
  #idleWaiters: (() => void)[] = [];

  constructor(options: {
    store: QueueStore;
    clock: Clock;
    onCommitted: (units: readonly UnitOfWork[], results: readonly CommitResult[]) => void;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#onCommitted = options.onCommitted;
  }

  /** Units not yet durable. */
  get backlog(): number {
    return this.#waiting.length + this.#inFlight;
  }

  /** How long the oldest commit under way has been; 0 = none is. */
  get slowestCommitMs(): number {
    const [oldestMs] = this.#begunMs;
    return oldestMs === undefined ? 0 : this.#clock.nowMs() - oldestMs;
  }

  /**
   * @param isAwaited the crawl has nothing to send until what the unit adds is there
   * @returns resolves when the unit is durable; rejects when the store refuses, and then nothing of it was written
   */
  submit(unit: UnitOfWork, isAwaited: boolean): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ unit, resolve, reject });
      if (this.#waiting.length >= BATCH_SIZE) void this.#flush();
      else this.#schedule(isAwaited);
    });
  }

  #schedule(isAwaited: boolean): void {
    if (this.#cancelTimer !== null && (this.#isHurried || !isAwaited)) return;
    this.#cancelTimer?.();
    this.#isHurried = isAwaited;
    this.#cancelTimer = this.#clock.schedule(isAwaited ? 0 : LONGEST_WAIT_MS, () => void this.#flush());
  }

  /** Commits what waits and resolves when nothing is under way. */
  async drain(): Promise<void> {
    while (this.backlog > 0) {
      if (this.#waiting.length > 0) await this.#flush();
      else await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
    }
  }

  async #flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    this.#inFlight += batch.length;
    const begunMs = this.#clock.nowMs();
    this.#begunMs.push(begunMs);
    try {
      const units = batch.map((waiting) => waiting.unit);
      const results = await this.#store.commit(units);
      this.#onCommitted(units, results);
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index]!);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    } finally {
      this.#inFlight -= batch.length;
      this.#begunMs.splice(this.#begunMs.indexOf(begunMs), 1);
      if (this.#inFlight === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
    }
  }
}
