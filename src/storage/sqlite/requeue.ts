import type { RequeueSelection } from '../store.ts';
import { RETRY_RANK } from './additions.ts';
import type { QueueCounters } from './counters.ts';
import type { Cell, RowStatement, SqliteDatabase } from './database.ts';
import type { ReadyRows } from './ready.ts';
import { RESULT_CODES } from './results.ts';

type Row = [requestId: number, hostId: number, reason: string | null];

/** What one step looks at, so that the event loop is free in between. */
export const ROWS_A_STEP = 5_000;
/** The handled requests of a selection, of those with ids from ?1 (not included) to ?2; parameters: `selectionParameters`. */
export const SELECTED_REQUESTS = `FROM done CROSS JOIN request ON request.id = request_id
   WHERE request_id > ?1 AND request_id <= ?2 AND result = ?3 AND handled_at >= ?4 AND queue_id = ?5
   AND (?6 IS NULL OR reason IN (SELECT value FROM json_each(?6)))
   AND (?7 IS NULL OR host_id IN (SELECT host.id FROM host JOIN json_each(?7) ON host.name = value))`;
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
    this.#select = database.prepareRows(`SELECT request_id, host_id, reason ${SELECTED_REQUESTS}`);
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

  #rows(selection: RequeueSelection, afterId: number, upTo: number): Row[] {
    return this.#select.all(afterId, upTo, ...selectionParameters(selection, this.#queueId)) as Row[];
  }
}

/** @returns the parameters ?3 to ?7 of `SELECTED_REQUESTS` */
export function selectionParameters(
  { result, reasons, hosts, handledSinceMs = 0 }: RequeueSelection,
  queueId: number,
): Cell[] {
  const list = (values: readonly string[] | undefined): string | null => (values ? JSON.stringify(values) : null);
  return [RESULT_CODES[result], handledSinceMs, queueId, list(reasons), list(hosts)];
}
