import { rm } from 'node:fs/promises';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { UsageError } from '../core/errors.ts';
import { hostOf } from '../core/host.ts';
import type { Ports } from '../core/ports.ts';
import { whileUnused } from './run-lock.ts';
import { openRun, runExists, runPaths } from './runs.ts';
import { explainSqliteError } from './sqlite/errors.ts';
import { tableOf } from './sqlite/records.ts';
import { type SalvagedTable, salvageTable } from './sqlite/salvage.ts';

export type RecoverOptions = {
  storageDir: string;
  /** The damaged run; it is only read. */
  from: string;
  /** The run to make of it; must not exist. */
  to: string;
  ports: Ports;
};

/** What came over, by kind: rows read, and stretches of the file that could not be. */
export type RecoveredRun = {
  requests: SalvagedTable;
  handled: SalvagedTable;
  records: Record<string, SalvagedTable>;
  /** Requests that will be fetched again, those included whose acknowledgement was lost. */
  pending: number;
};

type Row = SQLInputValue[];

const REQUEST_COLUMNS = [
  'queue_id',
  'template',
  'digits',
  'host_id',
  'added_at',
  'url',
  'unique_key',
  'method',
  'label',
  'data',
  'crawlee_id',
  'order_no',
  'patch',
  'retry_token',
  'retry_added',
  'retry_records',
];
const URL_COLUMN = 1 + REQUEST_COLUMNS.indexOf('url');
const HOST_COLUMN = 1 + REQUEST_COLUMNS.indexOf('host_id');
const DONE_COLUMNS = ['handled_at', 'result', 'token', 'added', 'reason', 'patch', 'records'];
const DATASET_COLUMNS = ['crawlee_id', 'name', 'created_at', 'modified_at', 'accessed_at', 'count', 'next_seq'];

/** Tables that are taken over row by row as they are. */
const PLAIN_TABLES = {
  run_value: ['key', 'json'],
  key_value_store: ['crawlee_id', 'name', 'created_at', 'modified_at', 'accessed_at'],
  key_value_record: ['store_id', 'key', 'content_type', 'value'],
};

/**
 * Makes a new run of what can be read of a damaged one. What is handled stays handled; a record stays if the request it
 * came from does, so that nothing is doubled when the rest is crawled. Crawlee's own request queues are left out.
 * @throws UsageError when there is no damaged run, or the new name is taken
 * @throws EnvironmentError when the damaged run is in use, or nothing of it can be read
 */
export async function recoverRun(options: RecoverOptions): Promise<RecoveredRun> {
  const { storageDir, from, to, ports } = options;
  const damaged = runPaths(storageDir, from);
  if (!(await runExists(storageDir, from))) throw new UsageError(`There is no run "${from}" in ${storageDir}`);
  if (await runExists(storageDir, to)) throw new UsageError(`There is a run "${to}" already: use another name`);
  const created = await openRun({ storageDir, name: to, durability: 'normal', ports });
  await created.close();
  const lock = { file: damaged.lock, title: `Run "${from}"`, clock: ports.clock };
  try {
    return await whileUnused(lock, async () => copyReadable(damaged.database, created.paths.database));
  } catch (error) {
    await rm(created.paths.folder, { recursive: true });
    throw error;
  }
}

function copyReadable(fromFile: string, toFile: string): RecoveredRun {
  const source = new DatabaseSync(fromFile, { readOnly: true });
  const target = new DatabaseSync(toFile);
  try {
    target.exec('BEGIN IMMEDIATE; DELETE FROM queue WHERE id <> 1');
    const copy = new Copy(source, target);
    const requests = copy.requests();
    const handled = copy.handled();
    const records = copy.datasets();
    for (const [table, columns] of Object.entries(PLAIN_TABLES)) copy.table(table, columns);
    const pending = copy.settle();
    target.exec('COMMIT');
    return { requests, handled, records, pending };
  } catch (error) {
    throw explainSqliteError(error, fromFile);
  } finally {
    source.close();
    target.close();
  }
}

class Copy {
  readonly #source: DatabaseSync;
  readonly #target: DatabaseSync;

  constructor(source: DatabaseSync, target: DatabaseSync) {
    this.#source = source;
    this.#target = target;
  }

