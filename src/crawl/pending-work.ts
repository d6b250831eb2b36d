import { stringifyExact } from '../core/exact-json.ts';
import { bindToSession } from '../queue/bound-session.ts';
import type { Lease, NewRecord, NewRequest, Outcome, UnitOfWork } from '../storage/store.ts';
import type { DatasetColumns } from './dataset-columns.ts';

/** Who writes: requests to its host may be bound to its session. */
export type Writer = { host: string; sessionId: () => string; isSticky: boolean };

/** What a handler has asked to write: kept until its request is acknowledged, or dropped if it fails. */
export class PendingWork {
  readonly #columns: DatasetColumns;
  #records: NewRecord[] = [];
  #requests: NewRequest[] = [];
  #values: { key: string; json: string | null }[] = [];
  #newColumns: { dataset: string; path: string }[] = [];
  #isClosed = false;
  readonly #writer: Writer | null;
  #bindsSession = false;

  /** @param writer left out = none of its requests is bound to a session */
  constructor(columns: DatasetColumns, writer: Writer | null = null) {
    this.#columns = columns;
    this.#writer = writer;
  }

  /** @param record an object, or any JSON value */
  addRecord(dataset: string, record: unknown): void {
    this.addJson(dataset, record, stringifyExact(record));
  }

  /** @param json the record's text: one line, as it is to be stored */
  addJson(dataset: string, record: unknown, json: string): void {
    if (this.#isClosed) return;
    this.#records.push({ dataset, json });
    for (const path of this.#columns.observe(dataset, record, json)) this.#newColumns.push({ dataset, path });
  }

  /** @param isSticky whether only the writer's session may send it; left out = as for all of the writer's */
  addRequest(request: NewRequest, isSticky = this.#writer?.isSticky ?? false): void {
    if (this.#isClosed) return;
    const writer = this.#writer;
    if (writer === null || !isSticky || writer.host !== request.host) {
      this.#requests.push(request);
      return;
    }
    this.#bindsSession = true;
    this.#requests.push(bindToSession(request, writer.sessionId()));
  }

  /** Whether some of its requests are for the writer's session alone. */
  get bindsSession(): boolean {
    return this.#bindsSession;
  }

  setValue(key: string, json: string | null): void {
    if (!this.#isClosed) this.#values.push({ key, json });
  }

  /** Drops what was written so far: the attempt failed. */
  clear(): void {
    this.#records = [];
    this.#requests = [];
    this.#values = [];
    this.#bindsSession = false;
  }

  /** Writes that come later are dropped: the handler was too late. */
  close(): void {
    this.#isClosed = true;
  }

  /** It will not be committed: the columns it brought are still to be stored, by whoever commits next. */
  abandon(): void {
    this.#isClosed = true;
    this.#columns.keep(this.#newColumns);
  }

  /** Its records, with the columns they brought. */
  get rows(): Pick<UnitOfWork, 'records' | 'columns'> {
    return { records: this.#records, columns: this.#newColumns };
  }

  /** All of it, fenced by the lease. */
  toUnit(lease: Lease, outcome: Outcome): UnitOfWork {
    this.close();
    this.#newColumns.push(...this.#columns.takeKept());
    return {
      lease,
      outcome,
      records: this.#records,
      requests: this.#requests,
      values: this.#values,
      columns: this.#newColumns,
    };
  }
}
