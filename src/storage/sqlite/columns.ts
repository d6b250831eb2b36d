import type { RowStatement, SqliteDatabase } from './database.ts';
import type { RecordTables } from './records.ts';

/** Flattened column paths of datasets, in first-seen order. */
export class ColumnTable {
  readonly #records: RecordTables;
  readonly #insert: RowStatement;
  readonly #select: RowStatement;

  constructor(database: SqliteDatabase, records: RecordTables) {
    this.#records = records;
    this.#insert = database.prepareRows(
      `INSERT INTO dataset_column (dataset_id, position, path)
       SELECT ?1, coalesce(max(position), 0) + 1, ?2 FROM dataset_column WHERE dataset_id = ?1 ON CONFLICT DO NOTHING`,
    );
    this.#select = database.prepareRows('SELECT path FROM dataset_column WHERE dataset_id = ? ORDER BY position');
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
