import { type FileHandle, open } from 'node:fs/promises';
import type { Log } from '../core/log.ts';
import { checkDestination, type Destination, type WriteOutcome, writeProblem } from './destination.ts';
import { onOneLine } from './json-text.ts';
import type { PageReader, StoredRow } from './rows.ts';

/** How far a file has got: all rows up to `seq` are in its first `bytes` bytes. */
export type FollowPosition = { seq: number; bytes: number };

/** Where the position is kept: in the run's store, so that it survives the process. */
export type PositionStore = {
  load(): Promise<FollowPosition | null>;
  save(position: FollowPosition): Promise<void>;
};

export type FollowOptions = {
  /** Committed rows by keyset paging. */
  page: PageReader;
  position: PositionStore;
  /** A file (not `-`): .jsonl or .ndjson, not compressed. */
  destination: Destination;
  /** Rows that may still be replaced (a failure that is to be retried) are left out; all are final when left out. */
  isFinal?: (row: StoredRow) => boolean;
  log: Log;
};

const ROWS_PER_PAGE = 1_000;
const START: FollowPosition = { seq: 0, bytes: 0 };
const IN_STORE: WriteOutcome = {
  left: 'every record is kept in the run',
  next: 'Free some space and give the same command again: it goes on where it was',
};

/**
 * Appends a dataset's committed rows to a JSON Lines file while the crawl goes on, each exactly once: what a killed
 * process wrote after the last position it saved is cut off at the start and written again.
 * @throws UsageError when the file is neither the run's own nor to be replaced
 */
export async function openFollower(options: FollowOptions): Promise<DatasetFollower> {
  const saved = await options.position.load();
  // A position says that the file is the run's own.
  await checkDestination({ ...options.destination, force: options.destination.force || saved !== null });
  try {
    // Saved before the file is there, so that after a kill in between it is known as the run's own.
    if (saved === null) await options.position.save(START);
    const file = await open(options.destination.path, 'a+');
    return new DatasetFollower(options, file, await resume(file, saved ?? START, options));
  } catch (error) {
    throw writeProblem(error, options.destination.path, IN_STORE);
  }
}

async function resume(file: FileHandle, saved: FollowPosition, options: FollowOptions): Promise<FollowPosition> {
  const isIntact = await reaches(file, saved.bytes);
  const position = isIntact ? saved : START;
  if (!isIntact) {
    options.log.warn(`${options.destination.path} has been changed by somebody else: it is written anew`);
    await options.position.save(START);
  }
  await file.truncate(position.bytes);
  return position;
}

// Whole lines up to there: otherwise somebody has cut or edited it.
async function reaches(file: FileHandle, bytes: number): Promise<boolean> {
  if (bytes === 0) return true;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, bytes - 1);
  return bytesRead === 1 && buffer[0] === 0x0a;
}

/** One file that follows one dataset. */
export class DatasetFollower {
  readonly #options: FollowOptions;
  readonly #file: FileHandle;
  #position: FollowPosition;
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: FollowOptions, file: FileHandle, position: FollowPosition) {
    this.#options = options;
    this.#file = file;
    this.#position = position;
  }

  /**
   * Appends all that has been committed since. Calls queue up.
   * @returns rows appended
   * @throws EnvironmentError when the disk is full: nothing is lost, the next call goes on from the same place
   */
  async catchUp(): Promise<number> {
    const work = this.#working.then(() => this.#appendNew());
    this.#working = work.catch(() => undefined);
    return work;
  }

  /** Appends the rest and closes the file. */
  async close(): Promise<void> {
    try {
      await this.catchUp();
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  /** Closes the file as it is: what is missing comes when it is opened again. */
  async release(): Promise<void> {
    await this.#working;
    await this.#file.close();
  }

  async #appendNew(): Promise<number> {
    let appended = 0;
    for (;;) {
      const rows = await this.#options.page({ afterSeq: this.#position.seq, limit: ROWS_PER_PAGE });
      const last = rows.at(-1);
      if (last === undefined) return appended;
      appended += await this.#append(rows, last.seq);
    }
  }

  async #append(rows: readonly StoredRow[], seq: number): Promise<number> {
    const { isFinal, destination, position } = this.#options;
    const final = isFinal === undefined ? rows : rows.filter(isFinal);
    const lines = Buffer.from(final.map((row) => `${onOneLine(row.json)}\n`).join(''));
    try {
      // What a write that failed half-way left behind goes first.
      await this.#file.truncate(this.#position.bytes);
      await this.#file.appendFile(lines);
    } catch (error) {
      throw writeProblem(error, destination.path, IN_STORE);
    }
    const next = { seq, bytes: this.#position.bytes + lines.length };
    await position.save(next);
    this.#position = next;
    return final.length;
  }
}