  table(table: string, columns: readonly string[]): SalvagedTable {
    const insert = this.#insertInto(table, ['rowid', ...columns]);
    return salvageTable(this.#source, { table, columns }, (row) => insert.run(...row));
  }

  requests(): SalvagedTable {
    const hosts = new Map<string, number>();
    const insertHost = this.#insertInto('host', ['id', 'queue_id', 'name']);
    const insert = this.#insertInto('request', ['id', ...REQUEST_COLUMNS]);
    return salvageTable(this.#source, { table: 'request', columns: REQUEST_COLUMNS }, (row) => {
      if (row[1] !== 1) return;
      const host = hostOf(String(row[URL_COLUMN]));
      const hostId = hosts.get(host) ?? hosts.size + 1;
      if (!hosts.has(host)) insertHost.run(hostId, 1, host);
      hosts.set(host, hostId);
      insert.run(...row.with(HOST_COLUMN, hostId));
    });
  }

  /** An acknowledgement without its request is of no use: the request may be added and crawled again. */
  handled(): SalvagedTable {
    const insert = this.#insertInto('done', ['request_id', ...DONE_COLUMNS]);
    const isRequest = this.#target.prepare('SELECT 1 FROM request WHERE id = ?');
    return salvageTable(this.#source, { table: 'done', columns: DONE_COLUMNS }, (row) => {
      if (isRequest.get(row[0]!)) insert.run(...row);
    });
  }

  datasets(): Record<string, SalvagedTable> {
    const result: Record<string, SalvagedTable> = {};
    const datasets: Row[] = [];
    this.#salvageDatasets((row) => datasets.push(row));
    for (const row of datasets) {
      const [id, , name] = row as [number, string, string | null];
      this.#insertInto('dataset', ['id', ...DATASET_COLUMNS]).run(...row);
      result[name ?? String(id)] = this.#rows(id);
    }
    return result;
  }

  /** Waiting is everything that is not handled; counts are counted anew. @returns how many wait */
  settle(): number {
    this.#target.exec(`
      INSERT INTO ready (queue_id, host_id, rank, request_id, claims)
      SELECT 1, host_id, 0, id, 0 FROM request WHERE id NOT IN (SELECT request_id FROM done WHERE result > 0);
      UPDATE queue SET (total, succeeded, failed, skipped) = (
        SELECT count(*), count(*) FILTER (WHERE result = 1), count(*) FILTER (WHERE result = 2),
          count(*) FILTER (WHERE result = 3) FROM request LEFT JOIN done ON request_id = request.id);
      CREATE TEMP TABLE by_host AS SELECT host_id, count(*) FILTER (WHERE coalesce(result, 0) = 0) AS pending,
        count(*) FILTER (WHERE result = 1) AS succeeded, count(*) FILTER (WHERE result = 2) AS failed,
        count(*) FILTER (WHERE result = 3) AS skipped
        FROM request LEFT JOIN done ON request_id = request.id GROUP BY host_id;
      UPDATE host SET pending = by_host.pending, succeeded = by_host.succeeded, failed = by_host.failed,
        skipped = by_host.skipped FROM by_host WHERE host_id = host.id;
      DROP TABLE by_host;
      INSERT INTO reason_count (queue_id, result, reason, count)
      SELECT 1, result, reason, count(*) FROM done WHERE result > 0 AND reason IS NOT NULL GROUP BY result, reason;`);
    return Number(Object.values(this.#target.prepare('SELECT count(*) FROM ready').get()!)[0]);
  }

  #salvageDatasets(take: (row: Row) => void): void {
    salvageTable(this.#source, { table: 'dataset', columns: DATASET_COLUMNS }, take);
  }

  /** Rows of requests that will be crawled again are left out: they come again. */
  #rows(datasetId: number): SalvagedTable {
    const table = tableOf(datasetId);
    this.#target.exec(`CREATE TABLE ${table} (seq INTEGER PRIMARY KEY, request_id INTEGER, json TEXT NOT NULL)`);
    const insert = this.#insertInto(table, ['seq', 'request_id', 'json']);
    const isHandled = this.#target.prepare('SELECT 1 FROM done WHERE request_id = ?');
    const found = salvageTable(this.#source, { table, columns: ['request_id', 'json'] }, (row) => {
      if (row[1] === null || isHandled.get(row[1]!)) insert.run(...row);
    });
    this.#target.exec(
      `UPDATE dataset SET count = (SELECT count(*) FROM ${table}),
       next_seq = max(next_seq, (SELECT coalesce(max(seq), 0) + 1 FROM ${table})) WHERE id = ${datasetId}`,
    );
    return found;
  }

  #insertInto(table: string, columns: readonly string[]) {
    const values = columns.map(() => '?').join(', ');
    return this.#target.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`);
  }
}
