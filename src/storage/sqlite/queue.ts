import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import type { Ports } from '../../core/ports.ts';
import { requestIdOf } from '../request-id.ts';
import type {
  AddResult,
  Claim,
  ClaimOptions,
  CommitResult,
  HandledPage,
  Lease,
  NewRequest,
  QueueCounts,
  QueueStore,
  RequeueSelection,
  StoredRequest,
  UnitOfWork,
} from '../store.ts';
import { type Added, Additions } from './additions.ts';
import { Claims } from './claims.ts';
import { ClockWatch } from './clock-watch.ts';
import type { ColumnTable } from './columns.ts';
import { Commits } from './commits.ts';
import { QueueCounters } from './counters.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import { Delays } from './delays.ts';
import { HandledRequests } from './handled-requests.ts';
import { HostTable } from './hosts.ts';
import { Leases } from './leases.ts';
import { ReadyRows } from './ready.ts';
import type { RecordTables } from './records.ts';
import { newRequestOf, REQUEST_COLUMNS, RequestRows } from './request-rows.ts';
import { Requeue } from './requeue.ts';
import type { ValueTable } from './values.ts';

// About 10 ms of work: what one transaction may keep the event loop busy.
const ADDS_A_TRANSACTION = 1_000;
const TOKEN_BYTES = 6;

export type QueueParts = {
  ports: Ports;
  queueId: number;
  records: RecordTables;
  columns: ColumnTable;
  values: ValueTable;
  /** Whether nobody else works on the run: only then are delays of all workers ours to correct. */
  isOwner: boolean;
};

/** The request queue of one run. */
export class SqliteQueue implements QueueStore {
  readonly #database: SqliteDatabase;
  readonly #log: Log;
  readonly #isOwner: boolean;
  readonly #watch: ClockWatch;
  readonly #counters: QueueCounters;
  readonly #rows: RequestRows;
  readonly #additions: Additions;
  readonly #leases: Leases;
  readonly #delays: Delays;
  readonly #claims: Claims;
  readonly #commits: Commits;
  readonly #requeue: Requeue;
  readonly #handled: HandledRequests;
  readonly #hosts: HostTable;
  readonly #selectStored: RowStatement;
  readonly #selectHandled: RowStatement;
  #nextToken = randomBytes(TOKEN_BYTES).readUIntBE(0, TOKEN_BYTES);

  constructor(database: SqliteDatabase, parts: QueueParts) {
    const { queueId, ports, isOwner } = parts;
    this.#database = database;
    this.#log = ports.log;
    this.#isOwner = isOwner;
    this.#watch = new ClockWatch(ports.clock);
    this.#counters = new QueueCounters(database, queueId);
    this.#rows = new RequestRows(database, queueId);
    this.#hosts = new HostTable(database, queueId);
    this.#additions = new Additions(database, { rows: this.#rows, hosts: this.#hosts, counters: this.#counters });
    const worker = this.#nextToken;
    const ready = new ReadyRows(database, queueId);
    this.#leases = new Leases(database, { queueId, worker, ready });
    this.#delays = new Delays(database, queueId);
    const shared = { queueId, ready, hosts: this.#hosts, delays: this.#delays, counters: this.#counters };
    this.#claims = new Claims(database, { ...shared, worker, leases: this.#leases });
    this.#commits = new Commits(database, { ...parts, ...shared, additions: this.#additions });
    this.#requeue = new Requeue(database, shared);
    this.#handled = new HandledRequests(database, shared);
    this.#selectHandled = database.prepareRows('SELECT 1 FROM done WHERE request_id = ? AND result > 0');
    this.#selectStored = database.prepareRows(
      `SELECT ${REQUEST_COLUMNS}, host_id, CASE WHEN result > 0 THEN handled_at END,
       CASE WHEN result > 0 THEN done.patch ELSE request.patch END
       FROM request LEFT JOIN done ON request_id = request.id WHERE request.id = ?`,
    );
  }

