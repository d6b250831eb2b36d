import type { HandledResult, QueueCounts } from '../store.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import type { RunTables } from './run-tables.ts';

/** What is counted; stored as small integers. */
const KINDS = { requests: 1, hostPending: 2, failed: 3, skipped: 4, dataset: 5 } as const;
type Kind = keyof typeof KINDS;

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
    const sums = await this.#sums('requests');
    const of = (key: string): number => sums.get(key) ?? 0;
    const [total, succeeded, failed, skipped] = [of('total'), of('succeeded'), of('failed'), of('skipped')];
    return { total, succeeded, failed, skipped, pending: total - succeeded - failed - skipped };
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
