import type { Clock } from '../../core/clock.ts';
import type { DatasetInfo, DatasetStore, RowReplacement, StoredRecord, StoredRequest, UnitOfWork } from '../store.ts';
import type { ColumnTable } from './columns.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import { type RecordTables, tableOf } from './records.ts';
import { type ReplacementParts, Replacements } from './replacements.ts';

export type DatasetParts = ReplacementParts & {
  clock: Clock;
  columns: ColumnTable;
  /** Within a read: the request of a row id. */
  storedRequest: (rowId: number) => StoredRequest | null;
};

/** The datasets of one run. */
export class SqliteDatasets implements DatasetStore {
  readonly #database: SqliteDatabase;
  readonly #clock: Clock;
  readonly #records: RecordTables;
  readonly #columns: ColumnTable;
  readonly #pages = new Map<number, RowStatement>();
  readonly #list: RowStatement;

  readonly #replacements: Replacements;
  readonly #storedRequest: DatasetParts['storedRequest'];

  constructor(database: SqliteDatabase, parts: DatasetParts) {
    this.#storedRequest = parts.storedRequest;
    this.#database = database;
    this.#clock = parts.clock;
    this.#records = parts.records;
    this.#columns = parts.columns;
    this.#replacements = new Replacements(database, parts);
    this.#list = database.prepareRows('SELECT name, count FROM dataset WHERE name IS NOT NULL ORDER BY id');
  }

  async list(): Promise<DatasetInfo[]> {
    const rows = await this.#database.read(() => this.#list.all());
    return (rows as [string, number][]).map(([name, count]) => ({ name, count }));
  }

  async push(dataset: string, jsons: readonly string[]): Promise<void> {
    if (jsons.length === 0) return;
    const nowMs = this.#clock.wallMs();
    await this.#database.write(() => {
      for (const json of jsons) this.#records.append({ dataset, json, requestId: null }, nowMs);
      this.#records.flush(nowMs);
    });
  }

  async page(dataset: string, options: { afterSeq: number; limit: number }): Promise<StoredRecord[]> {
    const rows = await this.#database.read(() => {
      const id = this.#records.find(dataset);
      return id === null ? [] : this.#pageOf(id).all(options.afterSeq, options.limit);
    });
    return (rows as [number, string][]).map(([seq, json]) => ({ seq, json }));
  }

  async requestOf(dataset: string, seq: number): Promise<StoredRequest | null> {
    return this.#database.read(() => {
      const id = this.#records.find(dataset);
      const rowId = id === null ? null : this.#records.requestOf(id, seq);
      return rowId === null ? null : this.#storedRequest(rowId);
    });
  }

  async columns(dataset: string): Promise<string[]> {
    return this.#database.read(() => this.#columns.of(dataset));
  }

  async addColumns(dataset: string, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    await this.#database.write(() => {
      const nowMs = this.#clock.wallMs();
      this.#columns.addAll(
        paths.map((path) => ({ dataset, path })),
        nowMs,
      );
      this.#records.flush(nowMs);
    });
  }

  async replace(
    dataset: string,
    replacements: readonly RowReplacement[],
    columns: UnitOfWork['columns'],
  ): Promise<{ replaced: number; added: number }> {
    return this.#database.write(() => {
      const id = this.#records.find(dataset);
      if (id === null) return { replaced: 0, added: 0 };
      const nowMs = this.#clock.wallMs();
      const done = this.#replacements.replace(id, replacements, nowMs);
      this.#columns.addAll(columns, nowMs);
      this.#records.flush(nowMs);
      return done;
    });
  }

  async drop(dataset: string): Promise<void> {
    await this.#database.write(() => {
      const id = this.#records.find(dataset);
      if (id === null) return;
      this.#pages.delete(id);
      this.#records.drop(id);
    });
  }

  #pageOf(datasetId: number): RowStatement {
    let page = this.#pages.get(datasetId);
    if (!page) {
      page = this.#database.prepareRows(
        `SELECT seq, json FROM ${tableOf(datasetId)} WHERE seq > ?+0 ORDER BY seq LIMIT ?+0`,
      );
      this.#pages.set(datasetId, page);
    }
    return page;
  }
}
