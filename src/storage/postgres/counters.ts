import type { HandledResult, QueueCounts, RunProgress } from '../store.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import type { RunTables } from './run-tables.ts';
import { DB_NOW_MS } from './time.ts';

/** What is counted; stored as small integers. `before`: what had been handled when the present spell of work began. */
const KINDS = { requests: 1, hostPending: 2, failed: 3, skipped: 4, dataset: 5, before: 6 } as const;
type Kind = keyof typeof KINDS;
/** Of kind `before`: when the spell began, epoch ms of the database. */
const BEGAN_AT = 'beganAtMs';
const NO_WORKER = 0;

/** How one transaction changes the counters. */
export class CounterChanges {
  readonly #deltas = new Map<string, { kind: Kind; key: string; delta: number }>();

  added(host: string, count: number): void {
    this.#add('requests', 'total', count);
    this.#add('hostPending', host, count);
  }

  handled(host: string, result: HandledResult, reason: string | null): void {
    this.#add('requests', result, 1);
    this.#add('hostPending', host, -1);
    if (reason !== null && result !== 'succeeded') this.#add(result, reason, 1);
  }

  /** Handled requests wait again. */
  requeued(facts: { host: string; result: HandledResult; reason: string | null; count: number }): void {
    const { host, result, reason, count } = facts;
    this.#add('requests', result, -count);
    this.#add('hostPending', host, count);
    if (reason !== null && result !== 'succeeded') this.#add(result, reason, -count);
    // What this spell has handled stays handled by it.
    this.#add('before', result, -count);
  }

  rows(datasetId: number, delta: number): void {
    this.#add('dataset', String(datasetId), delta);
  }

  #add(kind: Kind, key: string, delta: number): void {
    const id = `${kind} ${key}`;
    const known = this.#deltas.get(id);
    if (known === undefined) this.#deltas.set(id, { kind, key, delta });
    else known.delta += delta;
  }

  /** Those that change something, in one order for all: whoever waits for a row holds none that comes later. */
  list(): { kind: number; key: string; delta: number }[] {
    return [...this.#deltas.values()]
      .filter(({ delta }) => delta !== 0)
      .map(({ kind, key, delta }) => ({ kind: KINDS[kind], key, delta }))
      .sort((a, b) => a.kind - b.kind || (a.key < b.key ? -1 : 1));
  }
}

/** Within a transaction: what has been handled so far is what was there before. */
export function beginSpell(transaction: Transaction, { counter }: RunTables): void {
  transaction.run(`DELETE FROM ${counter} WHERE kind = ${KINDS.before}`);
  transaction.run(
    `INSERT INTO ${counter} (worker_id, kind, key, value)
     SELECT ${NO_WORKER}, ${KINDS.before}, key, sum(value) FROM ${counter}
     WHERE kind = ${KINDS.requests} AND key <> 'total' GROUP BY key
     UNION ALL SELECT ${NO_WORKER}, ${KINDS.before}, '${BEGAN_AT}', ${DB_NOW_MS}`,
  );
}

/** Within a transaction: waits for others who ask for the same, until they have ended. */
export function lockSpell(transaction: Transaction, { counter }: RunTables): void {
  transaction.run(`SELECT FROM ${counter} WHERE kind = ${KINDS.before} AND key = '${BEGAN_AT}' FOR UPDATE`);
}

/** @returns an SQL expression: how many requests have succeeded or failed in this spell of work */
export function handledInSpellSql({ counter }: RunTables): string {
  return `coalesce((SELECT sum(CASE kind WHEN ${KINDS.before} THEN -value ELSE value END) FROM ${counter}
    WHERE kind IN (${KINDS.requests}, ${KINDS.before}) AND key IN ('succeeded', 'failed')), 0)`;
}

function countsOf(sums: ReadonlyMap<string, number>): QueueCounts {
  const of = (key: string): number => sums.get(key) ?? 0;
  const [total, succeeded, failed, skipped] = [of('total'), of('succeeded'), of('failed'), of('skipped')];
  return { total, succeeded, failed, skipped, pending: total - succeeded - failed - skipped };
}

