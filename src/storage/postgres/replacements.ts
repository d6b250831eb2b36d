import type { RowReplacement, UnitOfWork } from '../store.ts';
import { addRequests, countAdded } from './additions.ts';
import { CounterChanges, type Counters } from './counters.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import type { HostTable } from './hosts.ts';
import { type DatasetTable, type RecordTable, type Row, rowColumns, rowsOf } from './records.ts';
import type { RunTables } from './run-tables.ts';
import { writeColumns, writeValues } from './small-tables.ts';
import type { StoreTime } from './time.ts';

export type ReplacementParts = {
  database: PostgresDatabase;
  tables: RunTables;
  hosts: HostTable;
  datasets: DatasetTable;
  records: RecordTable;
  counters: Counters;
  time: StoreTime;
};

/** Rows of a dataset that others take the place of. */
export class Replacements {
  readonly #parts: ReplacementParts;

  constructor(parts: ReplacementParts) {
    this.#parts = parts;
  }

  async replace(
    datasetId: number,
    replacements: readonly RowReplacement[],
    columns: UnitOfWork['columns'],
  ): Promise<{ replaced: number; added: number }> {
    const { database, datasets, hosts, counters } = this.#parts;
    const names = [...replacements.flatMap(({ records }) => records), ...columns].map(({ dataset }) => dataset);
    const datasetIds = await datasets.idsOf(names);
    const hostIds = await hosts.idsOf(replacements.flatMap(({ requests }) => requests.map(({ host }) => host)));
    return database.transaction(async (transaction) => {
      const changes = new CounterChanges();
      this.#parts.records.announce(transaction);
      const taken = await this.#take(transaction, datasetId, replacements, changes);
      const rows = taken.flatMap(({ replacement, requestId }) => rowsOf(replacement.records, requestId, datasetIds));
      await this.#append(transaction, rows, changes);
      const work = taken.map(({ replacement }) => replacement);
      const requests = work.flatMap((replacement) => replacement.requests);
      const timeParameter = this.#parts.time.parameter;
      const addition = { requests, forefront: false, hostIds, timeParameter };
      const added =
        requests.length > 0 ? await addRequests(transaction, this.#parts.tables, addition) : new Set<number>();
      countAdded(changes, requests, added);
      writeValues(
        transaction,
        this.#parts.tables,
        work.flatMap(({ values }) => values),
      );
      const paths = columns.map(({ dataset, path }) => ({ datasetId: datasetIds.get(dataset) as number, path }));
      writeColumns(transaction, this.#parts.tables, paths);
      counters.write(transaction, changes);
      return { replaced: taken.length, added: added.size };
    });
  }

  async #take(
    transaction: Transaction,
    datasetId: number,
    replacements: readonly RowReplacement[],
    changes: CounterChanges,
  ): Promise<{ replacement: RowReplacement; requestId: number | null }[]> {
    const rows = await transaction.rows<{ seq: number; request_id: number | null }>(
      `DELETE FROM ${this.#parts.tables.dataset_row} WHERE dataset_id = $1 AND seq = ANY($2::bigint[]) RETURNING seq, request_id`,
      [datasetId, replacements.map(({ seq }) => seq)],
    );
    changes.rows(datasetId, -rows.length);
    const requestOf = new Map(rows.map(({ seq, request_id }) => [seq, request_id]));
    return replacements.flatMap((replacement) => {
      const requestId = requestOf.get(replacement.seq);
      return requestId === undefined ? [] : [{ replacement, requestId }];
    });
  }

  /** What is written belongs to the request of the row: it is replaced with it should the request be handled anew. */
  async #append(transaction: Transaction, rows: readonly Row[], changes: CounterChanges): Promise<void> {
    if (rows.length === 0) return;
    const { records, tables } = this.#parts;
    transaction.run(
      `WITH rows AS (${records.appendSql(1)} RETURNING request_id, seq),
         spans AS (SELECT request_id, min(seq) AS first, max(seq) AS last FROM rows GROUP BY request_id)
       UPDATE ${tables.done} d SET spans = coalesce(d.spans, '{}') || ARRAY[s.first, s.last]
       FROM spans s WHERE d.request_id = s.request_id`,
      rowColumns(rows),
    );
    for (const { datasetId } of rows) changes.rows(datasetId, 1);
  }
}
