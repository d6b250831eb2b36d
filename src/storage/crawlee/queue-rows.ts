import { randomBytes } from 'node:crypto';
import type { RowStatement, SqliteDatabase } from '../sqlite/database.ts';

/** A request of a Crawlee queue, as stored. */
export type QueueRow = {
  rowId: number;
  json: string;
  isHandled: boolean;
  /** Crawlee's order: by absolute value a time in epoch ms, negative at the forefront; null once handled. */
  orderNo: number | null;
  /** Whether it is locked; then |orderNo| is when the lock ends. */
  isLocked: boolean;
  /** Where it stands, or stood before it was locked; null once handled. */
  rank: number | null;
};

export type NewQueueRow = { id: string; uniqueKey: string; url: string; json: string; orderNo: number | null };

export type QueueTotals = { total: number; handled: number };

// Crawlee's queues are one line each, not a ring of hosts.
const NO_HOST = 0;
const NO_CLAIMS = 0;
const TOKEN_BYTES = 6;
const SUCCEEDED = 1;

const RANK_OF_EXPIRED = 'CASE WHEN rank < 0 THEN -expires_at ELSE expires_at END';

/**
 * Crawlee's request queues in the tables of the run's queue. Where a request waits is decided by Crawlee's order number
 * alone. All methods run within a transaction of the caller.
 */
export class QueueRows {
  readonly #find: RowStatement;
  readonly #insert: RowStatement;
  readonly #update: RowStatement;
  readonly #setOrder: RowStatement;
  readonly #insertReady: RowStatement;
  readonly #deleteReady: RowStatement;
  readonly #insertLeased: RowStatement;
  readonly #deleteLeased: RowStatement;
  readonly #insertDone: RowStatement;
  readonly #deleteDone: RowStatement;
  readonly #deleteRequest: RowStatement;
  readonly #head: RowStatement;
  readonly #firstReady: RowStatement;
  readonly #expired: RowStatement;
  readonly #hasLocked: RowStatement;
  readonly #restoreAll: RowStatement;
  readonly #deleteAllLeased: RowStatement;
  readonly #totals: RowStatement;
  readonly #count: RowStatement;
  readonly #deleteQueue: readonly RowStatement[];
  readonly #worker = randomBytes(TOKEN_BYTES).readUIntBE(0, TOKEN_BYTES);

