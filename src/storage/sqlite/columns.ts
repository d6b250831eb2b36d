import type { RowStatement, SqliteDatabase } from './database.ts';
import type { RecordTables } from './records.ts';

/** Adds a path (?2) to a dataset's columns (?1), unless it is there. */
export const ADD_COLUMN = `INSERT INTO dataset_column (dataset_id, position, path)
   SELECT ?1, coalesce(max(position), 0) + 1, ?2 FROM dataset_column WHERE dataset_id = ?1 ON CONFLICT DO NOTHING`;
/** A dataset's columns, in first-seen order. */
export const SELECT_COLUMNS = 'SELECT path FROM dataset_column WHERE dataset_id = ? ORDER BY position';

/** Flattened column paths of datasets, in first-seen order. */
export class ColumnTable {
  readonly #records: RecordTables;
  readonly #insert: RowStatement;
  readonly #select: RowStatement;

  constructor(database: SqliteDatabase, records: RecordTables) {
    this.#records = records;
    this.#insert = database.prepareRows(ADD_COLUMN);
    this.#select = database.prepareRows(SELECT_COLUMNS);
  }

  /** Within a write transaction. */
  addAll(columns: readonly { dataset: string; path: string }[], nowMs: number): void {
    for (const { dataset, path } of columns) this.#insert.run(this.#records.idOf(dataset, nowMs), path);
  }

  of(dataset: string): string[] {
    const id = this.#records.find(dataset);
    return id === null ? [] : this.#select.all(id).map(([path]) => path as string);
  }
}
