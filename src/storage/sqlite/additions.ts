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

/** When, and whether all of them go to the front whatever each says. */
export type AddOptions = { nowMs: number; forefront: boolean };

/**
 * Puts new requests into the queue. Their rows in `ready` are written together, which is cheaper than one by one: what
 * one transaction inserts has consecutive row ids, and a row of those with one rank is written by one statement.
 */
export class Additions {
  readonly #rows: RequestRows;
  readonly #hosts: HostTable;
  readonly #counters: QueueCounters;
  readonly #insertReady: RowStatement;
  /** What was inserted since the last flush: row ids from `first` to `last`, all of one rank; 0 = nothing. */
  #first = 0;
  #last = 0;
  #rank = ORDINARY_RANK;

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
  add(request: NewRequest, { nowMs, forefront }: AddOptions): Added {
    const hostId = this.#hosts.idOf(request.host);
    const { rowId, isNew } = this.#rows.findOrInsert(request, hostId, nowMs);
    if (isNew) this.#note(rowId, hostId, forefront || request.forefront ? forefrontRank(nowMs) : ORDINARY_RANK);
    return { isNew, rowId };
  }

  /** Makes what was added since the last call ready. */
  flush(): void {
    if (this.#first > 0) this.#insertReady.run(this.#rank, this.#first, this.#last);
    this.#reset();
  }

  #note(rowId: number, hostId: number, rank: number): void {
    if (rank !== this.#rank) this.flush();
    if (this.#first === 0) this.#first = rowId;
    this.#last = rowId;
    this.#rank = rank;
    this.#counters.added(hostId);
  }

  #reset(): void {
    this.#first = 0;
    this.#last = 0;
  }
}