  constructor(database: SqliteDatabase) {
    this.#find = database.prepareRows(
      `SELECT request.id, data, done.request_id IS NOT NULL, order_no, leased.rank, leased.expires_at FROM request
       LEFT JOIN done ON done.request_id = request.id LEFT JOIN leased ON leased.request_id = request.id
       WHERE request.queue_id = ?+0 AND crawlee_id = ?||''`,
    );
    this.#insert = database.prepareRows(
      `INSERT INTO request (queue_id, template, digits, host_id, added_at, url, unique_key, data, crawlee_id, order_no)
       VALUES (?, 0, 0, ${NO_HOST}, ?, ?, ?, ?, ?, ?)`,
    );
    this.#update = database.prepareRows('UPDATE request SET data = ?, order_no = ? WHERE id = ?');
    this.#setOrder = database.prepareRows('UPDATE request SET order_no = ? WHERE id = ?');
    this.#insertReady = database.prepareRows(
      `INSERT INTO ready (queue_id, host_id, rank, request_id, claims) VALUES (?, ${NO_HOST}, ?, ?, ${NO_CLAIMS})`,
    );
    this.#deleteReady = database.prepareRows(
      `DELETE FROM ready WHERE queue_id = ? AND host_id = ${NO_HOST} AND rank = ? AND request_id = ?`,
    );
    this.#insertLeased = database.prepareRows(
      `INSERT INTO leased (request_id, token, worker, expires_at, queue_id, host_id, rank, claims)
       VALUES (?, 0, ?, ?, ?, ${NO_HOST}, ?, ${NO_CLAIMS})`,
    );
    this.#deleteLeased = database.prepareRows('DELETE FROM leased WHERE request_id = ?');
    this.#insertDone = database.prepareRows(
      `INSERT INTO done (request_id, handled_at, result, token, added) VALUES (?, ?, ${SUCCEEDED}, 0, 0)
       ON CONFLICT DO NOTHING`,
    );
    this.#deleteDone = database.prepareRows('DELETE FROM done WHERE request_id = ?');
    this.#deleteRequest = database.prepareRows('DELETE FROM request WHERE id = ?');
    this.#head = database.prepareRows(
      `SELECT data FROM (
         SELECT * FROM (SELECT request_id, rank FROM ready WHERE queue_id = ?1+0 AND host_id = ${NO_HOST}
                        ORDER BY rank, request_id LIMIT ?2+0)
         UNION ALL SELECT request_id, ${RANK_OF_EXPIRED} FROM leased WHERE queue_id = ?1+0)
       JOIN request ON request.id = request_id ORDER BY rank, request_id LIMIT ?2+0`,
    );
    this.#firstReady = database.prepareRows(
      `SELECT request_id, rank, data FROM ready CROSS JOIN request ON request.id = request_id
       WHERE ready.queue_id = ?+0 AND ready.host_id = ${NO_HOST} ORDER BY rank, request_id LIMIT ?+0`,
    );
    this.#expired = database.prepareRows(
      `SELECT request_id, ${RANK_OF_EXPIRED} FROM leased WHERE queue_id = ? AND expires_at <= ?`,
    );
    this.#restoreAll = database.prepareRows(
      `INSERT INTO ready (queue_id, host_id, rank, request_id, claims)
       SELECT queue_id, host_id, rank, request_id, claims FROM leased WHERE host_id = ${NO_HOST}`,
    );
    this.#deleteAllLeased = database.prepareRows(`DELETE FROM leased WHERE host_id = ${NO_HOST}`);
    this.#hasLocked = database.prepareRows('SELECT 1 FROM leased WHERE queue_id = ? LIMIT 1');
    this.#totals = database.prepareRows('SELECT total, succeeded FROM queue WHERE id = ?');
    this.#count = database.prepareRows('UPDATE queue SET total = total + ?, succeeded = succeeded + ? WHERE id = ?');
    this.#deleteQueue = [
      'DELETE FROM done WHERE request_id IN (SELECT id FROM request WHERE queue_id = ?)',
      'DELETE FROM ready WHERE queue_id = ?',
      'DELETE FROM leased WHERE queue_id = ?',
      'DELETE FROM request WHERE queue_id = ?',
      'DELETE FROM queue WHERE id = ?',
    ].map((sql) => database.prepareRows(sql));
  }

  find(queueId: number, id: string, nowMs: number): QueueRow | null {
    const row = this.#find.get(queueId, id);
    if (!row) return null;
    const [rowId, json, isHandled, ready, lockedRank, expiresAt] = row as [
      number,
      string,
      number,
      number | null,
      number | null,
      number | null,
    ];
    if (expiresAt === null)
      return { rowId, json, isHandled: isHandled === 1, orderNo: ready, isLocked: false, rank: ready };
    const orderNo = lockedRank! < 0 ? -expiresAt : expiresAt;
    return { rowId, json, isHandled: false, orderNo, isLocked: expiresAt > nowMs, rank: lockedRank };
  }

  add(queueId: number, row: NewQueueRow, nowMs: number): void {
    const { uniqueKey, url, json, id, orderNo } = row;
    const { lastInsertRowid } = this.#insert.run(queueId, nowMs, url, uniqueKey, json, id, orderNo);
    this.#place(queueId, Number(lastInsertRowid), orderNo, nowMs);
    this.#count.run(1, orderNo === null ? 1 : 0, queueId);
  }

  /** Replaces a request's JSON, unlocks it and puts it where the order number says; null = handled. */
  replace(queueId: number, found: QueueRow, next: { json: string; orderNo: number | null }, nowMs: number): void {
    this.#takeOut(queueId, found);
    this.#update.run(next.json, next.orderNo, found.rowId);
    this.#place(queueId, found.rowId, next.orderNo, nowMs);
    this.#count.run(0, Number(next.orderNo === null) - Number(found.isHandled), queueId);
  }

  /** Unlocks an unhandled request and puts it where the order number says. */
  unlock(queueId: number, found: QueueRow, orderNo: number): void {
    this.#takeOut(queueId, found);
    this.#setOrder.run(orderNo, found.rowId);
    this.#insertReady.run(queueId, orderNo, found.rowId);
  }

  /**
   * Locks an unhandled request until |orderNo|. It keeps its place, for the case that its process is killed, unless it
   * is sent to the forefront or back from it.
   */
  lockUntil(queueId: number, found: QueueRow, orderNo: number): void {
    const keepsPlace = found.rank !== null && found.rank < 0 === orderNo < 0;
    const rank = keepsPlace ? found.rank! : orderNo;
    this.#takeOut(queueId, found);
    this.#setOrder.run(rank, found.rowId);
    this.#lock(queueId, found.rowId, { rank, untilMs: Math.abs(orderNo) });
  }

  remove(queueId: number, found: QueueRow): void {
    this.#takeOut(queueId, found);
    this.#deleteRequest.run(found.rowId);
    this.#count.run(-1, found.isHandled ? -1 : 0, queueId);
  }

  /** Unhandled requests in order, locked ones too. @returns their JSON */
  head(queueId: number, limit: number): string[] {
    return this.#head.all(queueId, limit).map(([json]) => json as string);
  }

  /** Locks the first requests that are not locked. @returns their JSON */
  lockHead(queueId: number, { limit, untilMs }: { limit: number; untilMs: number }): string[] {
    const rows = this.#firstReady.all(queueId, limit) as [number, number, string][];
    for (const [rowId, rank] of rows) {
      this.#deleteReady.run(queueId, rank, rowId);
      this.#lock(queueId, rowId, { rank, untilMs });
    }
    return rows.map(([, , json]) => json);
  }

  /** Requests whose lock has ended stand where Crawlee puts them: at the time it ended. */
  unlockExpired(queueId: number, nowMs: number): void {
    for (const [rowId, rank] of this.#expired.all(queueId, nowMs) as [number, number][]) {
      this.#deleteLeased.run(rowId);
      this.#setOrder.run(rank, rowId);
      this.#insertReady.run(queueId, rank, rowId);
    }
  }

  /** Frees all locks of Crawlee's queues; each request goes back to where it stood. */
  unlockAll(): void {
    this.#restoreAll.run();
    this.#deleteAllLeased.run();
  }

  hasLocked(queueId: number): boolean {
    return this.#hasLocked.get(queueId) !== undefined;
  }

  totals(queueId: number): QueueTotals {
    const [total, handled] = (this.#totals.get(queueId) ?? [0, 0]) as [number, number];
    return { total, handled };
  }

  removeQueue(queueId: number): void {
    for (const statement of this.#deleteQueue) statement.run(queueId);
  }

  #place(queueId: number, rowId: number, orderNo: number | null, nowMs: number): void {
    if (orderNo === null) this.#insertDone.run(rowId, nowMs);
    else this.#insertReady.run(queueId, orderNo, rowId);
  }

  #takeOut(queueId: number, { rowId, isHandled, orderNo }: QueueRow): void {
    if (isHandled) this.#deleteDone.run(rowId);
    else if (this.#deleteLeased.run(rowId).changes === 0) this.#deleteReady.run(queueId, orderNo, rowId);
  }

  #lock(queueId: number, rowId: number, { rank, untilMs }: { rank: number; untilMs: number }): void {
    this.#insertLeased.run(rowId, this.#worker, untilMs, queueId, rank);
  }
}
