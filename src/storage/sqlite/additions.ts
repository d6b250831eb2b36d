import type { NewRequest } from '../store.ts';
import type { QueueCounters } from './counters.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import type { HostTable } from './hosts.ts';
import type { RequestRows } from './request-rows.ts';

/** Where ordinary requests stand among the ready ones; forefront before, by negative time. */
export const ORDINARY_RANK = 0;
/** Where retries stand that are due: before what was never tried. */
export const RETRY_RANK = -1;

/** @returns the rank of a request put to the front at that time: the latest comes first */
export function forefrontRank(nowMs: number): number {
  return -nowMs;
}

export type Added = { isNew: boolean; rowId: number };

/**
 * Puts new requests into the queue. Their rows in `ready` are written together by `flush`, which is cheaper than one by
 * one: all that one transaction inserts has consecutive row ids.
 */
export class Additions {
  readonly #rows: RequestRows;
  readonly #hosts: HostTable;
  readonly #counters: QueueCounters;
  readonly #insertReady: RowStatement;
  #first = 0;
  #last = 0;

  constructor(database: SqliteDatabase, parts: { rows: RequestRows; hosts: HostTable; counters: QueueCounters }) {
    this.#rows = parts.rows;
    this.#hosts = parts.hosts;
    this.#counters = parts.counters;
    this.#insertReady = database.prepareRows(
      `INSERT INTO ready (queue_id, host_id, rank, request_id, claims)
       SELECT queue_id, host_id, ?, id, 0 FROM request WHERE id BETWEEN ? AND ?`,
    );
    database.onRollback(() => this.#reset());
  }

  /** Within a write transaction that ends with `flush`. */
  add(request: NewRequest, nowMs: number): Added {
    const hostId = this.#hosts.idOf(request.host);
    const { rowId, isNew } = this.#rows.findOrInsert(request, hostId, nowMs);
    if (isNew) this.#note(rowId, hostId);
    return { isNew, rowId };
  }

  /** Makes what was added since the last call ready at the rank. */
  flush(rank: number): void {
    if (this.#first > 0) this.#insertReady.run(rank, this.#first, this.#last);
    this.#reset();
  }

  #note(rowId: number, hostId: number): void {
    if (this.#first === 0) this.#first = rowId;
    this.#last = rowId;
    this.#counters.added(hostId);
  }

  #reset(): void {
    this.#first = 0;
    this.#last = 0;
  }
}
