import type { RowStatement, SqliteDatabase } from './database.ts';

// Far more than are ever delayed at once; beyond it the answer is a time a little too early, which does no harm.
const MOST_LOOKED_AT = 1_000;

export type Delay = { requestId: number; hostId: number; dueAtMs: number; rank: number; claims: number };

/** Requests of one queue that are not due yet. */
export class Delays {
  readonly #queueId: number;
  readonly #insert: RowStatement;
  readonly #promote: RowStatement;
  readonly #deleteDue: RowStatement;
  readonly #selectFirst: RowStatement;
  readonly #selectAll: RowStatement;
  readonly #deleteAll: RowStatement;

  constructor(database: SqliteDatabase, queueId: number) {
    this.#queueId = queueId;
    this.#insert = database.prepareRows(
      'INSERT INTO delayed (due_at, request_id, queue_id, host_id, rank, claims) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#promote = database.prepareRows(
      `INSERT INTO ready (queue_id, host_id, rank, request_id, claims)
       SELECT queue_id, host_id, rank, request_id, claims FROM delayed WHERE due_at <= ?`,
    );
    this.#deleteDue = database.prepareRows('DELETE FROM delayed WHERE due_at <= ?');
    this.#selectFirst = database.prepareRows(
      'SELECT due_at, host_id FROM delayed WHERE queue_id = ?+0 ORDER BY due_at, request_id LIMIT ?+0',
    );
    this.#selectAll = database.prepareRows('SELECT due_at, request_id, host_id, rank, claims FROM delayed');
    this.#deleteAll = database.prepareRows('DELETE FROM delayed');
  }

  put({ requestId, hostId, dueAtMs, rank, claims }: Delay): void {
    this.#insert.run(dueAtMs, requestId, this.#queueId, hostId, rank, claims);
  }

  /** Makes those ready whose time has come. */
  promote(nowMs: number): void {
    if (this.#promote.run(nowMs).changes > 0) this.#deleteDue.run(nowMs);
  }

  /** @returns when the first one is due whose host is not skipped, epoch ms; null when none waits */
  earliest(isSkipped: (hostId: number) => boolean): number | null {
    const rows = this.#selectFirst.all(this.#queueId, MOST_LOOKED_AT) as [number, number][];
    const first = rows.find(([, hostId]) => !isSkipped(hostId));
    if (first) return first[0];
    return rows.length === MOST_LOOKED_AT ? rows[rows.length - 1]![0] : null;
  }

  /** The wall clock was set back: nobody waits longer for it. */
  shift(stepMs: number): void {
    const rows = this.#selectAll.all() as [number, number, number, number, number][];
    this.#deleteAll.run();
    for (const [dueAt, requestId, hostId, rank, claims] of rows)
      this.put({ requestId, hostId, dueAtMs: dueAt + stepMs, rank, claims });
  }
}
