import type { NewRequest } from '../store.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import { indexKeyOf } from './key-index.ts';

export const DEFAULT_METHOD = 'GET';

/** The columns a NewRequest is read back from, in the order `newRequestOf` takes them. */
export const REQUEST_COLUMNS = 'request.url, request.unique_key, request.method, request.label, request.data';

/** @returns the request as it was added, from `REQUEST_COLUMNS` starting at `offset` of a row */
export function newRequestOf(row: readonly unknown[], offset: number, host: string): NewRequest {
  const url = row[offset] as string;
  return {
    uniqueKey: (row[offset + 1] as string | null) ?? url,
    url,
    host,
    method: (row[offset + 2] as string | null) ?? DEFAULT_METHOD,
    label: row[offset + 3] as string | null,
    data: row[offset + 4] as string | null,
  };
}

/** The table of requests of one queue: finding by unique key, adding. */
export class RequestRows {
  readonly #queueId: number;
  readonly #find: RowStatement;
  readonly #insert: RowStatement;

  constructor(database: SqliteDatabase, queueId: number) {
    this.#queueId = queueId;
    this.#find = database.prepareRows(
      `SELECT id, url, unique_key FROM request
       WHERE queue_id = ? AND template = ? AND digits = ? AND crawlee_id IS NULL`,
    );
    this.#insert = database.prepareRows(
      `INSERT INTO request (queue_id, template, digits, host_id, added_at, url, unique_key, method, label, data)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  /** @returns the row id; null when the key is new */
  find(uniqueKey: string): number | null {
    const { template, digits } = indexKeyOf(uniqueKey);
    return this.#findAt(template, digits, uniqueKey);
  }

  /** Within a write transaction. */
  findOrInsert(request: NewRequest, hostId: number, nowMs: number): { rowId: number; isNew: boolean } {
    const { uniqueKey, url, method, label, data } = request;
    const { template, digits } = indexKeyOf(uniqueKey);
    const found = this.#findAt(template, digits, uniqueKey);
    if (found !== null) return { rowId: found, isNew: false };
    const { lastInsertRowid } = this.#insert.run(
      this.#queueId,
      template,
      digits,
      hostId,
      nowMs,
      url,
      uniqueKey === url ? null : uniqueKey,
      method === DEFAULT_METHOD ? null : method,
      label,
      data,
    );
    return { rowId: Number(lastInsertRowid), isNew: true };
  }

  #findAt(template: number, digits: number, uniqueKey: string): number | null {
    const first = this.#find.get(this.#queueId, template, digits);
    if (!first) return null;
    if (keyOfRow(first) === uniqueKey) return first[0] as number;
    const rows = this.#find.all(this.#queueId, template, digits);
    return (rows.find((row) => keyOfRow(row) === uniqueKey)?.[0] as number | undefined) ?? null;
  }
}

function keyOfRow(row: readonly unknown[]): unknown {
  return row[2] ?? row[1];
}