  async add(requests: readonly NewRequest[], { forefront = false } = {}): Promise<AddResult[]> {
    const results: AddResult[] = [];
    for (let start = 0; start < requests.length; start += ADDS_A_TRANSACTION) {
      if (start > 0) await nextTurn();
      results.push(...(await this.#addSome(requests.slice(start, start + ADDS_A_TRANSACTION), forefront)));
    }
    return results;
  }

  async claim(options: ClaimOptions): Promise<Claim> {
    return this.#database.write(() => this.#claims.claim(options, this.#nextToken++, this.#now()));
  }

  async commit(units: readonly UnitOfWork[]): Promise<CommitResult[]> {
    if (units.length === 0) return [];
    return this.#database.write(() => this.#commits.commit(units, this.#now()));
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]> {
    if (leases.length === 0) return [];
    return this.#database.write(() => this.#leases.renew(leases, this.#now() + leaseMs));
  }

  async release(leases: readonly Lease[]): Promise<void> {
    if (leases.length > 0) await this.#database.write(() => this.#leases.release(leases));
  }

  async releaseAll(): Promise<number> {
    return this.#database.write(() => this.#leases.releaseAll());
  }

  /** Takes over from workers that are gone, when the run is opened by its only user. */
  async takeOver(): Promise<void> {
    await this.releaseAll();
    await this.#database.write(() => {
      // The last write lies in the future: the clock was set back in between.
      const { nowMs } = this.#watch.look();
      const stepMs = nowMs - this.#counters.lastWriteMs();
      if (stepMs >= 0) return;
      this.#delays.shift(stepMs);
      this.#counters.flush(nowMs);
    });
  }

  async requeue(selection: RequeueSelection): Promise<number> {
    const lastId = await this.#database.read(() => this.#requeue.lastId());
    let requeued = 0;
    for (let afterId = 0; afterId < lastId; ) {
      const step = await this.#database.write(() => this.#requeue.step(selection, afterId, this.#now()));
      requeued += step.requeued;
      afterId = step.upTo;
      await nextTurn();
    }
    return requeued;
  }

  async handled(selection: RequeueSelection, fromId: number): Promise<HandledPage> {
    return this.#database.read(() => this.#handled.page(selection, fromId, this.#requeue.lastId()));
  }

  async get(uniqueKey: string): Promise<StoredRequest | null> {
    return this.#database.read(() => {
      const rowId = this.#rows.find(uniqueKey);
      return rowId === null ? null : this.stored(rowId);
    });
  }

  /** Within a read: the request of a row id. */
  stored(rowId: number): StoredRequest | null {
    const row = this.#selectStored.get(rowId);
    if (!row) return null;
    const request = newRequestOf(row, 0, this.#hosts.nameOf(row[5] as number));
    return {
      ...request,
      id: requestIdOf(request.uniqueKey),
      handledAtMs: row[6] as number | null,
      patch: row[7] as string | null,
    };
  }

  async counts(): Promise<QueueCounts> {
    return this.#database.read(() => this.#counters.counts());
  }

  async skipReasons(): Promise<Record<string, number>> {
    return this.#database.read(() => this.#counters.reasons('skipped'));
  }

  async failureReasons(): Promise<Record<string, number>> {
    return this.#database.read(() => this.#counters.reasons('failed'));
  }

  async pendingHosts(limit: number): Promise<{ host: string; pending: number }[]> {
    return this.#database.read(() => this.#counters.pendingHosts(limit));
  }

  /** Within a write transaction: adds requests that come with rows of a dataset. @returns how many were new */
  addWithin(requests: readonly NewRequest[]): number {
    if (requests.length === 0) return 0;
    const nowMs = this.#now();
    const added = requests.filter((request) => this.#additions.add(request, { nowMs, forefront: false }).isNew);
    this.#additions.flush();
    this.#counters.flush(nowMs);
    return added.length;
  }

  #addSome(requests: readonly NewRequest[], forefront: boolean): Promise<AddResult[]> {
    return this.#database.write(() => {
      const nowMs = this.#now();
      const added = requests.map((request) => this.#additions.add(request, { nowMs, forefront }));
      this.#additions.flush();
      this.#counters.flush(nowMs);
      return requests.map((request, i) => this.#addResult(request.uniqueKey, added[i]!));
    });
  }

  #addResult(uniqueKey: string, { isNew, rowId }: Added): AddResult {
    return {
      id: requestIdOf(uniqueKey),
      wasAlreadyPresent: !isNew,
      wasAlreadyHandled: !isNew && this.#isHandled(rowId),
    };
  }

  #isHandled(rowId: number): boolean {
    return this.#selectHandled.get(rowId) !== undefined;
  }

  /** Within a write transaction: the time, after making up for a clock that was set. */
  #now(): number {
    const { nowMs, stepMs } = this.#watch.look();
    if (stepMs !== 0) this.#followClock(stepMs);
    return nowMs;
  }

  #followClock(stepMs: number): void {
    this.#log.warn('The system clock was set: leases and delays were moved along', { stepMs });
    this.#leases.shiftOwn(stepMs);
    // Forward needs nothing: what waits is due a little early.
    if (stepMs < 0 && this.#isOwner) this.#delays.shift(stepMs);
  }
}
