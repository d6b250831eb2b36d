import type { Lease } from '../store.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import type { ReadyRows } from './ready.ts';

// Leases of other workers are looked through so often at most; ours exactly when they end.
const FOREIGN_LEASE_CHECK_MS = 1_000;

/** Who holds what, until when. */
export class Leases {
  readonly #queueId: number;
  readonly #worker: number;
  readonly #selectExpired: RowStatement;
  readonly #selectEarliest: RowStatement;
  readonly #selectEarliestForeign: RowStatement;
  readonly #takeBack: RowStatement;
  readonly #ready: ReadyRows;
  readonly #renew: RowStatement;
  readonly #selectAll: RowStatement;
  readonly #shiftOwn: RowStatement;
  #nextCheckMs = Number.NEGATIVE_INFINITY;
  #earliestForeignMs: number | null = null;

  constructor(database: SqliteDatabase, parts: { queueId: number; worker: number; ready: ReadyRows }) {
    this.#queueId = parts.queueId;
    this.#worker = parts.worker;
    this.#ready = parts.ready;
    this.#selectExpired = database.prepareRows(
      'SELECT request_id, token FROM leased WHERE queue_id = ? AND expires_at <= ?',
    );
    this.#selectEarliest = database.prepareRows('SELECT min(expires_at) FROM leased WHERE queue_id = ?');
    this.#selectEarliestForeign = database.prepareRows(
      'SELECT min(expires_at) FROM leased WHERE queue_id = ? AND worker <> ?',
    );
    this.#takeBack = database.prepareRows(
      'DELETE FROM leased WHERE request_id = ? AND token = ? RETURNING host_id, rank, claims',
    );
    this.#renew = database.prepareRows('UPDATE leased SET expires_at = ? WHERE request_id = ? AND token = ?');
    this.#selectAll = database.prepareRows('SELECT request_id, token FROM leased WHERE queue_id = ?');
    this.#shiftOwn = database.prepareRows('UPDATE leased SET expires_at = expires_at + ? WHERE worker = ?');
  }

  /** A lease was given that ends at that time. */
  noteExpiry(expiresAtMs: number): void {
    this.#nextCheckMs = Math.min(this.#nextCheckMs, expiresAtMs);
  }

  /** Makes requests ready again whose lease has ended. */
  returnExpired(nowMs: number): void {
    if (nowMs < this.#nextCheckMs) return;
    for (const [requestId, token] of this.#selectExpired.all(this.#queueId, nowMs) as [number, number][])
      this.#giveBack(requestId, token, { countsClaim: true });
    this.#earliestForeignMs = timeOf(this.#selectEarliestForeign.get(this.#queueId, this.#worker));
    const earliest = timeOf(this.#selectEarliest.get(this.#queueId));
    this.#nextCheckMs = Math.min(earliest ?? Number.POSITIVE_INFINITY, nowMs + FOREIGN_LEASE_CHECK_MS);
  }

  /** When the first lease of another worker ends, epoch ms, as of the last look; null when there is none. */
  get earliestForeignExpiryMs(): number | null {
    return this.#earliestForeignMs;
  }

  /** @returns those that were lost */
  renew(leases: readonly Lease[], expiresAtMs: number): Lease[] {
    return leases.filter(({ requestId, token }) => this.#renew.run(expiresAtMs, requestId, token).changes === 0);
  }

  release(leases: readonly Lease[]): void {
    for (const { requestId, token } of leases) this.#giveBack(requestId, token, { countsClaim: false });
  }

  /** Their workers are gone, perhaps killed by what they worked on: the claims count. @returns how many */
  releaseAll(): number {
    const rows = this.#selectAll.all(this.#queueId) as [number, number][];
    for (const [requestId, token] of rows) this.#giveBack(requestId, token, { countsClaim: true });
    return rows.length;
  }

  /** The wall clock was stepped: our own leases keep the time they had left. */
  shiftOwn(stepMs: number): void {
    this.#shiftOwn.run(stepMs, this.#worker);
    this.#nextCheckMs = Number.NEGATIVE_INFINITY;
  }

  #giveBack(requestId: number, token: number, { countsClaim }: { countsClaim: boolean }): void {
    const row = this.#takeBack.get(requestId, token);
    if (!row) return;
    const [hostId, rank, claims] = row as [number, number, number];
    this.#ready.put({ requestId, hostId, rank, claims: countsClaim ? claims : claims - 1 });
  }
}

function timeOf(row: readonly unknown[] | undefined): number | null {
  return (row?.[0] as number | null | undefined) ?? null;
}