/** The counts of one run: each worker adds to rows of its own. */
export class Counters {
  readonly #database: PostgresDatabase;
  readonly #table: string;
  readonly #workerId: number;

  /** @param workerId 0 = of no worker */
  constructor(database: PostgresDatabase, { counter }: RunTables, workerId: number) {
    this.#database = database;
    this.#table = counter;
    this.#workerId = workerId;
  }

  /** As the last statement of a transaction: until it ends, others of this worker wait for these rows. */
  write(transaction: Transaction, changes: CounterChanges): void {
    const list = changes.list();
    if (list.length === 0) return;
    transaction.run(
      `INSERT INTO ${this.#table} AS c (worker_id, kind, key, value)
       SELECT $1::int, kind, key, delta FROM unnest($2::smallint[], $3::text[], $4::bigint[]) AS u(kind, key, delta)
       ON CONFLICT (worker_id, kind, key) DO UPDATE SET value = c.value + excluded.value`,
      [this.#workerId, list.map(({ kind }) => kind), list.map(({ key }) => key), list.map(({ delta }) => delta)],
    );
  }

  async counts(): Promise<QueueCounts> {
    return countsOf(await this.#sums('requests'));
  }

  async progress(): Promise<RunProgress> {
    const rows = await this.#database.rows<{ kind: number; key: string; sum: number; now_ms: number }>(
      `SELECT kind, key, sum(value)::bigint AS sum, ${DB_NOW_MS} AS now_ms FROM ${this.#table}
       WHERE kind IN (${KINDS.requests}, ${KINDS.before}) GROUP BY kind, key`,
    );
    const sumsOf = (wanted: Kind): Map<string, number> =>
      new Map(rows.filter(({ kind }) => kind === KINDS[wanted]).map(({ key, sum }) => [key, sum]));
    const counts = countsOf(sumsOf('requests'));
    const before = sumsOf('before');
    const beganAtMs = before.get(BEGAN_AT) ?? 0;
    return {
      counts,
      spell: {
        succeeded: counts.succeeded - (before.get('succeeded') ?? 0),
        failed: counts.failed - (before.get('failed') ?? 0),
        elapsedMs: rows.length > 0 ? Math.max(0, rows[0]!.now_ms - beganAtMs) : 0,
      },
    };
  }

  async reasons(result: 'failed' | 'skipped'): Promise<Record<string, number>> {
    return Object.fromEntries([...(await this.#sums(result))].filter(([, count]) => count > 0));
  }

  async datasets(): Promise<ReadonlyMap<number, number>> {
    return new Map([...(await this.#sums('dataset'))].map(([key, count]) => [Number(key), count]));
  }

  async pendingHosts(limit: number): Promise<{ host: string; pending: number }[]> {
    return this.#database.rows<{ host: string; pending: number }>(
      `SELECT key AS host, sum(value)::bigint AS pending FROM ${this.#table} WHERE kind = ${KINDS.hostPending}
       GROUP BY key HAVING sum(value) > 0 ORDER BY 2 DESC, 1 LIMIT $1`,
      [limit],
    );
  }

  /** What each worker has done: requests handled and rows written. */
  async shares(): Promise<{ workerId: number; requests: number; records: number }[]> {
    return this.#database.rows(
      `SELECT worker_id AS "workerId",
         coalesce(sum(value) FILTER (WHERE kind = ${KINDS.requests} AND key <> 'total'), 0)::bigint AS requests,
         coalesce(sum(value) FILTER (WHERE kind = ${KINDS.dataset}), 0)::bigint AS records
       FROM ${this.#table} WHERE worker_id > 0 AND kind IN (${KINDS.requests}, ${KINDS.dataset}) GROUP BY worker_id ORDER BY worker_id`,
    );
  }

  async #sums(kind: Kind): Promise<ReadonlyMap<string, number>> {
    const sql = `SELECT key, sum(value)::bigint AS sum FROM ${this.#table} WHERE kind = $1 GROUP BY key`;
    const rows = await this.#database.rows<{ key: string; sum: number }>(sql, [KINDS[kind]]);
    return new Map(rows.map(({ key, sum }) => [key, sum]));
  }
}
