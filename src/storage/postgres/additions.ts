import type { NewRequest } from '../store.ts';
import type { CounterChanges } from './counters.ts';
import type { Transaction } from './database.ts';
import { keyHashOf } from './key-hash.ts';
import type { RunTables } from './run-tables.ts';
import { nowMs } from './time.ts';

/** Where ordinary requests stand among the ready ones; forefront before, by negative time. */
const ORDINARY_RANK = 0;
/** Where retries stand that are due: before what was never tried. */
export const RETRY_RANK = -1;
export const DEFAULT_METHOD = 'GET';

export type Addition = {
  requests: readonly NewRequest[];
  /** All of them to the front, whatever each says. */
  forefront: boolean;
  hostIds: ReadonlyMap<string, number>;
  /** What `nowMs` takes. */
  timeParameter: number | null;
};

/**
 * Within a transaction: adds those whose key is new and makes them ready, by one statement. They get their ids in the
 * order given, and are inserted in the order of their keys: two workers that add the same list never wait in a circle.
 * @returns which were new, by their place in the list
 */
export async function addRequests(
  transaction: Transaction,
  tables: RunTables,
  addition: Addition,
): Promise<Set<number>> {
  const { requests, hostIds, forefront, timeParameter } = addition;
  const rows = await transaction.rows<{ place: number }>(insertSql(tables), [
    timeParameter,
    requests.map(({ uniqueKey }) => keyHashOf(uniqueKey)),
    requests.map(({ host }) => hostIds.get(host) as number),
    requests.map(({ url }) => url),
    requests.map(({ uniqueKey, url }) => (uniqueKey === url ? null : uniqueKey)),
    requests.map(({ method }) => (method === DEFAULT_METHOD ? null : method)),
    requests.map(({ label }) => label),
    requests.map(({ data }) => data),
    requests.map((request) => forefront || request.forefront === true),
  ]);
  return new Set(rows.map(({ place }) => place - 1));
}

function insertSql({ request, request_id, ready }: RunTables): string {
  return `WITH given AS MATERIALIZED (
      SELECT nextval('${request_id}') AS id, * FROM (
        SELECT * FROM unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[])
          WITH ORDINALITY AS u(key, host_id, url, unique_key, method, label, data, forefront, place) ORDER BY place) u
    ), added AS (
      INSERT INTO ${request} (id, key, host_id, added_at, url, unique_key, method, label, data)
      SELECT id, key, host_id, ${nowMs(1)}, url, unique_key, method, label, data FROM given ORDER BY key, place
      ON CONFLICT DO NOTHING RETURNING id
    ), fresh AS (
      SELECT given.* FROM given JOIN added USING (id)
    ), readied AS (
      INSERT INTO ${ready} (host_id, rank, request_id, claims, redo)
      SELECT host_id, CASE WHEN forefront THEN -${nowMs(1)} ELSE ${ORDINARY_RANK} END, id, 0, false FROM fresh ORDER BY id
    ) SELECT place::int FROM fresh`;
}

/** Notes what was added, by host. */
export function countAdded(changes: CounterChanges, requests: readonly NewRequest[], added: ReadonlySet<number>): void {
  for (const place of added) changes.added((requests[place] as NewRequest).host, 1);
}
