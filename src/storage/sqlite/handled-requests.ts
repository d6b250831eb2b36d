import { requestIdOf } from '../request-id.ts';
import type { HandledPage, RequeueSelection } from '../store.ts';
import type { Cell, RowStatement, SqliteDatabase } from './database.ts';
import type { HostTable } from './hosts.ts';
import { newRequestOf, REQUEST_COLUMNS } from './request-rows.ts';
import { ROWS_A_STEP, SELECTED_REQUESTS, selectionParameters } from './requeue.ts';

/** Reads handled requests without changing them. */
export class HandledRequests {
  readonly #queueId: number;
  readonly #hosts: HostTable;
  readonly #select: RowStatement;

  constructor(database: SqliteDatabase, parts: { queueId: number; hosts: HostTable }) {
    this.#queueId = parts.queueId;
    this.#hosts = parts.hosts;
    this.#select = database.prepareRows(
      `SELECT ${REQUEST_COLUMNS}, host_id, handled_at, done.patch, reason ${SELECTED_REQUESTS} ORDER BY request_id`,
    );
  }

  /** Those of one step over the ids from `fromId` on; `lastId` is the last one there is. */
  page(selection: RequeueSelection, fromId: number, lastId: number): HandledPage {
    const upTo = fromId + ROWS_A_STEP;
    const rows = this.#select.all(fromId, upTo, ...selectionParameters(selection, this.#queueId));
    return { requests: rows.map((row) => this.#requestOf(row)), nextId: upTo < lastId ? upTo : null };
  }

  #requestOf(row: readonly Cell[]): HandledPage['requests'][number] {
    const request = newRequestOf(row, 0, this.#hosts.nameOf(row[5] as number));
    return {
      ...request,
      id: requestIdOf(request.uniqueKey),
      handledAtMs: row[6] as number,
      patch: row[7] as string | null,
      reason: row[8] as string | null,
    };
  }
}
