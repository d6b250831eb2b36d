import { requestIdOf } from '../request-id.ts';
import type { Claim, ClaimOptions, LeasedRequest } from '../store.ts';
import { DEFAULT_METHOD } from './additions.ts';
import { handledInSpellSql, lockSpell } from './counters.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import type { HostTable } from './hosts.ts';
import type { RunTables } from './run-tables.ts';
import { nowMs, type StoreTime } from './time.ts';

export type ClaimParts = {
  database: PostgresDatabase;
  tables: RunTables;
  hosts: HostTable;
  time: StoreTime;
  workerId: number;
};

type Asked = { options: ClaimOptions; skipIds: number[]; token: number };

type ClaimedRow = {
  now_ms: number;
  request_id: number;
  host_id: number;
  claims: number;
  added_at: number;
  url: string;
  unique_key: string | null;
  method: string | null;
  label: string | null;
  data: string | null;
  patch: string | null;
};

type NextRow = { now_ms: number; has_ready: boolean; due_at: number | null; expires_at: number | null };

const BEFORE_ALL_HOSTS = 0;
const LAST_HOST = 2 ** 31 - 1;
const MOST_RETURNED_AT_ONCE = 5_000;
// What is due, or whose lease has ended, waits for so long at most while there is other work: looking costs as much as a claim.
const RETURN_EVERY_MS = 250;
/**
 * A host's requests are read in the order of their index. Where its statistics are of another time, as those of a queue are, the
 * planner may think them few, and sort all there are for every claim.
 */
const PLAN_SQL = "SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)";
/** All that may be handled is, or others have it and may give it back: look again so soon, ms. */
const FULL_RECHECK_MS = 500;
/** While another worker is just about to lease what is left, look again so soon, ms. */
const CONTENDED_RECHECK_MS = 20;

/**
 * Hands out ready requests, host by host around a ring, from the host after the one served last. Rows that another worker
 * is about to take are passed over, so no worker waits for another.
 */
