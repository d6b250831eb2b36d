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
  RequestQueueHeadItem,
  RequestQueueInfo,
  RequestSchema,
  UpdateRequestSchema,
} from '@crawlee/types';
import { requestIdOf } from '../request-id.ts';
import { checkOptionalCount, checkSeconds, checkText } from './checks.ts';
import type { Connect, Connection } from './connection.ts';
import type { NewQueueRow, QueueRow } from './queue-rows.ts';
import { infoOf, type StorageRow } from './storage-registry.ts';

export const DEFAULT_HEAD_LIMIT = 100;
// Apify's API and MemoryStorage refuse more.
export const MOST_LOCKED_AT_ONCE = 25;

/** One request queue, as Crawlee knows it: with locks, for RequestQueue V1 and V2. */
export class SqliteRequestQueueClient implements RequestQueueClient {
  readonly #idOrName: string;
  readonly #connect: Connect;
  #lastFrontMs = 0;

  constructor(idOrName: string, connect: Connect) {
    checkText(idOrName, 'Request queue id');
    this.#idOrName = idOrName;
    this.#connect = connect;
  }

  async get(): Promise<RequestQueueInfo | undefined> {
    const connection = await this.#connect();
    return connection.database.read(() => {
      const row = connection.requestQueues.findForReading(this.#idOrName, connection.clock.wallMs());
      return row && infoOfQueue(connection, row);
    });
  }

  async update({ name }: { name?: string }): Promise<Partial<RequestQueueInfo>> {
    if (name !== undefined) checkText(name, 'Request queue name');
    const connection = await this.#connect();
    return connection.database.write(() => {
      const row = connection.requestQueues.require(this.#idOrName);
      if (name !== undefined) connection.requestQueues.rename(row, name, connection.clock.wallMs());
      return infoOfQueue(connection, connection.requestQueues.require(row.id));
    });
  }

  async delete(): Promise<void> {
    const { database, requestQueues, queueRows } = await this.#connect();
    await database.write(() => {
      const row = requestQueues.find(this.#idOrName);
      if (row) queueRows.removeQueue(row.rowId);
    });
  }

  async listHead({ limit = DEFAULT_HEAD_LIMIT }: ListOptions = {}): Promise<QueueHead> {
    checkOptionalCount(limit, 'limit');
    const { database, requestQueues, queueRows, clock } = await this.#connect();
    return database.read(() => {
      const { rowId, modifiedAt } = requestQueues.requireForReading(this.#idOrName, clock.wallMs());
      const items = queueRows.head(rowId, limit).map(headItemOf);
      return { limit, hadMultipleClients: false, queueModifiedAt: modifiedAt, items };
    });
  }

  async listAndLockHead({ limit = MOST_LOCKED_AT_ONCE, lockSecs }: ListAndLockOptions): Promise<ListAndLockHeadResult> {
    checkOptionalCount(limit, 'limit');
    if (limit > MOST_LOCKED_AT_ONCE) throw new TypeError(`limit must be at most ${MOST_LOCKED_AT_ONCE}`);
    checkSeconds(lockSecs, 'lockSecs');
    return this.#write(({ queueRows }, { rowId, modifiedAt }, nowMs) => {
      queueRows.unlockExpired(rowId, nowMs);
      const items = queueRows.lockHead(rowId, { limit, untilMs: nowMs + lockSecs * 1_000 }).map(headItemOf);
      // Crawlee takes an empty head with nothing locked for the end of the crawl.
      const queueHasLockedRequests = queueRows.hasLocked(rowId);
      return { limit, lockSecs, hadMultipleClients: false, queueModifiedAt: modifiedAt, queueHasLockedRequests, items };
    });
  }

  async addRequest(request: RequestSchema, { forefront = false }: RequestOptions = {}): Promise<QueueOperationInfo> {
    checkRequest(request);
    return this.#write((connection, queue, nowMs) => {
      connection.requestQueues.noteChange(queue.rowId, nowMs);
      return this.#add(connection, queue, { request, forefront, nowMs });
    });
  }

