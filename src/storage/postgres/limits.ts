import type {
  ExchangeAnswer,
  ExchangeOptions,
  KeyDecision,
  KeyReport,
  LimitExchange,
} from '../../governor/shared/exchange.ts';
import type { Share } from '../../governor/shared/shares.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import { LOCK_CLASS } from './migrations.ts';
import type { RunTables } from './run-tables.ts';
import { DB_NOW_MS } from './time.ts';

type ShareRow = {
  key: string;
  worker_id: number;
  wanted_rps: number;
  granted_rps: number;
  sent_rps: number;
  paced_rps: number | null;
  found_rps: number | null;
  ceiling_rps: number | null;
};

/**
 * What workers of one run tell one another of limits, through two small tables. One worker at a time reads, decides and
 * writes, for a few ms; times are the database's.
 */
export class PostgresLimits implements LimitExchange {
  readonly workerId: number;
  readonly #database: PostgresDatabase;
  readonly #tables: RunTables;
  readonly #runId: number;

  constructor(facts: { database: PostgresDatabase; tables: RunTables; runId: number; workerId: number }) {
    this.#database = facts.database;
    this.#tables = facts.tables;
    this.#runId = facts.runId;
    this.workerId = facts.workerId;
  }

  async exchange(reports: readonly KeyReport[], { leaseMs, decide }: ExchangeOptions): Promise<ExchangeAnswer> {
    const keys = reports.map(({ key }) => key);
    return this.#database.transaction(async (transaction) => {
      // Readers of rows lock the run by its id: this is another lock.
      transaction.run('SELECT pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, -this.#runId]);
      this.#park(transaction, reports);
      const parks = this.#parks(transaction, keys);
      const others = Map.groupBy(await this.#sharesOf(transaction, keys), ({ key }) => key);
      const decisions = new Map<string, KeyDecision>();
      for (const report of reports)
        decisions.set(report.key, decide(report, (others.get(report.key) ?? []).map(shareOf)));
      this.#writeShares(transaction, { reports, decisions, leaseMs });
      return { decisions, parks: await parks };
    });
  }

  #sharesOf(transaction: Transaction, keys: readonly string[]): Promise<ShareRow[]> {
    return transaction.rows<ShareRow>(
      `SELECT key, worker_id, wanted_rps, granted_rps, sent_rps, paced_rps, found_rps, ceiling_rps
       FROM ${this.#tables.limit_share} WHERE key = ANY($1::text[]) AND worker_id <> $2 AND until > ${DB_NOW_MS}`,
      [keys, this.workerId],
    );
  }

  #parks(transaction: Transaction, keys: readonly string[]): Promise<{ key: string; forMs: number }[]> {
    return transaction.rows(
      `SELECT key, parked_until - ${DB_NOW_MS} AS "forMs" FROM ${this.#tables.limit_park}
       WHERE key = ANY($1::text[]) AND parked_until > ${DB_NOW_MS}`,
      [keys],
    );
  }

  #park(transaction: Transaction, reports: readonly KeyReport[]): void {
    const parked = reports.filter(({ parkForMs }) => parkForMs !== null && parkForMs > 0);
    if (parked.length === 0) return;
    transaction.run(
      `INSERT INTO ${this.#tables.limit_park} AS k (key, parked_until)
       SELECT key, ${DB_NOW_MS} + for_ms::bigint FROM unnest($1::text[], $2::float8[]) AS u(key, for_ms)
       ON CONFLICT (key) DO UPDATE SET parked_until = greatest(k.parked_until, excluded.parked_until)`,
      [parked.map(({ key }) => key), parked.map(({ parkForMs }) => parkForMs)],
    );
  }

  #writeShares(
    transaction: Transaction,
    facts: { reports: readonly KeyReport[]; decisions: ReadonlyMap<string, KeyDecision>; leaseMs: number },
  ): void {
    const { reports, decisions, leaseMs } = facts;
    transaction.run(
      `INSERT INTO ${this.#tables.limit_share}
         (key, worker_id, until, wanted_rps, granted_rps, sent_rps, paced_rps, found_rps, ceiling_rps)
       SELECT key, $1::int, ${DB_NOW_MS} + $2::bigint, wanted, granted, sent, paced, found, ceiling
       FROM unnest($3::text[], $4::float8[], $5::float8[], $6::float8[], $7::float8[], $8::float8[], $9::float8[])
         AS u(key, wanted, granted, sent, paced, found, ceiling)
       ON CONFLICT (key, worker_id) DO UPDATE SET until = excluded.until, wanted_rps = excluded.wanted_rps,
         granted_rps = excluded.granted_rps, sent_rps = excluded.sent_rps, paced_rps = excluded.paced_rps,
         found_rps = excluded.found_rps, ceiling_rps = excluded.ceiling_rps`,
      [
        this.workerId,
        leaseMs,
        reports.map(({ key }) => key),
        reports.map(({ wantedRps }) => wantedRps),
        reports.map(({ key }) => decisions.get(key)?.grantedRps ?? 0),
        reports.map(({ sentRps }) => sentRps),
        reports.map(({ pacedRps }) => pacedRps),
        reports.map(({ foundRps }) => foundRps),
        reports.map(({ ceilingRps }) => ceilingRps),
      ],
    );
  }
}

function shareOf(row: ShareRow): Share {
  return {
    workerId: row.worker_id,
    wantedRps: row.wanted_rps,
    grantedRps: row.granted_rps,
    sentRps: row.sent_rps,
    pacedRps: row.paced_rps,
    foundRps: row.found_rps,
    ceilingRps: row.ceiling_rps,
  };
}
