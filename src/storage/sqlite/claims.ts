import { requestIdOf } from '../request-id.ts';
import type { Claim, ClaimOptions, LeasedRequest } from '../store.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import type { Delays } from './delays.ts';
import { HostRing } from './host-ring.ts';
import type { HostTable } from './hosts.ts';
import type { Leases } from './leases.ts';
import { newRequestOf, REQUEST_COLUMNS } from './request-rows.ts';

type Ticket = { token: number; nowMs: number; expiresAtMs: number };

type Turn = { hostId: number; host: string; wanted: number };

/**
 * Hands out ready requests, host by host around a ring, from the host after the one served last: a claim costs the same
 * at any size, and a host with one request has its turn as often as one with a million.
 */
export class Claims {
  readonly #queueId: number;
  readonly #worker: number;
  readonly #hosts: HostTable;
  readonly #leases: Leases;
  readonly #delays: Delays;
  readonly #ring: HostRing;
  readonly #hasReady: RowStatement;
  readonly #select: RowStatement;
  readonly #lease: RowStatement;
  readonly #deleteReady: RowStatement;
  #lastHostId = 0;

  constructor(
    database: SqliteDatabase,
    parts: { queueId: number; worker: number; hosts: HostTable; leases: Leases; delays: Delays },
  ) {
    this.#queueId = parts.queueId;
    this.#worker = parts.worker;
    this.#hosts = parts.hosts;
    this.#leases = parts.leases;
    this.#delays = parts.delays;
    this.#ring = new HostRing(database, parts.queueId);
    this.#hasReady = database.prepareRows('SELECT 1 FROM ready WHERE queue_id = ?+0 AND host_id = ?+0 LIMIT 1');
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
    const hasMore = this.#serveRound(options, ticket, requests);
    if (requests.length > 0) this.#leases.noteExpiry(ticket.expiresAtMs);
    return { requests, nextDueAtMs: hasMore ? nowMs : this.#nextDue(options) };
  }

  /** One turn for every host that has something, until the limit. @returns whether more could be claimed at once */
  #serveRound(options: ClaimOptions, ticket: Ticket, requests: LeasedRequest[]): boolean {
    const perhapsMore: number[] = [];
    for (const hostId of this.#ring.from(this.#lastHostId)) {
      const host = this.#hosts.nameOf(hostId);
      if (options.skipHosts.has(host)) continue;
      const wanted = Math.min(options.perHost, options.limit - requests.length);
      if (wanted <= 0) return true;
      const taken = this.#serve({ hostId, host, wanted }, ticket, requests);
      if (taken === wanted) perhapsMore.push(hostId);
      this.#lastHostId = hostId;
    }
    return perhapsMore.some((hostId) => this.#hasReady.get(this.#queueId, hostId) !== undefined);
  }

  #serve(turn: Turn, ticket: Ticket, requests: LeasedRequest[]): number {
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

  #nextDue({ skipHosts }: ClaimOptions): number | null {
    const delayed = this.#delays.earliest((hostId) => skipHosts.has(this.#hosts.nameOf(hostId)));
    const times = [delayed, this.#leases.earliestForeignExpiryMs].filter((timeMs) => timeMs !== null);
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
