import type { DatasetClient, DatasetClientListOptions, DatasetInfo, Dictionary, PaginatedList } from '@crawlee/types';
import { exportChunks } from '../../export/export-dataset.ts';
import type { StoredRow } from '../../export/rows.ts';
import { checkOptionalCount, checkText } from './checks.ts';
import type { Connect, Connection } from './connection.ts';
import { DatasetCursor } from './dataset-cursor.ts';
import { datasetItems } from './dataset-items.ts';
import { type IterablePromise, offsetPages, type PageRange } from './iterable-promise.ts';
import { infoOf, type StorageRow } from './storage-registry.ts';

// What Apify's API answers as the limit when none was asked for; Crawlee's MemoryStorage does the same.
const NO_LIMIT = 999_999_999_999;

const ROWS_A_BATCH = 1_000;

type Listing = { offset: number; limit: number; desc: boolean };

/** One dataset, as Crawlee knows it. */
export class SqliteDatasetClient<Data extends Dictionary = Dictionary> implements DatasetClient<Data> {
  readonly #idOrName: string;
  readonly #connect: Connect;
  #cursor: DatasetCursor | null = null;

  constructor(idOrName: string, connect: Connect) {
    checkText(idOrName, 'Dataset id');
    this.#idOrName = idOrName;
    this.#connect = connect;
  }

  async get(): Promise<DatasetInfo | undefined> {
    const connection = await this.#connect();
    return connection.database.read(() => {
      const row = connection.datasets.findForReading(this.#idOrName, connection.clock.wallMs());
      return row && this.#infoOf(connection, row);
    });
  }

  async update({ name }: { name?: string } = {}): Promise<Partial<DatasetInfo>> {
    if (name !== undefined) checkText(name, 'Dataset name');
    const connection = await this.#connect();
    return connection.database.write(() => {
      const row = connection.datasets.require(this.#idOrName);
      if (name !== undefined) connection.datasets.rename(row, name, connection.clock.wallMs());
      return this.#infoOf(connection, connection.datasets.require(row.id));
    });
  }

  async delete(): Promise<void> {
    const connection = await this.#connect();
    await connection.database.write(() => {
      const row = connection.datasets.find(this.#idOrName);
      if (row) connection.records.drop(row.rowId);
    });
    this.#cursor = null;
  }

  async pushItems(items: Data | Data[] | string | string[]): Promise<void> {
    const jsons = datasetItems(items);
    const connection = await this.#connect();
    const nowMs = connection.clock.wallMs();
    await connection.database.write(() => {
      const row = connection.datasets.require(this.#idOrName);
      connection.records.appendAll(row.rowId, jsons, nowMs);
      connection.columns.keep(row, jsons);
      connection.datasets.noteChange(row.rowId, nowMs);
    });
  }

  listItems(options: DatasetClientListOptions = {}): IterablePromise<PaginatedList<Data>, Data> {
    checkListOptions(options);
    const { desc = false } = options;
    return offsetPages((range) => this.#page(range, desc), options);
  }

  listEntries(options: DatasetClientListOptions = {}): IterablePromise<PaginatedList<[number, Data]>, [number, Data]> {
    checkListOptions(options);
    const { desc = false } = options;
    return offsetPages(async (range) => {
      const page = await this.#page(range, desc);
      return { ...page, items: page.items.map((item, i): [number, Data] => [range.offset + i, item]) };
    }, options);
  }

  /**
   * All items in one buffer.
   * @param format json (default) or jsonl; `exportText` and the millrace command line write more
   */
  async downloadItems(format: unknown = 'json'): Promise<Buffer> {
    if (format !== 'json' && format !== 'jsonl')
      throw new TypeError(`Format ${String(format)} is not possible here: json or jsonl`);
    const { jsons } = await this.#rows({ offset: 0, limit: NO_LIMIT, desc: false });
    return Buffer.from(format === 'json' ? `[${jsons.join(',')}]` : jsons.map((json) => `${json}\n`).join(''));
  }

  /** All items as a file, the same that `millrace export` writes; nothing where a CSV would have no column. */
  async exportText(format: 'csv' | 'json', { desc = false } = {}): Promise<string> {
    const columns = await this.#columns();
    if (format === 'csv' && columns.length === 0) return '';
    const chunks = exportChunks({ format, rows: () => this.#batches(desc), columns: () => this.#columns() });
    return Buffer.concat(await Array.fromAsync(chunks)).toString();
  }

  async *#batches(desc: boolean): AsyncGenerator<StoredRow[]> {
    for (let offset = 0; ; ) {
      const { jsons } = await this.#rows({ offset, limit: ROWS_A_BATCH, desc });
      if (jsons.length === 0) return;
      const first = offset;
      yield jsons.map((json, index) => ({ seq: first + index, json }));
      offset += jsons.length;
    }
  }

  async #columns(): Promise<string[]> {
    const { database, datasets, columns, clock } = await this.#connect();
    return database.read(() => columns.of(datasets.requireForReading(this.#idOrName, clock.wallMs())));
  }

  async #page({ offset, limit }: PageRange, desc: boolean): Promise<PaginatedList<Data>> {
    const listing = { offset, limit: Math.min(limit, NO_LIMIT), desc };
    const { jsons, total } = await this.#rows(listing);
    const items = jsons.map((json) => JSON.parse(json) as Data);
    return { items, total, count: items.length, ...listing };
  }

  async #rows({ offset, limit, desc }: Listing): Promise<{ jsons: string[]; total: number }> {
    const connection = await this.#connect();
    return connection.database.read(() => {
      const { rowId } = connection.datasets.requireForReading(this.#idOrName, connection.clock.wallMs());
      const jsons = this.#cursorOf(connection, rowId).read({ offset, limit, desc });
      return { jsons, total: connection.records.countOf(rowId) };
    });
  }

  #cursorOf(connection: Connection, rowId: number): DatasetCursor {
    if (this.#cursor?.isOf(connection.database, rowId)) return this.#cursor;
    this.#cursor = new DatasetCursor(connection.database, rowId);
    return this.#cursor;
  }

  #infoOf(connection: Connection, row: StorageRow): DatasetInfo {
    return { ...infoOf(row), itemCount: connection.records.countOf(row.rowId) };
  }
}

function checkListOptions({ offset, limit }: DatasetClientListOptions): void {
  checkOptionalCount(offset, 'offset');
  checkOptionalCount(limit, 'limit');
}
