import type { CommitResult, UnitOfWork } from '../store.ts';

type Batch = {
  units: readonly UnitOfWork[];
  resolve: (results: CommitResult[]) => void;
  reject: (error: unknown) => void;
};

// Beyond it a transaction only holds its rows for longer.
const MOST_UNITS = 1_000;

/**
 * Commits one transaction at a time; what comes meanwhile goes together in the next one. The further the database is away,
 * the larger the batches.
 */
export class CommitLine {
  readonly #commit: (units: readonly UnitOfWork[]) => Promise<CommitResult[]>;
  #waiting: Batch[] = [];
  #isCommitting = false;

  constructor(commit: (units: readonly UnitOfWork[]) => Promise<CommitResult[]>) {
    this.#commit = commit;
  }

  commit(units: readonly UnitOfWork[]): Promise<CommitResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ units, resolve, reject });
      if (!this.#isCommitting) void this.#goOn();
    });
  }

  async #goOn(): Promise<void> {
    this.#isCommitting = true;
    for (let batches = this.#next(); batches.length > 0; batches = this.#next()) await this.#commitAll(batches);
    this.#isCommitting = false;
  }

  #next(): Batch[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ units }, index) => {
      count += units.length;
      return index > 0 && count > MOST_UNITS;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #commitAll(batches: readonly Batch[]): Promise<void> {
    try {
      const results = await this.#commit(batches.flatMap(({ units }) => units));
      let start = 0;
      for (const { units, resolve } of batches) {
        resolve(results.slice(start, start + units.length));
        start += units.length;
      }
    } catch (error) {
      for (const { reject } of batches) reject(error);
    }
  }
}