export class Claims {
  readonly #parts: ClaimParts;
  readonly #returnDueSql: string;
  readonly #claimSql: string;
  readonly #nextSql: string;
  readonly #dropAttemptSql: string;
  #lastHostId = BEFORE_ALL_HOSTS;
  #mostHandled: number | null = null;
  #returnedAtMs = Number.NEGATIVE_INFINITY;
  #wasEmpty = false;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
    this.#returnDueSql = returnDueSql(parts.tables);
    this.#claimSql = claimSql(parts.tables);
    this.#nextSql = nextSql(parts.tables);
    this.#dropAttemptSql = dropAttemptSql(parts.tables);
  }

  /** No more are handed out than that so many are handled in this spell of work, by all workers; null = no limit. */
  handleAtMost(count: number | null): void {
    this.#mostHandled = count;
  }

  /** @param token has never been used before */
  async claim(options: ClaimOptions, token: number): Promise<Claim> {
    const { database, hosts } = this.#parts;
    const skipIds = await hosts.knownIdsOf(options.skipHosts);
    let isFirstTry = true;
    const { rows, nextDueAtMs } = await database.transaction((transaction) => {
      // The answer of an earlier try may have been lost with what it had leased.
      if (!isFirstTry) transaction.run(this.#dropAttemptSql, [token]);
      isFirstTry = false;
      return this.#claimWithin(transaction, { options, skipIds, token });
    });
    this.#lastHostId = lastAround(rows, this.#lastHostId);
    const names = await hosts.namesOf(rows.map(({ host_id }) => host_id));
    const requests = rows.map((row) => leasedRequestOf(row, names.get(row.host_id) as string, token));
    return { requests, nextDueAtMs };
  }

  async #claimWithin(
    transaction: Transaction,
    asked: Asked,
  ): Promise<{ rows: ClaimedRow[]; nextDueAtMs: number | null }> {
    const { time } = this.#parts;
    transaction.run(PLAN_SQL);
    const isReturned = this.#returnsNow();
    if (isReturned) this.#returnDue(transaction);
    if (this.#wasEmpty && isReturned) {
      // Whoever waits asks in vain most of the time: to look is cheaper than to claim.
      const next = await this.#look(transaction, asked.skipIds);
      if (!next.has_ready) return { rows: [], nextDueAtMs: this.#nextDueAtMs(next, 0) };
    }
    let rows = await this.#take(transaction, asked);
    if (rows.length === 0 && !isReturned) {
      this.#returnDue(transaction);
      rows = await this.#take(transaction, asked);
    }
    this.#wasEmpty = rows.length === 0;
    if (rows.length > 0 && asked.options.claimsAgain) return { rows, nextDueAtMs: time.parameter ?? time.localMs };
    const next = await this.#look(transaction, asked.skipIds);
    return { rows, nextDueAtMs: this.#nextDueAtMs(next, rows.length) };
  }

  /** While there is something, others look at the clock too. */
  #returnsNow(): boolean {
    const { time } = this.#parts;
    return Math.abs((time.parameter ?? time.localMs) - this.#returnedAtMs) >= RETURN_EVERY_MS;
  }

  #returnDue(transaction: Transaction): void {
    const { time } = this.#parts;
    this.#returnedAtMs = time.parameter ?? time.localMs;
    transaction.run(this.#returnDueSql, [time.parameter]);
  }

  async #take(transaction: Transaction, { options, skipIds, token }: Asked): Promise<ClaimedRow[]> {
    const { time, workerId } = this.#parts;
    const { perHost, leaseMs } = options;
    const room = await this.#roomFor(transaction, options.limit);
    const sentMs = time.localMs;
    const parameters = [time.parameter, this.#lastHostId, skipIds, perHost, room, token, workerId, leaseMs];
    const rows = await transaction.rows<ClaimedRow>(this.#claimSql, parameters);
    if (rows.length > 0) time.noteAnswer({ sentMs, answeredMs: time.localMs, databaseMs: rows[0]!.now_ms });
    return rows;
  }

  async #look(transaction: Transaction, skipIds: number[]): Promise<NextRow> {
    const { time, workerId } = this.#parts;
    const sentMs = time.localMs;
    const [next] = await transaction.rows<NextRow>(this.#nextSql, [time.parameter, skipIds, workerId]);
    time.noteAnswer({ sentMs, answeredMs: time.localMs, databaseMs: next!.now_ms });
    return next!;
  }

  #nextDueAtMs({ now_ms: databaseMs, has_ready, due_at, expires_at }: NextRow, found: number): number | null {
    const { time } = this.#parts;
    if (has_ready) return time.toLocal(databaseMs) + (found > 0 ? 0 : this.#recheckMs);
    const times = [due_at, expires_at].filter((atMs) => atMs !== null);
    return times.length > 0 ? time.toLocal(Math.min(...times)) : null;
  }

  /** Others are just about to lease what is there; or all that may be handled is, or is theirs and may come back. */
  get #recheckMs(): number {
    return this.#mostHandled === null ? CONTENDED_RECHECK_MS : FULL_RECHECK_MS;
  }

  /** @returns how many of `wanted` may be handed out, now that whoever asked before has taken his */
  async #roomFor(transaction: Transaction, wanted: number): Promise<number> {
    const { tables } = this.#parts;
    if (this.#mostHandled === null) return wanted;
    lockSpell(transaction, tables);
    const [row] = await transaction.rows<{ room: number }>(
      `SELECT ($1 - ${handledInSpellSql(tables)} - (SELECT count(*) FROM ${tables.leased}))::bigint AS room`,
      [this.#mostHandled],
    );
    return Math.min(wanted, Math.max(0, row!.room));
  }
}

/** The host that was served last, going around from `start`. */
function lastAround(rows: readonly { host_id: number }[], start: number): number {
  const around = (id: number): number => (id > start ? id : id + 2 ** 32);
  return rows.reduce((last, { host_id }) => (last === start || around(host_id) > around(last) ? host_id : last), start);
}

function leasedRequestOf(row: ClaimedRow, host: string, token: number): LeasedRequest {
  const uniqueKey = row.unique_key ?? row.url;
  return {
    uniqueKey,
    url: row.url,
    host,
    method: row.method ?? DEFAULT_METHOD,
    label: row.label,
    data: row.data,
    lease: { requestId: row.request_id, token },
    id: requestIdOf(uniqueKey),
    claims: row.claims,
    patch: row.patch,
    addedAtMs: row.added_at,
  };
}

/** Makes those ready whose time has come, or whose lease has ended. */
function returnDueSql({ delayed, leased, ready }: RunTables): string {
  const columns = 'host_id, rank, request_id, claims, redo';
  // Asked for once: an index can be read up to it, and not up to a clock that goes on.
  const now = `(SELECT ${nowMs(1)})`;
  return `WITH due AS (
      DELETE FROM ${delayed} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${delayed} WHERE due_at <= ${now}
        ORDER BY due_at LIMIT ${MOST_RETURNED_AT_ONCE} FOR UPDATE SKIP LOCKED)) RETURNING ${columns}
    ), expired AS (
      DELETE FROM ${leased} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${leased} WHERE expires_at <= ${now}
        ORDER BY expires_at LIMIT ${MOST_RETURNED_AT_ONCE} FOR UPDATE SKIP LOCKED)) RETURNING ${columns}
    ) INSERT INTO ${ready} (${columns}) SELECT * FROM due UNION ALL SELECT * FROM expired`;
}

/**
 * The hosts that have something, from the one after `$last` around to it: one step along the index a host, and only as far
 * as somebody reads.
 */
function ringSql(ready: string, last: string): string {
  return `ring(host_id, lap) AS (
      SELECT ${last}, 0
      UNION ALL
      SELECT next.host_id, next.lap FROM ring CROSS JOIN LATERAL (
        (SELECT host_id, ring.lap FROM ${ready}
         WHERE host_id > ring.host_id AND host_id <= CASE ring.lap WHEN 0 THEN ${LAST_HOST} ELSE ${last} END
         ORDER BY host_id LIMIT 1)
        UNION ALL SELECT ${BEFORE_ALL_HOSTS}, 1 WHERE ring.lap = 0
        LIMIT 1) next
    )`;
}

function claimSql({ ready, leased, request, retried }: RunTables): string {
  return `WITH RECURSIVE ${ringSql(ready, '$2::int')},
    picked AS MATERIALIZED (
      SELECT one.spot FROM ring CROSS JOIN LATERAL (
        SELECT ctid AS spot FROM ${ready} WHERE host_id = ring.host_id AND ring.host_id <> ALL($3::int[])
          AND NOT (ring.lap = 0 AND ring.host_id = $2::int)
        ORDER BY rank, request_id LIMIT $4::int FOR UPDATE SKIP LOCKED) one
      LIMIT $5::int
    ), taken AS (
      DELETE FROM ${ready} WHERE ctid = ANY(ARRAY(SELECT spot FROM picked)) RETURNING *
    ), given AS (
      INSERT INTO ${leased} (request_id, token, worker_id, expires_at, host_id, rank, claims, redo)
      SELECT request_id, $6::bigint, $7::int, ${nowMs(1)} + $8::bigint, host_id, rank, claims + 1, redo FROM taken
      RETURNING request_id, host_id, rank, claims
    )
    SELECT ${nowMs(1)} AS now_ms, given.request_id, given.host_id, given.claims, r.added_at, r.url, r.unique_key, r.method,
      r.label, r.data, t.patch
    FROM given JOIN ${request} r ON r.id = given.request_id
    LEFT JOIN LATERAL (SELECT patch FROM ${retried} WHERE request_id = given.request_id LIMIT 1) t ON true
    ORDER BY given.rank, given.request_id`;
}

/** Of one snapshot: every request is in exactly one of the tables, so none is missed while another worker moves it. */
function nextSql({ ready, delayed, leased }: RunTables): string {
  return `WITH RECURSIVE ${ringSql(ready, `${BEFORE_ALL_HOSTS}`)}
    SELECT ${nowMs(1)} AS now_ms,
      EXISTS (SELECT 1 FROM ring WHERE lap = 0 AND host_id <> ${BEFORE_ALL_HOSTS} AND host_id <> ALL($2::int[])) AS has_ready,
      (SELECT due_at FROM ${delayed} WHERE host_id <> ALL($2::int[]) ORDER BY due_at LIMIT 1) AS due_at,
      (SELECT expires_at FROM ${leased} WHERE worker_id <> $3::int ORDER BY expires_at LIMIT 1) AS expires_at`;
}

function dropAttemptSql({ leased, ready }: RunTables): string {
  return `WITH lost AS (DELETE FROM ${leased} WHERE token = $1 RETURNING host_id, rank, request_id, claims, redo)
    INSERT INTO ${ready} (host_id, rank, request_id, claims, redo)
    SELECT host_id, rank, request_id, claims - 1, redo FROM lost`;
}
