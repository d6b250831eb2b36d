import type { CommitResult, Outcome, UnitOfWork } from '../store.ts';
import { type Additions, forefrontRank, RETRY_RANK } from './additions.ts';
import type { ColumnTable } from './columns.ts';
import type { QueueCounters } from './counters.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import type { Delays } from './delays.ts';
import type { ReadyRows } from './ready.ts';
import { parseSpans, type RecordTables, SpanList } from './records.ts';
import { RESULT_CODES } from './results.ts';
import type { ValueTable } from './values.ts';

type Taken = { hostId: number; claims: number };
type Handled = Extract<Outcome, { kind: 'handled' }>;
type Retry = Extract<Outcome, { kind: 'retry' }>;
type Trace = { added: number; records: string | null };

const FIRST_CLAIM = 1;

/** Writes units of work. Every write is fenced: who has lost the lease writes nothing. */
export class Commits {
  readonly #ready: ReadyRows;
  readonly #additions: Additions;
  readonly #counters: QueueCounters;
  readonly #delays: Delays;
  readonly #records: RecordTables;
  readonly #columns: ColumnTable;
  readonly #values: ValueTable;
  readonly #takeLease: RowStatement;
  readonly #insertDone: RowStatement;
  readonly #selectDone: RowStatement;
  readonly #updateDone: RowStatement;
  readonly #selectRetry: RowStatement;
  readonly #updateRetry: RowStatement;

  constructor(
    database: SqliteDatabase,
    parts: {
      ready: ReadyRows;
      additions: Additions;
      counters: QueueCounters;
      delays: Delays;
      records: RecordTables;
      columns: ColumnTable;
      values: ValueTable;
    },
  ) {
    this.#ready = parts.ready;
    this.#additions = parts.additions;
    this.#counters = parts.counters;
    this.#delays = parts.delays;
    this.#records = parts.records;
    this.#columns = parts.columns;
    this.#values = parts.values;
    this.#takeLease = database.prepareRows(
      'DELETE FROM leased WHERE request_id = ? AND token = ? RETURNING host_id, claims',
    );
    this.#insertDone = database.prepareRows(
      `INSERT INTO done (request_id, handled_at, result, token, added, reason, patch, records)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#selectDone = database.prepareRows('SELECT token, added, records FROM done WHERE request_id = ?');
    this.#updateDone = database.prepareRows(
      `UPDATE done SET handled_at = ?, result = ?, token = ?, added = ?, reason = ?, patch = ?, records = ?
       WHERE request_id = ?`,
    );
    this.#selectRetry = database.prepareRows(
      'SELECT retry_token, retry_added, retry_records FROM request WHERE id = ?',
    );
    this.#updateRetry = database.prepareRows(
      'UPDATE request SET patch = ?, retry_token = ?, retry_added = ?, retry_records = ? WHERE id = ?',
    );
  }

  /** Within a write transaction: the whole batch. */
  commit(units: readonly UnitOfWork[], nowMs: number): CommitResult[] {
    const results = units.map((unit) => this.#commitUnit(unit, nowMs));
    this.#additions.flush();
    this.#records.flush(nowMs);
    this.#counters.flush(nowMs);
    return results;
  }

  #commitUnit(unit: UnitOfWork, nowMs: number): CommitResult {
    const { requestId, token } = unit.lease;
    const row = this.#takeLease.get(requestId, token);
    if (!row) return this.#answerAgain(requestId, token);
    const taken = { hostId: row[0] as number, claims: row[1] as number };
    const trace = { records: this.#writeRecords(unit, nowMs), added: this.#addRequests(unit, nowMs) };
    for (const { key, json } of unit.values) this.#values.put(key, json);
    this.#columns.addAll(unit.columns, nowMs);
    if (unit.outcome.kind === 'handled') this.#writeHandled(unit, unit.outcome, { taken, trace, nowMs });
    else this.#writeRetry(unit, unit.outcome, { taken, trace, nowMs });
    return { status: 'committed', added: trace.added };
  }

  /** The lease is gone: this unit was committed before, or somebody else has the request. */
  #answerAgain(requestId: number, token: number): CommitResult {
    const done = this.#selectDone.get(requestId);
    if (done?.[0] === token) return { status: 'committed', added: done[1] as number };
    const retried = this.#selectRetry.get(requestId);
    if (retried?.[0] === token) return { status: 'committed', added: retried[1] as number };
    return { status: 'lost', added: 0 };
  }

  #writeRecords(unit: UnitOfWork, nowMs: number): string | null {
    const spans = new SpanList();
    for (const { dataset, json } of unit.records)
      spans.add(...this.#records.append({ dataset, json, requestId: unit.lease.requestId }, nowMs));
    return spans.toText();
  }

  #addRequests(unit: UnitOfWork, nowMs: number): number {
    let added = 0;
    for (const request of unit.requests)
      if (this.#additions.add(request, { nowMs, forefront: false }).isNew) added += 1;
    return added;
  }

  #writeHandled(unit: UnitOfWork, outcome: Handled, facts: { taken: Taken; trace: Trace; nowMs: number }): void {
    const { requestId, token } = unit.lease;
    const { taken, trace, nowMs } = facts;
    const { result, reason, patch } = outcome;
    if (taken.claims > FIRST_CLAIM) this.#removeRetryRecords(requestId, nowMs);
    const code = RESULT_CODES[result];
    const { added, records } = trace;
    const inserted = this.#insertDone.run(requestId, nowMs, code, token, added, reason, patch, records).changes;
    if (inserted === 0) {
      this.#removeEarlierRecords(requestId, nowMs);
      this.#updateDone.run(nowMs, code, token, added, reason, patch, records, requestId);
    }
    this.#counters.handled(taken.hostId, result, reason);
  }

  /** The request was handled before and put back: what it left then is replaced. */
  #removeEarlierRecords(requestId: number, nowMs: number): void {
    const records = this.#selectDone.get(requestId)?.[2] as string | null;
    this.#records.remove(parseSpans(records), requestId, nowMs);
  }

  #removeRetryRecords(requestId: number, nowMs: number): void {
    const records = (this.#selectRetry.get(requestId)?.[2] as string | null | undefined) ?? null;
    this.#records.remove(parseSpans(records), requestId, nowMs);
  }

  #writeRetry(unit: UnitOfWork, outcome: Retry, facts: { taken: Taken; trace: Trace; nowMs: number }): void {
    const { requestId, token } = unit.lease;
    const { taken, trace, nowMs } = facts;
    this.#removeRetryRecords(requestId, nowMs);
    this.#updateRetry.run(outcome.patch, token, trace.added, trace.records, requestId);
    const rank = outcome.forefront ? forefrontRank(nowMs) : RETRY_RANK;
    const { hostId, claims } = taken;
    const dueAtMs = outcome.notBeforeMs ?? nowMs;
    if (dueAtMs > nowMs) this.#delays.put({ requestId, hostId, dueAtMs, rank, claims });
    else this.#ready.put({ requestId, hostId, rank, claims });
  }
}
