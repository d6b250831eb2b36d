import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { copyDatabase } from '../storage/sqlite/copy-database.ts';
import { loadBlob, saveBlob } from './blob.ts';
import type { PlatformRecords } from './platform.ts';

const RECORD = 'MILLRACE-RUN';
// Saving takes at most this share of the time: a large run is saved less often.
const MOST_SHARE = 0.05;

/** The run's SQLite file in the key-value store: where a run goes on after its container is gone. */
export class RunSnapshot {
  readonly #records: PlatformRecords;
  readonly #clock: Clock;
  /** The run's SQLite file, absolute. */
  readonly #database: string;
  #saving: Promise<void> = Promise.resolve();
  #isSaving = false;
  #notBeforeMs = 0;

  constructor(options: { records: PlatformRecords; clock: Clock; database: string }) {
    this.#records = options.records;
    this.#clock = options.clock;
    this.#database = options.database;
  }

  /** Puts the saved file where the run's is. @returns whether there was one */
  async restore(): Promise<boolean> {
    await mkdir(dirname(this.#database), { recursive: true });
    return loadBlob(this.#records, RECORD, this.#database);
  }

  /** Saves the run as it is now, unless one is being saved or it was saved lately, compared to what it takes. */
  async saveNowAndThen(): Promise<void> {
    if (this.#isSaving || this.#clock.nowMs() < this.#notBeforeMs) return;
    await this.save();
  }

  /** Saves the run as it is now, after one that is being saved. */
  save(): Promise<void> {
    const saving = this.#saving.then(() => this.#save());
    this.#saving = saving.catch(() => undefined);
    return saving;
  }

  async #save(): Promise<void> {
    this.#isSaving = true;
    const startedMs = this.#clock.nowMs();
    const copy = `${this.#database}.copy`;
    try {
      await rm(copy, { force: true });
      await copyDatabase({ from: this.#database, to: copy });
      await saveBlob(this.#records, RECORD, copy);
    } finally {
      await rm(copy, { force: true });
      this.#isSaving = false;
      const endedMs = this.#clock.nowMs();
      this.#notBeforeMs = endedMs + (endedMs - startedMs) / MOST_SHARE;
    }
  }
}
