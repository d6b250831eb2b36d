import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
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
import { addRequests, countAdded, DEFAULT_METHOD } from './additions.ts';
import { Claims } from './claims.ts';
import { CommitLine } from './commit-line.ts';
import { type CommitParts, Commits } from './commits.ts';
import { CounterChanges } from './counters.ts';
import type { Transaction } from './database.ts';
import { keyHashOf } from './key-hash.ts';
import { Leases } from './leases.ts';
import { Line } from './line.ts';
import { HandledRequests } from './requeue.ts';

export type QueueParts = CommitParts & { workerId: number; clock: Clock; gatherMs: number };

type StoredRow = {
  url: string;
  unique_key: string | null;
  method: string | null;
  label: string | null;
  data: string | null;
  host: string;
  handled_at: number | null;
  patch: string | null;
};

const ADDS_A_TRANSACTION = 1_000;
const TOKEN_BYTES = 6;
const LOOK_AGAIN_MS = 500;

/** The request queue of one run, as one of its workers sees it. */
export class PostgresQueue implements QueueStore {
  readonly #parts: QueueParts;
  readonly #claims: Claims;
  readonly #commits: CommitLine;
  readonly #leases: Leases;
  readonly #handled: HandledRequests;
  /** What takes leases away or prolongs them: one at a time, so that they do not wait for one another in a circle. */
  readonly #line = new Line();
  #expectsMore = false;
  #nextToken = randomBytes(TOKEN_BYTES).readUIntBE(0, TOKEN_BYTES);

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#claims = new Claims(parts);
    const commits = new Commits(parts);
    this.#commits = new CommitLine({
      commit: (units) => this.#line.run(() => commits.commit(units)),
      clock: parts.clock,
      gatherMs: parts.gatherMs,
    });
    this.#leases = new Leases(parts);
    this.#handled = new HandledRequests(parts);
  }

  async add(requests: readonly NewRequest[], { forefront = false } = {}): Promise<AddResult[]> {
    const results: AddResult[] = [];
    for (let start = 0; start < requests.length; start += ADDS_A_TRANSACTION)
      results.push(...(await this.#addSome(requests.slice(start, start + ADDS_A_TRANSACTION), forefront)));
    return results;
  }

  async claim(options: ClaimOptions): Promise<Claim> {
    const claim = await this.#claims.claim(options, this.#nextToken++);
    if (claim.nextDueAtMs !== null || !this.#expectsMore) return claim;
    return { ...claim, nextDueAtMs: this.#parts.time.localMs + LOOK_AGAIN_MS };
  }

  /** Others may add requests later: a claim that finds nothing then says to look again. */
  expectMore(isExpected: boolean): void {
    this.#expectsMore = isExpected;
  }

  /** In one spell of work no more than so many are handled by all workers together; null = no limit. */
  handleAtMost(count: number | null): void {
    this.#claims.handleAtMost(count);
  }

  async commit(units: readonly UnitOfWork[]): Promise<CommitResult[]> {
    return units.length === 0 ? [] : this.#commits.commit(units);
  }

  async renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]> {
    return leases.length === 0 ? [] : this.#line.run(() => this.#leases.renew(leases, leaseMs));
  }

  async release(leases: readonly Lease[]): Promise<void> {
    if (leases.length > 0) await this.#line.run(() => this.#leases.release(leases));
  }

  async releaseAll(): Promise<number> {
    return this.#line.run(() => this.#leases.releaseAll());
  }

  requeue(selection: RequeueSelection): Promise<number> {
    return this.#handled.requeue(selection);
  }

  handled(selection: RequeueSelection, fromId: number): Promise<HandledPage> {
    return this.#handled.page(selection, fromId);
  }

  async get(uniqueKey: string): Promise<StoredRequest | null> {
    return this.#stored('r.key = $1::uuid', keyHashOf(uniqueKey));
  }

  /** The request of a row id. */
  async stored(requestId: number): Promise<StoredRequest | null> {
    return this.#stored('r.id = $1::bigint', requestId);
  }

  counts(): Promise<QueueCounts> {
    return this.#parts.counters.counts();
  }

  skipReasons(): Promise<Record<string, number>> {
    return this.#parts.counters.reasons('skipped');
  }

  failureReasons(): Promise<Record<string, number>> {
    return this.#parts.counters.reasons('failed');
  }

  pendingHosts(limit: number): Promise<{ host: string; pending: number }[]> {
    return this.#parts.counters.pendingHosts(limit);
  }

  async #addSome(requests: readonly NewRequest[], forefront: boolean): Promise<AddResult[]> {
    const { database, tables, hosts, counters, time } = this.#parts;
    const hostIds = await hosts.idsOf(requests.map(({ host }) => host));
    const { added, handled } = await database.transaction(async (transaction) => {
      const addition = { requests, forefront, hostIds, timeParameter: time.parameter };
      const fresh = await addRequests(transaction, tables, addition);
      const changes = new CounterChanges();
      countAdded(changes, requests, fresh);
      counters.write(transaction, changes);
      const known = requests.filter((_, place) => !fresh.has(place));
      return { added: fresh, handled: await this.#handledOf(transaction, known) };
    });
    return requests.map(({ uniqueKey }, place) => ({
      id: requestIdOf(uniqueKey),
      wasAlreadyPresent: !added.has(place),
      wasAlreadyHandled: !added.has(place) && handled.has(keyHashOf(uniqueKey)),
    }));
  }

  async #handledOf(transaction: Transaction, requests: readonly NewRequest[]): Promise<ReadonlySet<string>> {
    if (requests.length === 0) return new Set();
    const { request, done } = this.#parts.tables;
    const rows = await transaction.rows<{ key: string }>(
      `SELECT replace(r.key::text, '-', '') AS key FROM ${request} r JOIN ${done} d ON d.request_id = r.id
       WHERE r.key = ANY($1::uuid[]) AND d.result > 0`,
      [requests.map(({ uniqueKey }) => keyHashOf(uniqueKey))],
    );
    return new Set(rows.map(({ key }) => key));
  }

  async #stored(condition: string, parameter: string | number): Promise<StoredRequest | null> {
    const { database, tables } = this.#parts;
    const [row] = await database.rows<StoredRow>(
      `SELECT r.url, r.unique_key, r.method, r.label, r.data, h.name AS host,
         CASE WHEN d.result > 0 THEN d.handled_at END AS handled_at,
         CASE WHEN d.result > 0 THEN d.patch ELSE t.patch END AS patch
       FROM ${tables.request} r JOIN ${tables.host} h ON h.id = r.host_id
       LEFT JOIN ${tables.done} d ON d.request_id = r.id LEFT JOIN ${tables.retried} t ON t.request_id = r.id
       WHERE ${condition}`,
      [parameter],
    );
    if (row === undefined) return null;
    const uniqueKey = row.unique_key ?? row.url;
    const { url, host, label, data, patch } = row;
    const method = row.method ?? DEFAULT_METHOD;
    return {
      uniqueKey,
      url,
      host,
      method,
      label,
      data,
      id: requestIdOf(uniqueKey),
      handledAtMs: row.handled_at,
      patch,
    };
  }
}
