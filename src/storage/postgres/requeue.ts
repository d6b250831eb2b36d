import { requestIdOf } from '../request-id.ts';
import { RESULT_CODES } from '../sqlite/results.ts';
import type { HandledPage, RequeueSelection } from '../store.ts';
import { DEFAULT_METHOD, RETRY_RANK } from './additions.ts';
import { CounterChanges, type Counters } from './counters.ts';
import type { Parameter, PostgresDatabase } from './database.ts';
import type { RunTables } from './run-tables.ts';

// A done row of a request that waits again: kept for its records, which are replaced when it is handled anew.
const REQUEUED = 0;
const ROWS_A_STEP = 5_000;

type RequeueParts = { database: PostgresDatabase; tables: RunTables; counters: Counters };
type MovedRow = { host: string; reason: string | null; count: number };
type HandledRow = {
  url: string;
  unique_key: string | null;
  method: string | null;
  label: string | null;
  data: string | null;
  host: string;
  handled_at: number;
  patch: string | null;
  reason: string | null;
};

/** Handled requests: puts them back, or reads them. In steps, so that no transaction takes long. */
export class HandledRequests {
  readonly #parts: RequeueParts;

  constructor(parts: RequeueParts) {
    this.#parts = parts;
  }

  async requeue(selection: RequeueSelection): Promise<number> {
    const lastId = await this.#lastId();
    let requeued = 0;
    for (let afterId = 0; afterId < lastId; afterId += ROWS_A_STEP) requeued += await this.#step(selection, afterId);
    return requeued;
  }

  async page(selection: RequeueSelection, fromId: number): Promise<HandledPage> {
    const { database, tables } = this.#parts;
    const lastId = await this.#lastId();
    const rows = await database.rows<HandledRow>(
      `SELECT r.url, r.unique_key, r.method, r.label, r.data, h.name AS host, d.handled_at, d.patch, d.reason
       ${selectedSql(tables)} ORDER BY d.request_id`,
      parametersOf(selection, fromId),
    );
    const upTo = fromId + ROWS_A_STEP;
    return { requests: rows.map(handledRequestOf), nextId: upTo < lastId ? upTo : null };
  }

  async #lastId(): Promise<number> {
    const sql = `SELECT coalesce(max(request_id), 0) AS id FROM ${this.#parts.tables.done}`;
    const [row] = await this.#parts.database.rows<{ id: number }>(sql);
    return row?.id ?? 0;
  }

  async #step(selection: RequeueSelection, afterId: number): Promise<number> {
    const { database, tables, counters } = this.#parts;
    return database.transaction(async (transaction) => {
      const moved = await transaction.rows<MovedRow>(
        `WITH chosen AS (
           SELECT d.request_id, r.host_id, h.name AS host, d.reason ${selectedSql(tables)}
           ORDER BY d.request_id FOR UPDATE OF d
         ), marked AS (
           UPDATE ${tables.done} d SET result = ${REQUEUED} FROM chosen c WHERE d.request_id = c.request_id
           RETURNING c.request_id, c.host_id, c.host, c.reason
         ), readied AS (
           INSERT INTO ${tables.ready} (host_id, rank, request_id, claims, redo)
           SELECT host_id, ${RETRY_RANK}, request_id, 0, true FROM marked
         ) SELECT host, reason, count(*) AS count FROM marked GROUP BY host, reason`,
        parametersOf(selection, afterId),
      );
      const changes = new CounterChanges();
      for (const { host, reason, count } of moved) changes.requeued({ host, result: selection.result, reason, count });
      counters.write(transaction, changes);
      return moved.reduce((sum, { count }) => sum + count, 0);
    });
  }
}

/** The handled requests of a selection, of those with ids from $1 (not included) to $2; see `parametersOf`. */
function selectedSql({ done, request, host }: RunTables): string {
  return `FROM ${done} d JOIN ${request} r ON r.id = d.request_id JOIN ${host} h ON h.id = r.host_id
    WHERE d.request_id > $1::bigint AND d.request_id <= $2::bigint AND d.result = $3::smallint AND d.handled_at >= $4::bigint
      AND ($5::text[] IS NULL OR d.reason = ANY($5)) AND ($6::text[] IS NULL OR h.name = ANY($6))`;
}

function parametersOf({ result, reasons, hosts, handledSinceMs = 0 }: RequeueSelection, afterId: number): Parameter[] {
  return [afterId, afterId + ROWS_A_STEP, RESULT_CODES[result], handledSinceMs, reasons ?? null, hosts ?? null];
}

function handledRequestOf(row: HandledRow): HandledPage['requests'][number] {
  const uniqueKey = row.unique_key ?? row.url;
  return {
    uniqueKey,
    url: row.url,
    host: row.host,
    method: row.method ?? DEFAULT_METHOD,
    label: row.label,
    data: row.data,
    id: requestIdOf(uniqueKey),
    handledAtMs: row.handled_at,
    patch: row.patch,
    reason: row.reason,
  };
}
