import { RESULT_CODES } from '../sqlite/results.ts';
import type { CommitResult, NewRequest, Outcome, UnitOfWork } from '../store.ts';
import { addRequests, RETRY_RANK } from './additions.ts';
import { CounterChanges, type Counters } from './counters.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import type { HostTable } from './hosts.ts';
import { columnsOf } from './leases.ts';
import { type DatasetTable, type RecordTable, rowColumns, rowsOf } from './records.ts';
import type { RunTables } from './run-tables.ts';
import { writeColumns, writeValues } from './small-tables.ts';
import { nowMs, type StoreTime } from './time.ts';

export type CommitParts = {
  database: PostgresDatabase;
  tables: RunTables;
  hosts: HostTable;
  datasets: DatasetTable;
  records: RecordTable;
  counters: Counters;
  time: StoreTime;
};

type TakenRow = { request_id: number; token: number; host_id: number; claims: number; redo: boolean };
/** A unit whose lease was ours, with what was known of its request. */
type Held = { unit: UnitOfWork; place: number; hostId: number; host: string; claims: number; isRedo: boolean };
type Handled = Extract<Outcome, { kind: 'handled' }>;
type Retry = Extract<Outcome, { kind: 'retry' }>;
type Ids = { hosts: ReadonlyMap<string, number>; datasets: ReadonlyMap<string, number> };

const FIRST_CLAIM = 1;

/** Writes units of work, a batch in one transaction. Every write is fenced: who has lost the lease writes nothing. */
export class Commits {
  readonly #parts: CommitParts;

  constructor(parts: CommitParts) {
    this.#parts = parts;
  }

  async commit(units: readonly UnitOfWork[]): Promise<CommitResult[]> {
    const { database, hosts, datasets, records, tables } = this.#parts;
    const ids: Ids = {
      hosts: await hosts.idsOf(units.flatMap(({ requests }) => requests.map(({ host }) => host))),
      datasets: await datasets.idsOf(units.flatMap(namesOf)),
    };
    return database.transaction(async (transaction) => {
      const hasRecords = units.some((unit) => unit.records.length > 0);
      if (hasRecords) records.announce(transaction);
      const held = await this.#takeLeases(transaction, units);
      const changes = new CounterChanges();
      const results = await this.#answerLost(transaction, units, held);
      const added = await this.#addFollowUps(transaction, { held, ids, changes });
      for (const { place } of held) results[place] = { status: 'committed', added: added.get(place) ?? 0 };
      await this.#removeEarlierRecords(transaction, held, changes);
      this.#writeHandled(transaction, { held, ids, added, changes });
      this.#writeRetries(transaction, { held, ids, added, changes });
      const work = held.map(({ unit }) => unit);
      writeValues(
        transaction,
        tables,
        work.flatMap(({ values }) => values),
      );
      writeColumns(
        transaction,
        tables,
        work
          .flatMap(({ columns }) => columns)
          .map(({ dataset, path }) => ({ datasetId: ids.datasets.get(dataset) as number, path })),
      );
      this.#parts.counters.write(transaction, changes);
      return results;
    });
  }

