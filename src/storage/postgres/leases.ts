import type { Lease } from '../store.ts';
import type { PostgresDatabase } from './database.ts';
import type { RunTables } from './run-tables.ts';
import { nowMs, type StoreTime } from './time.ts';

type LeaseParts = { database: PostgresDatabase; tables: RunTables; time: StoreTime };

/** Who holds what, until when. */
export class Leases {
  readonly #parts: LeaseParts;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  /** @returns those that were lost */
  async renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]> {
    const { database, tables, time } = this.#parts;
    const held = await database.rows<{ request_id: number; token: number }>(
      `UPDATE ${tables.leased} l SET expires_at = ${nowMs(1)} + $2::bigint
       FROM unnest($3::bigint[], $4::bigint[]) AS u(id, token) WHERE l.request_id = u.id AND l.token = u.token
       RETURNING l.request_id, l.token`,
      [time.parameter, leaseMs, ...columnsOf(leases)],
    );
    const heldLeases = new Set(held.map(({ request_id, token }) => `${request_id} ${token}`));
    return leases.filter(({ requestId, token }) => !heldLeases.has(`${requestId} ${token}`));
  }

  async release(leases: readonly Lease[]): Promise<void> {
    const { database, tables } = this.#parts;
    await database.rows(
      `WITH given AS (
         DELETE FROM ${tables.leased} l USING unnest($1::bigint[], $2::bigint[]) AS u(id, token)
         WHERE l.request_id = u.id AND l.token = u.token RETURNING l.*
       ) ${readySql(tables, 'claims - 1')}`,
      columnsOf(leases),
    );
  }

  /** Their workers are gone, perhaps killed by what they worked on: the claims count. @returns how many */
  async releaseAll(): Promise<number> {
    const { database, tables } = this.#parts;
    const rows = await database.rows(
      `WITH given AS (DELETE FROM ${tables.leased} RETURNING *) ${readySql(tables, 'claims')} RETURNING request_id`,
    );
    return rows.length;
  }
}

function readySql({ ready }: RunTables, claims: string): string {
  return `INSERT INTO ${ready} (host_id, rank, request_id, claims, redo) SELECT host_id, rank, request_id, ${claims}, redo FROM given`;
}

export function columnsOf(leases: readonly Lease[]): [number[], number[]] {
  return [leases.map(({ requestId }) => requestId), leases.map(({ token }) => token)];
}
