import type { AccompaniedRun, CrawlCompanion } from '../app-commands.ts';
import type { Ports } from '../core/ports.ts';
import type { RunStore } from '../storage/store.ts';
import { DatasetHandover, type HandedDataset, holdsRecords } from './dataset-handover.ts';
import type { Platform } from './platform.ts';
import type { QueueKeeper } from './queue-keeper.ts';
import { progressText } from './status-text.ts';
import { tellStatus } from './tell-status.ts';

const HAND_OVER_EVERY_MS = 2_000;
const STATUS_EVERY_MS = 10_000;

export type ActorCompanionOptions = {
  platform: Platform;
  ports: Ports;
  /** Keeps the queue elsewhere than in the run's file; null = it is there. */
  keeper: QueueKeeper | null;
};

/** Beside a crawl on the platform: hands records over as they come, and tells how it goes. */
export class ActorCompanion implements CrawlCompanion {
  readonly #options: ActorCompanionOptions;
  readonly #cancels: (() => void)[] = [];
  #handover: DatasetHandover | null = null;
  #store: RunStore | null = null;
  #status = '';
  #isOver = false;

  constructor(options: ActorCompanionOptions) {
    this.#options = options;
  }

  /** What has been handed over so far. */
  get datasets(): readonly HandedDataset[] {
    return this.#handover?.datasets ?? [];
  }

  /** Records handed over so far, by all containers; null while there is none. */
  get recordCount(): number | null {
    const own = this.datasets.filter(({ name }) => holdsRecords(name));
    return own.length === 0 ? null : own.reduce((sum, { count }) => sum + count, 0);
  }

  /** Whether there is a run that can be saved. */
  get isUnderWay(): boolean {
    return this.#store !== null && !this.#isOver;
  }

  async begin({ store, mainDataset, fail }: AccompaniedRun): Promise<RunStore> {
    const { platform, ports, keeper } = this.#options;
    const handover = new DatasetHandover({ platform, store, mainDataset, log: ports.log });
    this.#handover = handover;
    this.#store = store;
    // What is restored comes first: its records are where they belong.
    const kept = keeper === null ? store : await keeper.keep(store, { handOver: () => handover.catchUp(), fail });
    this.#every(HAND_OVER_EVERY_MS, () => handover.catchUp(), fail);
    this.#every(STATUS_EVERY_MS, () => this.#tell(), fail);
    return kept;
  }

  /** Hands over what has been stored so far. */
  async catchUp(): Promise<void> {
    await this.#handover?.catchUp();
  }

  async end(): Promise<void> {
    this.#stop();
    await this.#handover?.catchUp();
    await this.#options.keeper?.finish();
  }

  async abandon(): Promise<void> {
    this.#stop();
  }

  #stop(): void {
    this.#isOver = true;
    for (const cancel of this.#cancels) cancel();
  }

  async #tell(): Promise<void> {
    const text = progressText(await this.#store!.queue.counts());
    if (text === this.#status) return;
    this.#status = text;
    const { platform, ports } = this.#options;
    await tellStatus(platform, ports.log, { text });
  }

  #every(everyMs: number, action: () => Promise<void>, fail: (error: unknown) => void): void {
    const { clock } = this.#options.ports;
    const index = this.#cancels.length;
    const arm = (): void => {
      this.#cancels[index] = clock.schedule(everyMs, () => {
        action().then(() => {
          if (!this.#isOver) arm();
        }, fail);
      });
    };
    arm();
  }
}
