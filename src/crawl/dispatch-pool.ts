import { AutoscaledPool, type AutoscaledPoolOptions, type Configuration } from '@crawlee/core';
import type { Clock } from '../core/clock.ts';
import { SECOND_MS } from '../core/units.ts';

export type DispatchOptions = {
  clock: Clock;
  /** Most tasks that hold a slot. */
  maxConcurrency: number;
  /** Starts one task if one may start now. */
  startOne: () => boolean;
  /** Whether all is done; asked when nothing runs. */
  isFinished: () => Promise<boolean>;
  /** Called when it begins to run. */
  onStart: () => void;
  /** Called once a second while it runs. */
  onTick: () => void;
  /** Whether new tasks must wait because memory runs short. */
  isShortOfMemory: () => boolean;
};

/**
 * Crawlee's pool without its ramp: AutoscaledPool starts one task per event loop turn and climbs by 5 % in 10 s on
 * CPU signals (100 slots after six minutes). Here the governor decides who may send, so every free slot is filled at
 * once; of the pool remain its interface and a memory guard.
 */
export class DispatchPool extends AutoscaledPool {
  readonly #dispatch: DispatchOptions;
  #running = 0;
  #slots = 0;
  #limit: number;
  #isPaused = false;
  #isPumping = false;
  #isAsking = false;
  #ticking = new AbortController();
  #done: { resolve: () => void; reject: (error: unknown) => void } | null = null;
  #idleWaiters: (() => void)[] = [];

  constructor(options: AutoscaledPoolOptions, config: Configuration, dispatch: DispatchOptions) {
    super(options, config);
    this.#dispatch = dispatch;
    this.#limit = dispatch.maxConcurrency;
  }

  override get currentConcurrency(): number {
    return this.#slots;
  }
  override get desiredConcurrency(): number {
    return this.#limit;
  }
  override set desiredConcurrency(value: number) {
    this.#limit = value;
  }
  override get maxConcurrency(): number {
    return this.#limit;
  }
  override set maxConcurrency(value: number) {
    this.#limit = value;
    this.pump();
  }

  /** Tasks begun and not yet ended, those that hold no slot included. */
  get running(): number {
    return this.#running;
  }

  /** Tasks that hold no slot: they wait for the store, or for another host. */
  get waiting(): number {
    return this.#running - this.#slots;
  }

  /** Whether it runs: begun, and not yet ended. */
  get isActive(): boolean {
    return this.#done !== null;
  }

  override async run(): Promise<void> {
    const finished = new Promise<void>((resolve, reject) => {
      this.#done = { resolve, reject };
    });
    this.#ticking = new AbortController();
    this.#dispatch.onStart();
    void this.#tick(this.#ticking.signal);
    this.pump();
    try {
      await finished;
    } finally {
      this.#ticking.abort();
    }
  }

  override async abort(): Promise<void> {
    this.#isPaused = true;
    this.#finish();
  }

  /** Starts nothing new; resolves when what runs has ended, rejects after `timeoutSecs`. */
  override async pause(timeoutSecs?: number): Promise<void> {
    this.#isPaused = true;
    if (this.#running === 0) return;
    await new Promise<void>((resolve, reject) => {
      const tooLate = (): void => reject(new Error("The pool's running tasks did not finish in time."));
      const cancel = timeoutSecs ? this.#dispatch.clock.schedule(timeoutSecs * SECOND_MS, tooLate) : undefined;
      this.#idleWaiters.push(() => {
        cancel?.();
        resolve();
      });
    });
  }

  override resume(): void {
    this.#isPaused = false;
    this.pump();
  }

  override async notify(): Promise<void> {
    this.pump();
  }

  /** Fills every free slot that can be filled. */
  pump(): void {
    // A task may end within startOne; the loop that is already running sees the freed slot.
    if (this.#isPumping || this.#done === null) return;
    this.#isPumping = true;
    try {
      while (!this.#isPaused && this.#slots < this.#limit && this.#mayStart()) {
        if (!this.#dispatch.startOne()) break;
      }
    } finally {
      this.#isPumping = false;
    }
    if (this.#running === 0) this.#finishIfDone();
  }

  /** A task begins and holds a slot. */
  begin(): void {
    this.#running += 1;
    this.#slots += 1;
  }

  /** A task needs its slot no more, though it has not ended: it waits for the store, or for another host. */
  freeSlot(): void {
    this.#slots -= 1;
  }

  /** A task goes on and needs a slot again, be there one free or not. */
  takeSlot(): void {
    this.#slots += 1;
  }

  /** A task has ended; its slot was freed before. */
  end(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    for (const wake of this.#idleWaiters.splice(0)) wake();
    this.pump();
  }

  /** The crawl cannot go on. */
  fail(error: unknown): void {
    this.#isPaused = true;
    const done = this.#done;
    this.#done = null;
    done?.reject(error);
  }

  /** Once a second; its timer is also what keeps the process alive while every host is parked. */
  async #tick(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#dispatch.clock.sleep(SECOND_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#dispatch.onTick();
      this.pump();
    }
  }

  #mayStart(): boolean {
    return this.#slots === 0 || !this.#dispatch.isShortOfMemory();
  }

  #finishIfDone(): void {
    if (this.#isAsking || this.#isPaused) return;
    this.#isAsking = true;
    this.#dispatch.isFinished().then(
      (isFinished) => {
        this.#isAsking = false;
        if (isFinished && this.#running === 0) this.#finish();
      },
      (error: unknown) => this.fail(error),
    );
  }

  #finish(): void {
    const done = this.#done;
    this.#done = null;
    done?.resolve();
  }
}
