import { ColumnTracker } from '../export/flatten.ts';
import type { DatasetStore } from '../storage/store.ts';

const NONE: readonly never[] = [];

/** The columns of every dataset of a run, kept while records are written. */
export class DatasetColumns {
  readonly #trackers = new Map<string, ColumnTracker>();
  readonly #kept: { dataset: string; path: string }[] = [];

  /** Goes on where the run's earlier process left off. */
  static async load(datasets: DatasetStore): Promise<DatasetColumns> {
    const columns = new DatasetColumns();
    for (const { name } of await datasets.list()) {
      columns.#trackers.set(name, new ColumnTracker(await datasets.columns(name)));
    }
    return columns;
  }

  /** Columns that were observed in records which then were not stored: kept for the next that are. */
  keep(columns: readonly { dataset: string; path: string }[]): void {
    this.#kept.push(...columns);
  }

  /** @returns what was kept, to be stored now */
  takeKept(): readonly { dataset: string; path: string }[] {
    return this.#kept.length === 0 ? NONE : this.#kept.splice(0);
  }

  /**
   * @param record the value that `json` was made of
   * @returns columns of the record seen for the first time in its dataset
   */
  observe(dataset: string, record: unknown, json: string): readonly string[] {
    let tracker = this.#trackers.get(dataset);
    if (tracker === undefined) {
      tracker = new ColumnTracker();
      this.#trackers.set(dataset, tracker);
    }
    return tracker.addValue(record) ?? tracker.add(json);
  }
}
