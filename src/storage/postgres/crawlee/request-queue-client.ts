import type {
  BatchAddRequestsResult,
  DeleteRequestLockOptions,
  ListAndLockHeadResult,
  ListAndLockOptions,
  ListOptions,
  ProlongRequestLockOptions,
  ProlongRequestLockResult,
  QueueHead,
  QueueOperationInfo,
  RequestOptions,
  RequestQueueClient,
  RequestQueueInfo,
  RequestSchema,
  UpdateRequestSchema,
} from '@crawlee/types';
import { checkOptionalCount, checkSeconds, checkText } from '../../crawlee/checks.ts';
import {
  checkRequest,
  DEFAULT_HEAD_LIMIT,
  headItemOf,
  MOST_LOCKED_AT_ONCE,
  requestOf,
  titleOf,
} from '../../crawlee/request-queue-client.ts';
import { requestIdOf } from '../../request-id.ts';
import type { Transaction } from '../database.ts';
import { infoOf, type PostgresStorage, type PostgresStorages } from './storages.ts';

/** rank null = handled; a lock that has ended has been cleared by `#write`. */
type Found = { rank: number | null; locked_until: number | null; json: string };
type Placed = { id: string; json: string; rank: number | null };
type Write = { transaction: Transaction; queue: PostgresStorage; nowMs: number };

/**
 * One of Crawlee's request queues, with locks, for RequestQueue V1 and V2. Changes of one queue wait for one another: what
 * many workers should share at full speed is a run's own queue.
 */
export class PostgresRequestQueueClient implements RequestQueueClient {
  readonly #idOrName: string;
  readonly #storages: PostgresStorages;
  readonly #lockedBy: string;
  #lastFrontMs = 0;

  /** @param lockedBy tells this client's locks from others' */
  constructor(idOrName: string, storages: PostgresStorages, lockedBy: string) {
    checkText(idOrName, 'Request queue id');
    this.#idOrName = idOrName;
    this.#storages = storages;
    this.#lockedBy = lockedBy;
  }