  async batchAddRequests(
    requests: RequestSchema[],
    { forefront = false }: RequestOptions = {},
  ): Promise<BatchAddRequestsResult> {
    for (const request of requests) checkRequest(request);
    return this.#write((connection, queue, nowMs) => {
      connection.requestQueues.noteChange(queue.rowId, nowMs);
      const processedRequests = requests.map((request) => ({
        uniqueKey: request.uniqueKey,
        ...this.#add(connection, queue, { request, forefront, nowMs }),
      }));
      return { processedRequests, unprocessedRequests: [] };
    });
  }

  async getRequest(id: string): Promise<RequestOptions | undefined> {
    checkText(id, 'request id');
    const { database, requestQueues, queueRows, clock } = await this.#connect();
    return database.read(() => {
      const { rowId } = requestQueues.requireForReading(this.#idOrName, clock.wallMs());
      const found = queueRows.find(rowId, id, clock.wallMs());
      return found ? requestOf(found.json) : undefined;
    });
  }

  async updateRequest(
    request: UpdateRequestSchema,
    { forefront = false }: RequestOptions = {},
  ): Promise<QueueOperationInfo> {
    checkRequest(request);
    checkText(request.id, 'request id');
    return this.#write((connection, queue, nowMs) => {
      connection.requestQueues.noteChange(queue.rowId, nowMs);
      const row = this.#newRow(request, { forefront, nowMs });
      const found = connection.queueRows.find(queue.rowId, row.id, nowMs);
      // As Apify's API: an update of what is not there adds it.
      if (!found) return this.#add(connection, queue, { request, forefront, nowMs });
      connection.queueRows.replace(queue.rowId, found, row, nowMs);
      return { requestId: row.id, wasAlreadyHandled: found.isHandled, wasAlreadyPresent: true };
    });
  }

  async deleteRequest(id: string): Promise<void> {
    checkText(id, 'request id');
    await this.#write(({ queueRows, requestQueues }, { rowId }, nowMs) => {
      const found = queueRows.find(rowId, id, nowMs);
      if (!found) return;
      queueRows.remove(rowId, found);
      requestQueues.noteChange(rowId, nowMs);
    });
  }

  /** Adds to the lock's end, as Crawlee's own storages do, rather than to the time now. */
  async prolongRequestLock(
    id: string,
    { lockSecs, forefront = false }: ProlongRequestLockOptions,
  ): Promise<ProlongRequestLockResult> {
    checkText(id, 'request id');
    checkSeconds(lockSecs, 'lockSecs');
    return this.#write(({ queueRows }, queue, nowMs) => {
      const found = requireRow(queueRows.find(queue.rowId, id, nowMs), id, queue);
      if (found.orderNo === null)
        throw new Error(`Request with ID ${id} has already been handled in queue ${titleOf(queue)}`);
      const untilMs = Math.abs(found.orderNo) + lockSecs * 1_000;
      queueRows.lockUntil(queue.rowId, found, forefront ? -untilMs : untilMs);
      return { lockExpiresAt: new Date(untilMs) };
    });
  }

  async deleteRequestLock(id: string, { forefront = false }: DeleteRequestLockOptions = {}): Promise<void> {
    checkText(id, 'request id');
    await this.#write(({ queueRows }, queue, nowMs) => {
      const found = requireRow(queueRows.find(queue.rowId, id, nowMs), id, queue);
      if (!found.isLocked) throw new Error(`Request with ID ${id} is not locked in queue ${titleOf(queue)}`);
      queueRows.unlock(queue.rowId, found, this.#orderNo(forefront, nowMs));
    });
  }

  async #write<T>(work: (connection: Connection, queue: StorageRow, nowMs: number) => T): Promise<T> {
    const connection = await this.#connect();
    return connection.database.write(() => {
      const queue = connection.requestQueues.require(this.#idOrName);
      return work(connection, queue, connection.clock.wallMs());
    });
  }

  #add(
    { queueRows }: Connection,
    { rowId }: StorageRow,
    { request, forefront, nowMs }: { request: RequestSchema; forefront: boolean; nowMs: number },
  ): QueueOperationInfo {
    const row = this.#newRow(request, { forefront, nowMs });
    const found = queueRows.find(rowId, row.id, nowMs);
    if (found) return { requestId: row.id, wasAlreadyHandled: found.isHandled, wasAlreadyPresent: true };
    queueRows.add(rowId, row, nowMs);
    // Also of a request that was added as handled: so does Apify's API.
    return { requestId: row.id, wasAlreadyHandled: false, wasAlreadyPresent: false };
  }

  #newRow(request: RequestSchema, { forefront, nowMs }: { forefront: boolean; nowMs: number }): NewQueueRow {
    const { uniqueKey, url } = request;
    const id = requestIdOf(uniqueKey);
    if (request.id && request.id !== id) throw new Error('Request ID does not match its uniqueKey.');
    const orderNo = request.handledAt ? null : this.#orderNo(forefront, nowMs);
    return { id, uniqueKey, url, json: JSON.stringify({ ...request, id }), orderNo };
  }

  /** Each request put to the front goes before those put there in the same millisecond. */
  #orderNo(forefront: boolean, nowMs: number): number {
    if (!forefront) return nowMs;
    this.#lastFrontMs = Math.max(nowMs, this.#lastFrontMs + 1);
    return -this.#lastFrontMs;
  }
}

/** @throws TypeError in words for who calls it from plain JavaScript */
export function checkRequest({ url, uniqueKey }: RequestSchema): void {
  checkText(uniqueKey, 'uniqueKey');
  checkText(url, 'url');
  if (!/^https?:\/\//i.test(url)) throw new TypeError(`url must be an http or https URL: ${url}`);
}

function requireRow(found: QueueRow | null, id: string, queue: StorageRow): QueueRow {
  if (!found) throw new Error(`Request with ID ${id} not found in queue ${titleOf(queue)}`);
  return found;
}

export function titleOf({ name, id }: Pick<StorageRow, 'id' | 'name'>): string {
  return name ?? id;
}

/** @returns a stored request, without nulls */
export function requestOf(json: string): RequestOptions {
  const request = JSON.parse(json) as RequestOptions;
  for (const [key, value] of Object.entries(request)) if (value === null) delete request[key];
  return request;
}

export function headItemOf(json: string): RequestQueueHeadItem {
  return requestOf(json) as unknown as RequestQueueHeadItem;
}

/** @returns what Crawlee is shown of a queue */
export function infoOfQueue({ queueRows }: Connection, row: StorageRow): RequestQueueInfo {
  const { total, handled } = queueRows.totals(row.rowId);
  return {
    ...infoOf(row),
    hadMultipleClients: false,
    totalRequestCount: total,
    handledRequestCount: handled,
    pendingRequestCount: total - handled,
    stats: {},
  };
}
