import { stat } from 'node:fs/promises';
import type { OutputSpec } from '../config/crawl-job.ts';
import type { Clock } from '../core/clock.ts';
import type { Ports } from '../core/ports.ts';
import { type DatasetFollower, type FollowPosition, openFollower } from '../export/follow.ts';
import type { StoredRow } from '../export/rows.ts';
import type { RunStore, ValueStore } from '../storage/store.ts';
import { makeFolderOf } from './write-exports.ts';

export type FollowOutputsOptions = {
  outputs: readonly OutputSpec[];
  /** The dataset they follow. */
  dataset: string;
  store: RunStore;
  own: ReadonlySet<string>;
  force: boolean;
  /** Rows that may still be replaced are left out; all are final when left out. */
  isFinal?: ((row: StoredRow) => boolean) | undefined;
  ports: Ports;
  /** Told once a file is begun: it is the run's own from then on. */
  onOpened: (path: string) => Promise<void>;
};

type Position = FollowPosition & { dataset: string };

const KEY_PREFIX = 'follow:';
const EVERY_MS = 500;

/** JSON Lines files that grow while the crawl goes on, each row in them exactly once. */
export class FollowedOutputs {
  readonly #options: FollowOutputsOptions;
  readonly #outputs: readonly OutputSpec[];
  readonly #followers = new Map<string, DatasetFollower>();
  #cancel: () => void = () => {};
  #working: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: FollowOutputsOptions, outputs: readonly OutputSpec[]) {
    this.#options = options;
    this.#outputs = outputs;
  }

  /** Of the outputs those that can grow: lines, not compressed, in a file. Nothing is opened before there is a row. */
  static async of(options: FollowOutputsOptions): Promise<FollowedOutputs> {
    const outputs: OutputSpec[] = [];
    for (const output of options.outputs) if (await canGrow(output)) outputs.push(output);
    return new FollowedOutputs(options, outputs);
  }

  /** Absolute paths of the files begun so far. */
  get files(): ReadonlySet<string> {
    return new Set(this.#followers.keys());
  }

  /** Appends what is committed twice a second. `onError` is called once, and nothing more is appended until the end. */
  start(onError: (error: unknown) => void): void {
    if (this.#outputs.length === 0) return;
    this.#arm(this.#options.ports.clock, onError);
  }

  /**
   * Appends the rest and closes the files.
   * @throws EnvironmentError when a file cannot be written; what is missing comes when the run goes on
   */
  async finish(): Promise<void> {
    await this.#stop();
    await this.#catchUp();
    for (const follower of this.#followers.values()) await follower.close();
  }

  /** Closes the files of a crawl that has failed as they are: they go on with the run. */
  async abandon(): Promise<void> {
    await this.#stop();
    for (const follower of this.#followers.values()) await follower.release();
  }

  #arm(clock: Clock, onError: (error: unknown) => void): void {
    this.#cancel = clock.schedule(EVERY_MS, () => {
      this.#working = this.#catchUp().then(() => {
        if (!this.#isClosed) this.#arm(clock, onError);
      }, onError);
    });
  }

  async #stop(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#working;
  }

  async #catchUp(): Promise<void> {
    for (const output of this.#outputs) {
      const follower = this.#followers.get(output.path) ?? (await this.#open(output));
      await follower?.catchUp();
    }
  }

  /** @returns null while the dataset has no row: an earlier file stays until there is one */
  async #open({ path }: OutputSpec): Promise<DatasetFollower | null> {
    const { dataset, store, own, force, isFinal, ports, onOpened } = this.#options;
    const { datasets, values } = store;
    if ((await datasets.page(dataset, { afterSeq: 0, limit: 1 })).length === 0) return null;
    await makeFolderOf(path);
    const follower = await openFollower({
      page: (options) => datasets.page(dataset, options),
      position: positionStore(values, { path, dataset }),
      destination: { path, force, isOwn: (file) => own.has(file) },
      ...(isFinal === undefined ? {} : { isFinal }),
      log: ports.log,
    });
    this.#followers.set(path, follower);
    await onOpened(path);
    return follower;
  }
}

async function canGrow({ path, format, gzip }: OutputSpec): Promise<boolean> {
  if (gzip || (format !== 'jsonl' && format !== 'ndjson')) return false;
  // A pipe or a device cannot be cut back to where it was.
  const found = await stat(path).catch(() => null);
  return found === null || found.isFile();
}

function positionStore(values: ValueStore, { path, dataset }: { path: string; dataset: string }) {
  const key = KEY_PREFIX + path;
  return {
    load: async (): Promise<FollowPosition | null> => {
      const stored = await values.get<Position>(key);
      return stored?.dataset === dataset ? { seq: stored.seq, bytes: stored.bytes } : null;
    },
    save: (position: FollowPosition): Promise<void> => values.set(key, { ...position, dataset } satisfies Position),
  };
}

/** @returns absolute paths of the files that have followed the run */
export async function followedFiles(values: ValueStore): Promise<string[]> {
  return (await values.entries(KEY_PREFIX)).map(([key]) => key.slice(KEY_PREFIX.length));
}

/** Before a file is written as a whole: should it follow a crawl again, it begins anew. */
export function forgetFollowed(values: ValueStore, path: string): Promise<void> {
  return values.delete(KEY_PREFIX + path);
}