  async get(): Promise<RequestQueueInfo | undefined> {
    return this.#storages.database.transaction(async (transaction) => {
      const found = await this.#storages.find(transaction, this.#idOrName);
      return found && queueInfoOf(found);
    });
  }

  async update({ name }: { name?: string }): Promise<Partial<RequestQueueInfo>> {
    if (name !== undefined) checkText(name, 'Request queue name');
    return this.#storages.database.transaction(async (transaction) => {
      const found = await this.#storages.requireLocked(transaction, this.#idOrName);
      if (name !== undefined) await this.#storages.rename(transaction, found, name);
      return queueInfoOf(await this.#storages.require(transaction, found.id));
    });
  }

  delete(): Promise<void> {
    return this.#storages.remove(this.#idOrName);
  }

  async listHead({ limit = DEFAULT_HEAD_LIMIT }: ListOptions = {}): Promise<QueueHead> {
    checkOptionalCount(limit, 'limit');
    return this.#storages.database.transaction(async (transaction) => {
      const { rowId, modifiedAt } = await this.#storages.require(transaction, this.#idOrName);
      const rows = await transaction.rows<{ json: string }>(
        `SELECT json FROM (
           (SELECT json, rank AS place, seq FROM ${this.#table}
            WHERE storage_id = $1 AND rank IS NOT NULL AND locked_until IS NULL ORDER BY rank, seq LIMIT $2)
           UNION ALL SELECT json, CASE WHEN rank < 0 THEN -locked_until ELSE locked_until END, seq FROM ${this.#table}
           WHERE storage_id = $1 AND locked_until IS NOT NULL) head ORDER BY place, seq LIMIT $2`,
        [rowId, limit],
      );
      const items = rows.map(({ json }) => headItemOf(json));
      return { limit, hadMultipleClients: false, queueModifiedAt: modifiedAt, items };
    });
  }

  async listAndLockHead({ limit = MOST_LOCKED_AT_ONCE, lockSecs }: ListAndLockOptions): Promise<ListAndLockHeadResult> {
    checkOptionalCount(limit, 'limit');
    if (limit > MOST_LOCKED_AT_ONCE) throw new TypeError(`limit must be at most ${MOST_LOCKED_AT_ONCE}`);
    checkSeconds(lockSecs, 'lockSecs');
    return this.#write(async ({ transaction, queue: { rowId, modifiedAt }, nowMs }) => {
      const rows = await transaction.rows<{ json: string; rank: number; seq: number }>(
        `UPDATE ${this.#table} r SET locked_until = $1::bigint, locked_by = $2 FROM (
           SELECT id FROM ${this.#table} WHERE storage_id = $3 AND rank IS NOT NULL AND locked_until IS NULL
           ORDER BY rank, seq LIMIT $4) head
         WHERE r.storage_id = $3 AND r.id = head.id RETURNING r.json, r.rank, r.seq`,
        [nowMs + lockSecs * 1_000, this.#lockedBy, rowId, limit],
      );
      const [locked] = await transaction.rows<{ any: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM ${this.#table} WHERE storage_id = $1 AND locked_until IS NOT NULL) AS any`,
        [rowId],
      );
      const items = rows.sort((a, b) => a.rank - b.rank || a.seq - b.seq).map(({ json }) => headItemOf(json));
      // Crawlee takes an empty head with nothing locked for the end of the crawl.
      const queueHasLockedRequests = locked!.any;
      return { limit, lockSecs, hadMultipleClients: false, queueModifiedAt: modifiedAt, queueHasLockedRequests, items };
    });
  }

  async addRequest(request: RequestSchema, options: RequestOptions = {}): Promise<QueueOperationInfo> {
    const { processedRequests } = await this.batchAddRequests([request], options);
    const { uniqueKey: _, ...info } = processedRequests[0]!;
    return info;
  }

  async batchAddRequests(
    requests: RequestSchema[],
    { forefront = false }: RequestOptions = {},
  ): Promise<BatchAddRequestsResult> {
    for (const request of requests) checkRequest(request);
    return this.#write(async (write) => {
      this.#storages.noteChange(write.transaction, write.queue, write.nowMs);
      const processedRequests = [];
      for (const request of requests)
        processedRequests.push({ uniqueKey: request.uniqueKey, ...(await this.#add(write, request, forefront)) });
      return { processedRequests, unprocessedRequests: [] };
    });
  }

  async getRequest(id: string): Promise<RequestOptions | undefined> {
    checkText(id, 'request id');
    return this.#storages.database.transaction(async (transaction) => {
      const queue = await this.#storages.require(transaction, this.#idOrName);
      const found = await this.#find(transaction, queue, id);
      return found && requestOf(found.json);
    });
  }

  async updateRequest(
    request: UpdateRequestSchema,
    { forefront = false }: RequestOptions = {},
  ): Promise<QueueOperationInfo> {
    checkRequest(request);
    checkText(request.id, 'request id');
    return this.#write(async (write) => {
      const { transaction, queue, nowMs } = write;
      this.#storages.noteChange(transaction, queue, nowMs);
      const placed = this.#placed(request, { forefront, nowMs });
      const found = await this.#find(transaction, queue, placed.id);
      // As Apify's API: an update of what is not there adds it.
      if (!found) return this.#add(write, request, forefront);
      const sql = `UPDATE ${this.#table} SET json = $1, rank = $2, locked_until = NULL, locked_by = NULL WHERE storage_id = $3 AND id = $4`;
      transaction.run(sql, [placed.json, placed.rank, queue.rowId, placed.id]);
      this.#count(write, { total: 0, handled: Number(placed.rank === null) - Number(found.rank === null) });
      return { requestId: placed.id, wasAlreadyHandled: found.rank === null, wasAlreadyPresent: true };
    });
  }

  async deleteRequest(id: string): Promise<void> {
    checkText(id, 'request id');
    await this.#write(async (write) => {
      const { transaction, queue, nowMs } = write;
      const found = await this.#find(transaction, queue, id);
      if (!found) return;
      transaction.run(`DELETE FROM ${this.#table} WHERE storage_id = $1 AND id = $2`, [queue.rowId, id]);
      this.#count(write, { total: -1, handled: found.rank === null ? -1 : 0 });
      this.#storages.noteChange(transaction, queue, nowMs);
    });
  }

  /** Adds to the lock's end, as Crawlee's own storages do, rather than to the time now. */
  async prolongRequestLock(
    id: string,
    { lockSecs, forefront = false }: ProlongRequestLockOptions,
  ): Promise<ProlongRequestLockResult> {
    checkText(id, 'request id');
    checkSeconds(lockSecs, 'lockSecs');
    return this.#write(async ({ transaction, queue }) => {
      const found = this.#there(await this.#find(transaction, queue, id), id, queue);
      if (found.rank === null)
        throw new Error(`Request with ID ${id} has already been handled in queue ${titleOf(queue)}`);
      const untilMs = (found.locked_until ?? Math.abs(found.rank)) + lockSecs * 1_000;
      // It keeps its place, unless it is sent to the forefront or back from it.
      const keepsPlace = found.rank < 0 === forefront;
      const rank = keepsPlace ? found.rank : forefront ? -untilMs : untilMs;
      const sql = `UPDATE ${this.#table} SET rank = $1, locked_until = $2, locked_by = $3 WHERE storage_id = $4 AND id = $5`;
      transaction.run(sql, [rank, untilMs, this.#lockedBy, queue.rowId, id]);
      return { lockExpiresAt: new Date(untilMs) };
    });
  }

  async deleteRequestLock(id: string, { forefront = false }: DeleteRequestLockOptions = {}): Promise<void> {
    checkText(id, 'request id');
    await this.#write(async ({ transaction, queue, nowMs }) => {
      const found = this.#there(await this.#find(transaction, queue, id), id, queue);
      if (found.locked_until === null)
        throw new Error(`Request with ID ${id} is not locked in queue ${titleOf(queue)}`);
      const sql = `UPDATE ${this.#table} SET rank = $1, locked_until = NULL, locked_by = NULL WHERE storage_id = $2 AND id = $3`;
      transaction.run(sql, [this.#rank(forefront, nowMs), queue.rowId, id]);
    });
  }

  /** One change at a time of each queue; locks that have ended are cleared first: they stand at the time they ended. */
  async #write<T>(work: (write: Write) => Promise<T>): Promise<T> {
    return this.#storages.database.transaction(async (transaction) => {
      const queue = await this.#storages.requireLocked(transaction, this.#idOrName);
      const nowMs = await this.#storages.now(transaction);
      transaction.run(
        `UPDATE ${this.#table} SET rank = CASE WHEN rank < 0 THEN -locked_until ELSE locked_until END, locked_until = NULL,
           locked_by = NULL WHERE storage_id = $1 AND locked_until <= $2`,
        [queue.rowId, nowMs],
      );
      return work({ transaction, queue, nowMs });
    });
  }

  async #find(transaction: Transaction, { rowId }: PostgresStorage, id: string): Promise<Found | undefined> {
    const sql = `SELECT rank, locked_until, json FROM ${this.#table} WHERE storage_id = $1 AND id = $2`;
    const [row] = await transaction.rows<Found>(sql, [rowId, id]);
    return row;
  }

  async #add(write: Write, request: RequestSchema, forefront: boolean): Promise<QueueOperationInfo> {
    const { transaction, queue, nowMs } = write;
    const placed = this.#placed(request, { forefront, nowMs });
    const found = await this.#find(transaction, queue, placed.id);
    if (found) return { requestId: placed.id, wasAlreadyHandled: found.rank === null, wasAlreadyPresent: true };
    const sql = `INSERT INTO ${this.#table} (storage_id, id, rank, json) VALUES ($1, $2, $3, $4)`;
    transaction.run(sql, [queue.rowId, placed.id, placed.rank, placed.json]);
    this.#count(write, { total: 1, handled: placed.rank === null ? 1 : 0 });
    // Also of a request that was added as handled: so does Apify's API.
    return { requestId: placed.id, wasAlreadyHandled: false, wasAlreadyPresent: false };
  }

  #count({ transaction, queue }: Write, change: { total: number; handled: number }): void {
    if (change.total === 0 && change.handled === 0) return;
    const sql = `UPDATE ${this.#storages.table('storage')} SET total = total + $1, handled = handled + $2 WHERE id = $3`;
    transaction.run(sql, [change.total, change.handled, queue.rowId]);
  }

  #placed(request: RequestSchema, { forefront, nowMs }: { forefront: boolean; nowMs: number }): Placed {
    const id = requestIdOf(request.uniqueKey);
    if (request.id && request.id !== id) throw new Error('Request ID does not match its uniqueKey.');
    const rank = request.handledAt ? null : this.#rank(forefront, nowMs);
    return { id, json: JSON.stringify({ ...request, id }), rank };
  }

  /** Each request put to the front goes before those put there in the same millisecond. */
  #rank(forefront: boolean, nowMs: number): number {
    if (!forefront) return nowMs;
    this.#lastFrontMs = Math.max(nowMs, this.#lastFrontMs + 1);
    return -this.#lastFrontMs;
  }

  #there(found: Found | undefined, id: string, queue: PostgresStorage): Found {
    if (!found) throw new Error(`Request with ID ${id} not found in queue ${titleOf(queue)}`);
    return found;
  }

  get #table(): string {
    return this.#storages.table('request');
  }
}

/** @returns what Crawlee is shown of a queue */
export function queueInfoOf(queue: PostgresStorage): RequestQueueInfo {
  const { total, handled } = queue;
  return {
    ...infoOf(queue),
    hadMultipleClients: false,
    totalRequestCount: total,
    handledRequestCount: handled,
    pendingRequestCount: total - handled,
    stats: {},
  };
}
