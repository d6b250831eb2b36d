import { ColumnTracker } from '../../export/flatten.ts';
import { ADD_COLUMN, SELECT_COLUMNS } from '../sqlite/columns.ts';
import type { RowStatement, SqliteDatabase } from '../sqlite/database.ts';
import type { StorageRow } from './storage-registry.ts';

/** The columns of datasets that Crawlee pushes to, kept as they are pushed: an export then starts at once. */
export class PushedColumns {
  readonly #insert: RowStatement;
  readonly #select: RowStatement;
  /** By Crawlee's id: a row's may be given again when its dataset is gone. */
  readonly #trackers = new Map<string, ColumnTracker>();

  constructor(database: SqliteDatabase) {
    this.#insert = database.prepareRows(ADD_COLUMN);
    this.#select = database.prepareRows(SELECT_COLUMNS);
    // What was undone is to be kept with the next that is pushed.
    database.onRollback(() => this.#trackers.clear());
  }

  /** Within a write transaction: keeps the columns of items that are new. */
  keep(dataset: StorageRow, jsons: readonly string[]): void {
    let tracker = this.#trackers.get(dataset.id);
    if (tracker === undefined) {
      tracker = new ColumnTracker(this.of(dataset));
      this.#trackers.set(dataset.id, tracker);
    }
    for (const json of jsons) for (const path of tracker.add(json)) this.#insert.run(dataset.rowId, path);
  }

  /** @returns all columns of the dataset, in first-seen order */
  of({ rowId }: StorageRow): string[] {
    return this.#select.all(rowId).map(([path]) => path as string);
  }
}
