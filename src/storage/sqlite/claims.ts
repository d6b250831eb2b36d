import { requestIdOf } from '../request-id.ts';
import type { Claim, ClaimOptions, LeasedRequest } from '../store.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import type { Delays } from './delays.ts';
import type { HostTable } from './hosts.ts';
import type { Leases } from './leases.ts';
import { newRequestOf, REQUEST_COLUMNS } from './request-rows.ts';

type Ticket = { token: number; nowMs: number; expiresAtMs: number };

const BEFORE_ALL_HOSTS = 0;

/**
 * Hands out ready requests, host by host in a ring. The ring is the index of `ready` itself: from the host served
 * last, one seek finds the next that has anything, so a claim costs the same at any size, and a host with one request
 * has its turn as often as one with a million.
 */
export class Claims {
  readonly #queueId: number;
  readonly #worker: number;
  readonly #hosts: HostTable;
  readonly #leases: Leases;
  readonly #delays: Delays;
  readonly #nextHost: RowStatement;
  readonly #select: RowStatement;
  readonly #lease: RowStatement;
  readonly #deleteReady: RowStatement;
  #lastHostId = BEFORE_ALL_HOSTS;

  constructor(
    database: SqliteDatabase,
    parts: { queueId: number; worker: number; hosts: HostTable; leases: Leases; delays: Delays },
  ) {
    this.#queueId = parts.queueId;
    this.#worker = parts.worker;
    this.#hosts = parts.hosts;
    this.#leases = parts.leases;
    this.#delays = parts.delays;
    this.#nextHost = database.prepareRows(
      'SELECT host_id FROM ready WHERE queue_id = ?+0 AND host_id > ? ORDER BY host_id LIMIT 1',
    );
    this.#select = database.prepareRows(
      `SELECT request_id, rank, claims, added_at, patch, ${REQUEST_COLUMNS}
       FROM ready CROSS JOIN request ON request.id = request_id
       WHERE ready.queue_id = ?+0 AND ready.host_id = ?+0 ORDER BY rank, request_id LIMIT ?+0`,
    );
    this.#lease = database.prepareRows(
      `INSERT INTO leased (request_id, token, worker, expires_at, queue_id, host_id, rank, claims)
       SELECT request_id, ?, ?, ?, queue_id, host_id, rank, claims + 1 FROM ready
       WHERE queue_id = ? AND host_id = ? AND (rank, request_id) <= (?, ?)`,
    );
    this.#deleteReady = database.prepareRows(
      'DELETE FROM ready WHERE queue_id = ? AND host_id = ? AND (rank, request_id) <= (?, ?)',
    );
  }

  /** Within a write transaction. `token` has never been used before. */
  claim(options: ClaimOptions, token: number, nowMs: number): Claim {
    this.#leases.returnExpired(nowMs);
    this.#delays.promote(nowMs);
    const ticket = { token, nowMs, expiresAtMs: nowMs + options.leaseMs };
    const requests: LeasedRequest[] = [];
    const served = this.#serveRound(options, ticket, requests);
    if (requests.length > 0) this.#leases.noteExpiry(ticket.expiresAtMs);
    return { requests, nextDueAtMs: this.#nextDue(options, served, nowMs) };
  }

  /** One turn for every host that has something, until the limit. @returns the hosts that may have more */
  #serveRound(options: ClaimOptions, ticket: Ticket, requests: LeasedRequest[]): { mayHaveMore: boolean } {
    let mayHaveMore = false;
    const start = this.#lastHostId;
    for (const hostId of this.#ringFrom(start)) {
      const host = this.#hosts.nameOf(hostId);
      if (options.skipHosts.has(host)) continue;
      const wanted = Math.min(options.perHost, options.limit - requests.length);
      if (wanted <= 0) return { mayHaveMore: true };
      const taken = this.#serve({ hostId, host, wanted }, ticket, requests);
      mayHaveMore ||= taken === wanted;
      this.#lastHostId = hostId;
    }
    return { mayHaveMore };
  }

  /** Hosts with ready requests, each once, beginning after `start`. */
  *#ringFrom(start: number): Generator<number> {
    for (let id = this.#hostAfter(start); id !== null; id = this.#hostAfter(id)) yield id;
    for (let id = this.#hostAfter(BEFORE_ALL_HOSTS); id !== null && id <= start; id = this.#hostAfter(id)) yield id;
  }

  #hostAfter(hostId: number): number | null {
    return (this.#nextHost.get(this.#queueId, hostId)?.[0] as number | undefined) ?? null;
  }

  #serve(turn: { hostId: number; host: string; wanted: number }, ticket: Ticket, requests: LeasedRequest[]): number {
    const { hostId, host, wanted } = turn;
    const rows = this.#select.all(this.#queueId, hostId, wanted);
    const last = rows.at(-1);
    if (!last) return 0;
    const [lastId, lastRank] = last as [number, number];
    const { token, expiresAtMs } = ticket;
    this.#lease.run(token, this.#worker, expiresAtMs, this.#queueId, hostId, lastRank, lastId);
    this.#deleteReady.run(this.#queueId, hostId, lastRank, lastId);
    for (const row of rows) requests.push(leasedRequestOf(row, host, token));
    return rows.length;
  }

  #nextDue(options: ClaimOptions, { mayHaveMore }: { mayHaveMore: boolean }, nowMs: number): number | null {
    const isSkipped = (hostId: number): boolean => options.skipHosts.has(this.#hosts.nameOf(hostId));
    if (mayHaveMore) {
      for (const hostId of this.#ringFrom(this.#lastHostId)) if (!isSkipped(hostId)) return nowMs;
    }
    const times = [this.#delays.earliest(isSkipped), this.#leases.earliestForeignExpiryMs].filter((ms) => ms !== null);
    return times.length > 0 ? Math.min(...times) : null;
  }
}

function leasedRequestOf(row: readonly unknown[], host: string, token: number): LeasedRequest {
  const request = newRequestOf(row, 5, host);
  return {
    uniqueKey: request.uniqueKey,
    url: request.url,
    host,
    method: request.method,
    label: request.label,
    data: request.data,
    lease: { requestId: row[0] as number, token },
    id: requestIdOf(request.uniqueKey),
    claims: (row[2] as number) + 1,
    patch: row[4] as string | null,
    addedAtMs: row[3] as number,
  };
}