  async #takeLeases(transaction: Transaction, units: readonly UnitOfWork[]): Promise<Held[]> {
    const { tables, hosts } = this.#parts;
    const rows = await transaction.rows<TakenRow>(
      `DELETE FROM ${tables.leased} l USING unnest($1::bigint[], $2::bigint[]) AS u(id, token)
       WHERE l.request_id = u.id AND l.token = u.token RETURNING l.request_id, l.token, l.host_id, l.claims, l.redo`,
      columnsOf(units.map(({ lease }) => lease)),
    );
    const taken = new Map(rows.map((row) => [row.request_id, row]));
    const names = await hosts.namesOf(rows.map(({ host_id }) => host_id));
    const held: Held[] = [];
    for (const [place, unit] of units.entries()) {
      const row = taken.get(unit.lease.requestId);
      if (row?.token !== unit.lease.token) continue;
      // The same unit twice in a batch: the second has lost its lease to the first.
      taken.delete(unit.lease.requestId);
      const host = names.get(row.host_id) as string;
      held.push({ unit, place, hostId: row.host_id, host, claims: row.claims, isRedo: row.redo });
    }
    return held;
  }

  /** The leases that are gone: those units were committed before, or somebody else has the request. */
  async #answerLost(
    transaction: Transaction,
    units: readonly UnitOfWork[],
    held: readonly Held[],
  ): Promise<CommitResult[]> {
    const { done, retried } = this.#parts.tables;
    const results = units.map((): CommitResult => ({ status: 'lost', added: 0 }));
    const heldPlaces = new Set(held.map(({ place }) => place));
    const gone = units.flatMap((unit, place) => (heldPlaces.has(place) ? [] : [{ unit, place }]));
    if (gone.length === 0) return results;
    const rows = await transaction.rows<{ id: number; token: number; added: number }>(
      `SELECT d.request_id AS id, d.token, d.added FROM ${done} d
       JOIN unnest($1::bigint[], $2::bigint[]) AS u(id, token) ON d.request_id = u.id AND d.token = u.token
       UNION ALL SELECT r.request_id, r.token, r.added FROM ${retried} r
       JOIN unnest($1::bigint[], $2::bigint[]) AS u(id, token) ON r.request_id = u.id AND r.token = u.token`,
      columnsOf(gone.map(({ unit }) => unit.lease)),
    );
    const addedBy = new Map(rows.map(({ id, token, added }) => [`${id} ${token}`, added]));
    for (const { unit, place } of gone) {
      const added = addedBy.get(`${unit.lease.requestId} ${unit.lease.token}`);
      if (added !== undefined) results[place] = { status: 'committed', added };
    }
    return results;
  }

  /** @returns how many were new, by the place of their unit */
  async #addFollowUps(
    transaction: Transaction,
    { held, ids, changes }: { held: readonly Held[]; ids: Ids; changes: CounterChanges },
  ): Promise<ReadonlyMap<number, number>> {
    const { tables, time } = this.#parts;
    const counts = new Map<number, number>();
    const found = held.flatMap(({ unit, place }) => unit.requests.map((request) => ({ request, place })));
    if (found.length === 0) return counts;
    const requests = found.map(({ request }) => request);
    const addition = { requests, forefront: false, hostIds: ids.hosts, timeParameter: time.parameter };
    for (const index of await addRequests(transaction, tables, addition)) {
      const { request, place } = found[index] as { request: NewRequest; place: number };
      counts.set(place, (counts.get(place) ?? 0) + 1);
      changes.added(request.host, 1);
    }
    return counts;
  }

  /** Of requests that were handled before and put back, and of those that left records when they were to be retried. */
  async #removeEarlierRecords(transaction: Transaction, held: readonly Held[], changes: CounterChanges): Promise<void> {
    const { tables, records } = this.#parts;
    const again = held.filter(({ claims, isRedo }) => claims > FIRST_CLAIM || isRedo);
    if (again.length === 0) return;
    const handledIds = again
      .filter(({ unit, isRedo }) => isRedo && unit.outcome.kind === 'handled')
      .map(({ unit }) => unit.lease.requestId);
    const rows = await transaction.rows<{ requestId: number; spans: string[] }>(
      `SELECT request_id AS "requestId", spans::text[] AS spans FROM ${tables.retried}
       WHERE request_id = ANY($1::bigint[]) AND spans IS NOT NULL
       UNION ALL SELECT request_id, spans::text[] FROM ${tables.done}
       WHERE request_id = ANY($2::bigint[]) AND spans IS NOT NULL`,
      [again.map(({ unit }) => unit.lease.requestId), handledIds],
    );
    const left = rows.map(({ requestId, spans }) => ({ requestId, spans: spans.map(Number) }));
    await records.remove(transaction, left, changes);
  }

  #writeHandled(transaction: Transaction, facts: Writing): void {
    const { tables, records, time } = this.#parts;
    const all = facts.held.filter(({ unit }) => unit.outcome.kind === 'handled');
    if (all.length === 0) return;
    const outcomes = all.map(({ unit }) => unit.outcome as Handled);
    for (const [index, { host }] of all.entries())
      facts.changes.handled(host, outcomes[index]!.result, outcomes[index]!.reason);
    transaction.run(
      `WITH ${spansSql(records)}
       INSERT INTO ${tables.done} (request_id, handled_at, result, token, added, reason, patch, spans)
       SELECT u.id, ${nowMs(4)}, u.result, u.token, u.added, u.reason, u.patch, s.spans
       FROM unnest($5::bigint[], $6::bigint[], $7::int[], $8::smallint[], $9::text[], $10::text[])
         AS u(id, token, added, result, reason, patch)
       LEFT JOIN spans s ON s.request_id = u.id
       ON CONFLICT (request_id) DO UPDATE SET handled_at = excluded.handled_at, result = excluded.result,
         token = excluded.token, added = excluded.added, reason = excluded.reason, patch = excluded.patch,
         spans = excluded.spans`,
      [
        ...this.#rowParameters(all, facts),
        time.parameter,
        ...unitColumns(all, facts.added),
        outcomes.map(({ result }) => RESULT_CODES[result]),
        outcomes.map(({ reason }) => reason),
        outcomes.map(({ patch }) => patch),
      ],
    );
    const retriedIds = all.filter(({ claims }) => claims > FIRST_CLAIM).map(({ unit }) => unit.lease.requestId);
    if (retriedIds.length > 0)
      transaction.run(`DELETE FROM ${tables.retried} WHERE request_id = ANY($1::bigint[])`, [retriedIds]);
  }

  #writeRetries(transaction: Transaction, facts: Writing): void {
    const { tables, records, time } = this.#parts;
    const all = facts.held.filter(({ unit }) => unit.outcome.kind === 'retry');
    if (all.length === 0) return;
    const outcomes = all.map(({ unit }) => unit.outcome as Retry);
    transaction.run(
      `WITH ${spansSql(records)}
       INSERT INTO ${tables.retried} (request_id, token, added, patch, spans)
       SELECT u.id, u.token, u.added, u.patch, s.spans
       FROM unnest($4::bigint[], $5::bigint[], $6::int[], $7::text[]) AS u(id, token, added, patch)
       LEFT JOIN spans s ON s.request_id = u.id
       ON CONFLICT (request_id) DO UPDATE SET token = excluded.token, added = excluded.added, patch = excluded.patch,
         spans = excluded.spans`,
      [...this.#rowParameters(all, facts), ...unitColumns(all, facts.added), outcomes.map(({ patch }) => patch)],
    );
    const columns = 'host_id, rank, request_id, claims, redo';
    const rank = `CASE WHEN u.forefront THEN -${nowMs(1)} ELSE ${RETRY_RANK} END`;
    transaction.run(
      `WITH given AS (
         SELECT u.*, ${rank} AS rank FROM unnest($2::bigint[], $3::int[], $4::int[], $5::boolean[], $6::bigint[], $7::boolean[])
           AS u(request_id, host_id, claims, redo, due_at, forefront)
       ), later AS (
         INSERT INTO ${tables.delayed} (due_at, ${columns})
         SELECT due_at, ${columns} FROM given WHERE due_at > ${nowMs(1)} RETURNING request_id
       ) INSERT INTO ${tables.ready} (${columns})
         SELECT ${columns} FROM given WHERE request_id NOT IN (SELECT request_id FROM later)`,
      [
        time.parameter,
        all.map(({ unit }) => unit.lease.requestId),
        all.map(({ hostId }) => hostId),
        all.map(({ claims }) => claims),
        all.map(({ isRedo }) => isRedo),
        outcomes.map(({ notBeforeMs }) => (notBeforeMs === null ? 0 : time.toDatabase(notBeforeMs))),
        outcomes.map(({ forefront }) => forefront),
      ],
    );
  }

  #rowParameters(all: readonly Held[], { ids, changes }: Writing): ReturnType<typeof rowColumns> {
    const rows = all.flatMap(({ unit }) => rowsOf(unit.records, unit.lease.requestId, ids.datasets));
    for (const { datasetId } of rows) changes.rows(datasetId, 1);
    return rowColumns(rows);
  }
}

type Writing = { held: readonly Held[]; ids: Ids; added: ReadonlyMap<number, number>; changes: CounterChanges };

function namesOf({ records, columns }: UnitOfWork): string[] {
  return [...records, ...columns].map(({ dataset }) => dataset);
}

/** Appends the rows, and tells where those of each request are. */
function spansSql(records: RecordTable): string {
  return `rows AS (${records.appendSql(1)} RETURNING request_id, seq),
    spans AS (SELECT request_id, ARRAY[min(seq), max(seq)] AS spans FROM rows GROUP BY request_id)`;
}

function unitColumns(all: readonly Held[], added: ReadonlyMap<number, number>): [number[], number[], number[]] {
  return [
    all.map(({ unit }) => unit.lease.requestId),
    all.map(({ unit }) => unit.lease.token),
    all.map(({ place }) => added.get(place) ?? 0),
  ];
}
