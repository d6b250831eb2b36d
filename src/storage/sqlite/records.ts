import { randomUUID } from 'node:crypto';
import type { RowStatement, SqliteDatabase } from './database.ts';

/** Rows one request left in one dataset: `count` of them from `firstSeq` on. */
export type RecordSpan = { datasetId: number; firstSeq: number; count: number };

type OpenDataset = { id: number; nextSeq: number; added: number };

/**
 * The rows of all datasets, each dataset in a table of its own: appended in order, read in order, dropped at once.
 * What changes in a dataset's own row is gathered and written by `flush`.
 */
export class RecordTables {
  readonly #database: SqliteDatabase;
  readonly #touched = new Map<string, OpenDataset>();
  readonly #inserts = new Map<number, RowStatement>();
  readonly #takes = new Map<number, RowStatement>();
  readonly #select: RowStatement;
  readonly #nextSeq: RowStatement;
  readonly #create: RowStatement;
  readonly #update: RowStatement;
  readonly #uncount: RowStatement;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#select = database.prepareRows('SELECT id, next_seq FROM dataset WHERE name = ?');
    this.#nextSeq = database.prepareRows('SELECT next_seq, count FROM dataset WHERE id = ?');
    this.#create = database.prepareRows(
      'INSERT INTO dataset (crawlee_id, name, created_at, modified_at, accessed_at) VALUES (?, ?, ?, ?, ?)',
    );
    this.#update = database.prepareRows(
      'UPDATE dataset SET next_seq = ?, count = count + ?, modified_at = ?, accessed_at = ? WHERE id = ?',
    );
    this.#uncount = database.prepareRows('UPDATE dataset SET count = count - ?, modified_at = ? WHERE id = ?');
    database.onRollback(() => this.#forget());
  }

  /** Within a write transaction: the dataset's id, created on first sight. */
  idOf(name: string, nowMs: number): number {
    return this.#open(name, nowMs).id;
  }

  /** @returns the dataset's id; null when there is none */
  find(name: string): number | null {
    return (this.#select.get(name)?.[0] as number | undefined) ?? null;
  }

  /** Within a write transaction that ends with `flush`. @returns the row's seq */
  append(row: { dataset: string; json: string; requestId: number | null }, nowMs: number): [id: number, seq: number] {
    const dataset = this.#open(row.dataset, nowMs);
    const seq = dataset.nextSeq++;
    dataset.added += 1;
    this.#insertFor(dataset.id).run(seq, row.requestId, row.json);
    return [dataset.id, seq];
  }

  /** Within a write transaction: appends to a dataset known by its id; writes its count and next seq at once. */
  appendAll(datasetId: number, jsons: readonly string[], nowMs: number): void {
    const insert = this.#insertFor(datasetId);
    let seq = this.#nextSeq.get(datasetId)?.[0] as number;
    for (const json of jsons) insert.run(seq++, null, json);
    this.#update.run(seq, jsons.length, nowMs, nowMs, datasetId);
  }

  countOf(datasetId: number): number {
    return (this.#nextSeq.get(datasetId)?.[1] as number | undefined) ?? 0;
  }

  /** Takes out what an earlier handling of a request had left. */
  remove(spans: readonly RecordSpan[], requestId: number, nowMs: number): void {
    for (const { datasetId, firstSeq, count } of spans) {
      if (!this.#exists(datasetId)) continue;
      const { changes } = this.#database
        .prepareRows(`DELETE FROM ${tableOf(datasetId)} WHERE seq >= ? AND seq < ? AND request_id = ?`)
        .run(firstSeq, firstSeq + count, requestId);
      this.#uncount.run(Number(changes), nowMs, datasetId);
    }
  }

  /** Within a write transaction: takes one row out. @returns which request it came from; null when it is not there */
  take(datasetId: number, seq: number, nowMs: number): { requestId: number | null } | null {
    const row = this.#takeFrom(datasetId).get(seq);
    if (!row) return null;
    this.#uncount.run(1, nowMs, datasetId);
    return { requestId: row[0] as number | null };
  }

  /** @returns the id of the request that the row came from; null when there is none */
  requestOf(datasetId: number, seq: number): number | null {
    const row = this.#database.prepareRows(`SELECT request_id FROM ${tableOf(datasetId)} WHERE seq = ?`).get(seq);
    return (row?.[0] as number | null | undefined) ?? null;
  }

  /** Creates a dataset's table. */
  createTable(datasetId: number): void {
    this.#database.exec(
      `CREATE TABLE ${tableOf(datasetId)} (seq INTEGER PRIMARY KEY, request_id INTEGER, json TEXT NOT NULL)`,
    );
  }

  /** Within a write transaction: the dataset and its rows are gone. */
  drop(datasetId: number): void {
    this.#forget();
    this.#database.exec(`DROP TABLE IF EXISTS ${tableOf(datasetId)}`);
    this.#database.prepare('DELETE FROM dataset_column WHERE dataset_id = ?').run(datasetId);
    this.#database.prepare('DELETE FROM dataset WHERE id = ?').run(datasetId);
  }

  /** Writes counts and next seqs; at the end of every transaction that appended. */
  flush(nowMs: number): void {
    for (const { id, nextSeq, added } of this.#touched.values())
      if (added > 0) this.#update.run(nextSeq, added, nowMs, nowMs, id);
    // Another process may append next, so nothing is remembered from one transaction to the next.
    this.#touched.clear();
  }

  #open(name: string, nowMs: number): OpenDataset {
    const open = this.#touched.get(name);
    if (open) return open;
    const dataset = this.#load(name) ?? this.#createDataset(name, nowMs);
    this.#touched.set(name, dataset);
    return dataset;
  }

  #load(name: string): OpenDataset | null {
    const row = this.#select.get(name) as [number, number] | undefined;
    return row ? { id: row[0], nextSeq: row[1], added: 0 } : null;
  }

  #createDataset(name: string, nowMs: number): OpenDataset {
    const id = Number(this.#create.run(randomUUID(), name, nowMs, nowMs, nowMs).lastInsertRowid);
    this.createTable(id);
    return { id, nextSeq: 1, added: 0 };
  }

  #insertFor(datasetId: number): RowStatement {
    let insert = this.#inserts.get(datasetId);
    if (!insert) {
      insert = this.#database.prepareRows(`INSERT INTO ${tableOf(datasetId)} (seq, request_id, json) VALUES (?, ?, ?)`);
      this.#inserts.set(datasetId, insert);
    }
    return insert;
  }

  #takeFrom(datasetId: number): RowStatement {
    let take = this.#takes.get(datasetId);
    if (!take) {
      take = this.#database.prepareRows(`DELETE FROM ${tableOf(datasetId)} WHERE seq = ? RETURNING request_id`);
      this.#takes.set(datasetId, take);
    }
    return take;
  }

  #exists(datasetId: number): boolean {
    return this.#database.prepareRows('SELECT 1 FROM dataset WHERE id = ?').get(datasetId) !== undefined;
  }

  #forget(): void {
    this.#touched.clear();
    this.#inserts.clear();
    this.#takes.clear();
  }
}

/** @returns the name of the table that holds the dataset's rows */
export function tableOf(datasetId: number): string {
  return `dataset_rows_${datasetId}`;
}

/** Gathers where one request's rows are: consecutive rows of a dataset are one span. */
export class SpanList {
  readonly spans: RecordSpan[] = [];

  add(datasetId: number, seq: number): void {
    const span = this.spans.find((one) => one.datasetId === datasetId && one.firstSeq + one.count === seq);
    if (span) span.count += 1;
    else this.spans.push({ datasetId, firstSeq: seq, count: 1 });
  }

  /** @returns the spans as stored, "dataset:seq:count" by commas; null when there are none */
  toText(): string | null {
    if (this.spans.length === 0) return null;
    return this.spans.map(({ datasetId, firstSeq, count }) => `${datasetId}:${firstSeq}:${count}`).join(',');
  }
}

/** Reads back what `SpanList.toText` wrote. */
export function parseSpans(text: string | null): RecordSpan[] {
  if (text === null) return [];
  return text.split(',').map((part) => {
    const [datasetId, firstSeq, count] = part.split(':').map(Number);
    return { datasetId: datasetId!, firstSeq: firstSeq!, count: count! };
  });
}
