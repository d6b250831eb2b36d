import type { HandledResult, QueueCounts } from '../store.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import { RESULT_CODES } from './results.ts';

type Deltas = { pending: number; succeeded: number; failed: number; skipped: number };

const noDeltas = (): Deltas => ({ pending: 0, succeeded: 0, failed: 0, skipped: 0 });

/**
 * The counts of one queue: in all, by host, by reason. Changes are gathered during a transaction and written once at
 * its end, so that a batch of a hundred units touches each row once.
 */
export class QueueCounters {
  readonly #queueId: number;
  readonly #byHost = new Map<number, Deltas>();
  readonly #byReason = new Map<string, { code: number; reason: string; delta: number }>();
  readonly #updateQueue: RowStatement;
  readonly #updateHost: RowStatement;
  readonly #upsertReason: RowStatement;
  readonly #selectQueue: RowStatement;
  readonly #selectModified: RowStatement;
  readonly #selectReasons: RowStatement;
  readonly #selectHosts: RowStatement;

  constructor(database: SqliteDatabase, queueId: number) {
    this.#queueId = queueId;
    this.#updateQueue = database.prepareRows(
      `UPDATE queue SET modified_at = ?, total = total + ?, succeeded = succeeded + ?, failed = failed + ?,
       skipped = skipped + ? WHERE id = ?`,
    );
    this.#updateHost = database.prepareRows(
      `UPDATE host SET pending = pending + ?, succeeded = succeeded + ?, failed = failed + ?, skipped = skipped + ?
       WHERE id = ?`,
    );
    this.#upsertReason = database.prepareRows(
      `INSERT INTO reason_count (queue_id, result, reason, count) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count`,
    );
    this.#selectQueue = database.prepareRows('SELECT total, succeeded, failed, skipped FROM queue WHERE id = ?');
    this.#selectModified = database.prepareRows('SELECT modified_at FROM queue WHERE id = ?');
    this.#selectReasons = database.prepareRows(
      'SELECT reason, count FROM reason_count WHERE queue_id = ? AND result = ? AND count > 0',
    );
    this.#selectHosts = database.prepareRows(
      'SELECT name, pending FROM host WHERE queue_id = ? AND pending > 0 ORDER BY pending DESC, name LIMIT ?',
    );
    database.onRollback(() => this.#clear());
  }

  added(hostId: number): void {
    this.#deltas(hostId).pending += 1;
  }

  handled(hostId: number, result: HandledResult, reason: string | null): void {
    const deltas = this.#deltas(hostId);
    deltas.pending -= 1;
    deltas[result] += 1;
    if (reason !== null) this.#countReason(result, reason, 1);
  }

  /** A handled request waits again. */
  requeued(hostId: number, result: HandledResult, reason: string | null): void {
    const deltas = this.#deltas(hostId);
    deltas.pending += 1;
    deltas[result] -= 1;
    if (reason !== null) this.#countReason(result, reason, -1);
  }

  /** Writes what was gathered; at the end of every write transaction that changed the queue. */
  flush(nowMs: number): void {
    const sum = noDeltas();
    for (const [hostId, deltas] of this.#byHost) {
      this.#updateHost.run(deltas.pending, deltas.succeeded, deltas.failed, deltas.skipped, hostId);
      for (const name of Object.keys(sum) as (keyof Deltas)[]) sum[name] += deltas[name];
    }
    const total = sum.pending + sum.succeeded + sum.failed + sum.skipped;
    this.#updateQueue.run(nowMs, total, sum.succeeded, sum.failed, sum.skipped, this.#queueId);
    for (const { code, reason, delta } of this.#byReason.values())
      this.#upsertReason.run(this.#queueId, code, reason, delta);
    this.#clear();
  }

  counts(): QueueCounts {
    const [total, succeeded, failed, skipped] = this.#selectQueue.get(this.#queueId) as number[] as [
      number,
      number,
      number,
      number,
    ];
    return { total, succeeded, failed, skipped, pending: total - succeeded - failed - skipped };
  }

  /** When a request was last added or its state changed, epoch ms. */
  lastWriteMs(): number {
    return this.#selectModified.get(this.#queueId)?.[0] as number;
  }

  reasons(result: HandledResult): Record<string, number> {
    const rows = this.#selectReasons.all(this.#queueId, RESULT_CODES[result]);
    return Object.fromEntries(rows as [string, number][]);
  }

  pendingHosts(limit: number): { host: string; pending: number }[] {
    const rows = this.#selectHosts.all(this.#queueId, limit) as [string, number][];
    return rows.map(([host, pending]) => ({ host, pending }));
  }

  #deltas(hostId: number): Deltas {
    const known = this.#byHost.get(hostId);
    if (known) return known;
    const deltas = noDeltas();
    this.#byHost.set(hostId, deltas);
    return deltas;
  }

  #countReason(result: HandledResult, reason: string, delta: number): void {
    const code = RESULT_CODES[result];
    const key = `${code} ${reason}`;
    const entry = this.#byReason.get(key);
    if (entry) entry.delta += delta;
    else this.#byReason.set(key, { code, reason, delta });
  }

  #clear(): void {
    this.#byHost.clear();
    this.#byReason.clear();
  }
}
