import type { UnitOfWork } from '../store.ts';
import type { Transaction } from './database.ts';
import type { RunTables } from './run-tables.ts';

type ValueWrite = UnitOfWork['values'][number];

/** Within a transaction: writes values; of several for one key the last counts. */
export function writeValues(transaction: Transaction, { value }: RunTables, writes: readonly ValueWrite[]): void {
  if (writes.length === 0) return;
  // In one order for all, as for every row that several workers write.
  const last = [...new Map(writes.map(({ key, json }) => [key, json]))].sort(([a], [b]) => (a < b ? -1 : 1));
  const set = last.filter(([, json]) => json !== null);
  const gone = last.filter(([, json]) => json === null).map(([key]) => key);
  if (set.length > 0)
    transaction.run(
      `INSERT INTO ${value} (key, json) SELECT * FROM unnest($1::text[], $2::text[])
       ON CONFLICT (key) DO UPDATE SET json = excluded.json`,
      [set.map(([key]) => key), set.map(([, json]) => json)],
    );
  if (gone.length > 0) transaction.run(`DELETE FROM ${value} WHERE key = ANY($1)`, [gone]);
}

/** Within a transaction: adds columns that are new, in first-seen order. */
export function writeColumns(
  transaction: Transaction,
  tables: RunTables,
  columns: readonly { datasetId: number; path: string }[],
): void {
  if (columns.length === 0) return;
  const { dataset_column, dataset_column_position } = tables;
  transaction.run(
    `INSERT INTO ${dataset_column} (dataset_id, path, position)
     SELECT dataset_id, path, position FROM (
       SELECT nextval('${dataset_column_position}') AS position, * FROM (
         SELECT * FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS u(dataset_id, path, place) ORDER BY place) u
     ) numbered ORDER BY dataset_id, path, position ON CONFLICT DO NOTHING`,
    [columns.map(({ datasetId }) => datasetId), columns.map(({ path }) => path)],
  );
}
