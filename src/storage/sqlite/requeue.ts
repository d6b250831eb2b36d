import type { RequeueSelection } from '../store.ts';
import { RETRY_RANK } from './additions.ts';
import type { QueueCounters } from './counters.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import type { ReadyRows } from './ready.ts';
import { RESULT_CODES } from './results.ts';

type Row = [requestId: number, hostId: number, reason: string | null];

/** What one step looks at, so that the event loop is free in between. */
const ROWS_A_STEP = 5_000;
// A done row of a request that waits again: kept for its records, which are replaced when it is handled anew.
const REQUEUED = 0;

/** Puts handled requests back. */
export class Requeue {
  readonly #queueId: number;
  readonly #counters: QueueCounters;
  readonly #select: RowStatement;
  readonly #lastId: RowStatement;
  readonly #markDone: RowStatement;
  readonly #ready: ReadyRows;

  constructor(database: SqliteDatabase, parts: { queueId: number; counters: QueueCounters; ready: ReadyRows }) {
    this.#queueId = parts.queueId;
    this.#counters = parts.counters;
    this.#ready = parts.ready;
    this.#lastId = database.prepareRows('SELECT coalesce(max(request_id), 0) FROM done');
    this.#select = database.prepareRows(
      `SELECT request_id, host_id, reason FROM done CROSS JOIN request ON request.id = request_id
       WHERE request_id > ?1 AND request_id <= ?2 AND result = ?3 AND handled_at >= ?4 AND queue_id = ?5
       AND (?6 IS NULL OR reason IN (SELECT value FROM json_each(?6)))
       AND (?7 IS NULL OR host_id IN (SELECT host.id FROM host JOIN json_each(?7) ON host.name = value))`,
    );
    this.#markDone = database.prepareRows(`UPDATE done SET result = ${REQUEUED} WHERE request_id = ?`);
  }

  /** Where the last step ends. */
  lastId(): number {
    return this.#lastId.get()?.[0] as number;
  }

  /** Within a write transaction: one step over the ids after `afterId`. */
  step(selection: RequeueSelection, afterId: number, nowMs: number): { requeued: number; upTo: number } {
    const upTo = afterId + ROWS_A_STEP;
    const rows = this.#rows(selection, afterId, upTo);
    for (const [requestId, hostId, reason] of rows) {
      this.#markDone.run(requestId);
      this.#ready.put({ requestId, hostId, rank: RETRY_RANK, claims: 0 });
      this.#counters.requeued(hostId, selection.result, reason);
    }
    if (rows.length > 0) this.#counters.flush(nowMs);
    return { requeued: rows.length, upTo };
  }

  #rows({ result, reasons, hosts, handledSinceMs }: RequeueSelection, afterId: number, upTo: number): Row[] {
    const list = (values: readonly string[] | undefined): string | null => (values ? JSON.stringify(values) : null);
    const since = handledSinceMs ?? 0;
    const code = RESULT_CODES[result];
    return this.#select.all(afterId, upTo, code, since, this.#queueId, list(reasons), list(hosts)) as Row[];
  }
}
