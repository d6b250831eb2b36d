import type { NewRecord } from '../store.ts';
import type { CounterChanges } from './counters.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import { LOCK_CLASS } from './migrations.ts';
import type { RunTables } from './run-tables.ts';

/** Rows to append, with the request each came from; null = none. */
export type Row = { datasetId: number; requestId: number | null; json: string };

/** Datasets by name: ids are given once and remembered. */
export class DatasetTable {
  readonly #database: PostgresDatabase;
  readonly #tables: RunTables;
  readonly #ids = new Map<string, number>();

  constructor(database: PostgresDatabase, tables: RunTables) {
    this.#database = database;
    this.#tables = tables;
  }

  /** Begins those that are not there yet, in the order given. @returns the ids by name */
  async idsOf(names: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    for (const name of new Set(names)) {
      if (this.#ids.has(name)) continue;
      await this.#database.rows(`INSERT INTO ${this.#tables.dataset} (name) VALUES ($1) ON CONFLICT DO NOTHING`, [
        name,
      ]);
      await this.find(name);
    }
    return this.#ids;
  }

  /** @returns the dataset's id as it is now; null when there is none */
  async find(name: string): Promise<number | null> {
    const sql = `SELECT id FROM ${this.#tables.dataset} WHERE name = $1`;
    const [row] = await this.#database.rows<{ id: number }>(sql, [name]);
    if (row === undefined) this.#ids.delete(name);
    else this.#ids.set(name, row.id);
    return row?.id ?? null;
  }

  async list(): Promise<{ id: number; name: string }[]> {
    return this.#database.rows(`SELECT id, name FROM ${this.#tables.dataset} ORDER BY id`);
  }

  forget(name: string): void {
    this.#ids.delete(name);
  }
}

/**
 * Rows of all datasets. They are numbered by one sequence, so that nobody waits for a counter; whoever reads what has been
 * written so far first lets those finish who have a number already (`readableUpTo`).
 */
export class RecordTable {
  readonly #database: PostgresDatabase;
  readonly #tables: RunTables;
  readonly #runId: number;

  constructor(database: PostgresDatabase, tables: RunTables, runId: number) {
    this.#database = database;
    this.#tables = tables;
    this.#runId = runId;
  }

  /** Within a transaction, before it appends: readers wait for its end. */
  announce(transaction: Transaction): void {
    transaction.run('SELECT pg_advisory_xact_lock_shared($1, $2)', [LOCK_CLASS, this.#runId]);
  }

  /** Within a transaction that was announced. */
  append(transaction: Transaction, rows: readonly Row[], changes: CounterChanges): void {
    if (rows.length === 0) return;
    transaction.run(`${this.appendSql(1)}`, rowColumns(rows));
    for (const { datasetId } of rows) changes.rows(datasetId, 1);
  }

  /** Appends rows in the order given: parameters `first` to `first` + 2, see `rowColumns`. */
  appendSql(first: number): string {
    const { dataset_row, dataset_row_seq } = this.#tables;
    return `INSERT INTO ${dataset_row} (dataset_id, seq, request_id, json)
      SELECT dataset_id, nextval('${dataset_row_seq}'), request_id, json FROM (
        SELECT * FROM unnest($${first}::int[], $${first + 1}::bigint[], $${first + 2}::text[])
          WITH ORDINALITY AS u(dataset_id, request_id, json, place) ORDER BY place) u`;
  }

  /** @returns the seq up to which all rows that will ever be there are there: whoever is numbered, is committed or gone */
  async readableUpTo(): Promise<number> {
    return this.#database.transaction(async (transaction) => {
      transaction.run('SELECT pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, this.#runId]);
      const sql = `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS seq FROM ${this.#tables.dataset_row_seq}`;
      const [row] = await transaction.rows<{ seq: number }>(sql);
      return row?.seq ?? 0;
    });
  }

  /** Within a transaction: takes out what earlier handlings of requests have left. */
  async remove(
    transaction: Transaction,
    left: readonly { requestId: number; spans: readonly number[] }[],
    changes: CounterChanges,
  ): Promise<void> {
    const ranges = left.flatMap(({ requestId, spans }) => rangesOf(spans).map((range) => ({ requestId, ...range })));
    if (ranges.length === 0) return;
    const { dataset, dataset_row } = this.#tables;
    const rows = await transaction.rows<{ dataset_id: number }>(
      `DELETE FROM ${dataset_row} r USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS u(request_id, first, last), ${dataset} d
       WHERE r.dataset_id = d.id AND r.seq BETWEEN u.first AND u.last AND r.request_id = u.request_id RETURNING r.dataset_id`,
      [ranges.map(({ requestId }) => requestId), ranges.map(({ first }) => first), ranges.map(({ last }) => last)],
    );
    for (const { dataset_id } of rows) changes.rows(dataset_id, -1);
  }
}

/** The parameters of `appendSql`. */
export function rowColumns(rows: readonly Row[]): [number[], (number | null)[], string[]] {
  return [rows.map(({ datasetId }) => datasetId), rows.map(({ requestId }) => requestId), rows.map(({ json }) => json)];
}

/** Records of one request, as rows. */
export function rowsOf(
  records: readonly NewRecord[],
  requestId: number | null,
  datasetIds: ReadonlyMap<string, number>,
): Row[] {
  return records.map(({ dataset, json }) => ({ datasetId: datasetIds.get(dataset) as number, requestId, json }));
}

function rangesOf(spans: readonly number[]): { first: number; last: number }[] {
  const ranges = [];
  for (let i = 0; i + 1 < spans.length; i += 2)
    ranges.push({ first: spans[i] as number, last: spans[i + 1] as number });
  return ranges;
}
