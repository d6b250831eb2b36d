import { Worker } from 'node:worker_threads';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Durability, RowStatement, SqliteDatabase } from './database.ts';

export type CheckpointRequest = 'checkpoint' | 'close';
export type CheckpointReply = { error: string | null };

// 4 KiB each. Large enough that a page changed many times is copied once, small enough to be copied in a fraction of a
// second; measured in bench/results/storage.md.
const FRAMES_WORTH_A_CHECKPOINT = 8_000;
// Writes wait while the log is longer than this and the disk has not caught up: 256 MiB.
const LONGEST_LOG_FRAMES = 64_000;
// Looking costs 7 us.
const WRITES_BETWEEN_LOOKS = 16;
const FALLBACK_PRAGMA = 'PRAGMA wal_autocheckpoint = 1000';

/**
 * Moves the write-ahead log into the database file from a thread of its own, so that the event loop never waits for the
 * disk. The thread starts when the log first is long enough: a small run never has one.
 */
export class Checkpointer {
  readonly #database: SqliteDatabase;
  readonly #durability: Durability;
  readonly #log: Log;
  readonly #look: RowStatement;
  #worker: Worker | null = null;
  /** Settles when the checkpoint under way has ended. */
  #running: PromiseWithResolvers<void> | null = null;
  #hasFailed = false;
  #writes = 0;

  constructor(database: SqliteDatabase, options: { durability: Durability; log: Log }) {
    this.#database = database;
    this.#durability = options.durability;
    this.#log = options.log;
    database.exec('PRAGMA wal_autocheckpoint = 0');
    this.#look = database.prepareRows('PRAGMA wal_checkpoint(NOOP)');
    database.onCommit(() => this.#noteWrite());
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#hasFailed = true;
    if (!worker) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.ref();
    worker.postMessage('close' satisfies CheckpointRequest);
    await ended;
    this.#end();
  }

  #noteWrite(): void {
    this.#writes += 1;
    if (this.#writes % WRITES_BETWEEN_LOOKS !== 0 || this.#hasFailed) return;
    const [log, checkpointed] = this.#lookAtLog();
    if (!this.#running && log - checkpointed >= FRAMES_WORTH_A_CHECKPOINT) this.#start();
    if (this.#running && log >= LONGEST_LOG_FRAMES) this.#database.pauseWrites(this.#running.promise);
  }

  /** The transaction is committed by now, so a failure here must not look like one of it. */
  #lookAtLog(): [frames: number, checkpointed: number] {
    try {
      const [, log, checkpointed] = this.#look.get() as [number, number, number];
      return [log, checkpointed];
    } catch (error) {
      this.#log.warn('The length of the write-ahead log could not be read', { error: messageOf(error) });
      return [0, 0];
    }
  }

  #start(): void {
    this.#running = Promise.withResolvers();
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage('checkpoint' satisfies CheckpointRequest);
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
      // The thread needs none of what the process was started with, and could not start with some of it.
      execArgv: [],
      workerData: { file: this.#database.file, durability: this.#durability },
    });
    worker.unref();
    worker.on('message', ({ error }: CheckpointReply) => {
      this.#end();
      if (error !== null) this.#log.warn('A checkpoint did not finish; the next one goes on with it', { error });
    });
    worker.on('error', (error) => this.#fallBack(error));
    return worker;
  }

  #end(): void {
    this.#running?.resolve();
    this.#running = null;
  }

  /** The thread is gone: the connection checkpoints for itself, and blocks while it does. */
  #fallBack(error: Error): void {
    this.#worker = null;
    this.#end();
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#log.warn('The checkpoint thread ended; checkpoints now run on the main thread', { error: error.message });
    this.#database.exec(FALLBACK_PRAGMA);
  }
}
