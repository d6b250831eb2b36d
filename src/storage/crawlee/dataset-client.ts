import type { DatasetClient, DatasetClientListOptions, DatasetInfo, Dictionary, PaginatedList } from '@crawlee/types';
import { exportChunks } from '../../export/export-dataset.ts';
import type { StoredRow } from '../../export/rows.ts';
import { checkOptionalCount, checkText } from './checks.ts';
import { datasetItems } from './dataset-items.ts';
import { type IterablePromise, offsetPages, type PageRange } from './iterable-promise.ts';

// What Apify's API answers as the limit when none was asked for; Crawlee's MemoryStorage does the same.
const NO_LIMIT = 999_999_999_999;

const ROWS_A_BATCH = 1_000;

export type DatasetRange = { offset: number; limit: number; desc: boolean };

/** Where one dataset is kept. Each call is a transaction of its own; all but `info` throw when it is not there. */
export type DatasetBackend = {
  info(): Promise<DatasetInfo | undefined>;
  /** @param name undefined = as it was */
  rename(name: string | undefined): Promise<DatasetInfo>;
  remove(): Promise<void>;
  push(jsons: readonly string[]): Promise<void>;
  /** The JSON of the items in a range, in its order, and of how many. */
  rows(range: DatasetRange): Promise<{ jsons: string[]; total: number }>;
  /** Flattened column paths in first-seen order. */
  columns(): Promise<string[]>;
};

/** One dataset, as Crawlee knows it. */
export class StoredDatasetClient<Data extends Dictionary = Dictionary> implements DatasetClient<Data> {
  readonly #backend: DatasetBackend;

  constructor(idOrName: string, backend: DatasetBackend) {
    checkText(idOrName, 'Dataset id');
    this.#backend = backend;
  }

  get(): Promise<DatasetInfo | undefined> {
    return this.#backend.info();
  }

  async update({ name }: { name?: string } = {}): Promise<Partial<DatasetInfo>> {
    if (name !== undefined) checkText(name, 'Dataset name');
    return this.#backend.rename(name);
  }

  delete(): Promise<void> {
    return this.#backend.remove();
  }

  async pushItems(items: Data | Data[] | string | string[]): Promise<void> {
    await this.#backend.push(datasetItems(items));
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
    const { jsons } = await this.#backend.rows({ offset: 0, limit: NO_LIMIT, desc: false });
    return Buffer.from(format === 'json' ? `[${jsons.join(',')}]` : jsons.map((json) => `${json}\n`).join(''));
  }

  /** All items as a file, the same that `millrace export` writes; nothing where a CSV would have no column. */
  async exportText(format: 'csv' | 'json', { desc = false } = {}): Promise<string> {
    const columns = await this.#backend.columns();
    if (format === 'csv' && columns.length === 0) return '';
    const chunks = exportChunks({ format, rows: () => this.#batches(desc), columns: () => this.#backend.columns() });
    return Buffer.concat(await Array.fromAsync(chunks)).toString();
  }

  async *#batches(desc: boolean): AsyncGenerator<StoredRow[]> {
    for (let offset = 0; ; ) {
      const { jsons } = await this.#backend.rows({ offset, limit: ROWS_A_BATCH, desc });
      if (jsons.length === 0) return;
      const first = offset;
      yield jsons.map((json, index) => ({ seq: first + index, json }));
      offset += jsons.length;
    }
  }

  async #page({ offset, limit }: PageRange, desc: boolean): Promise<PaginatedList<Data>> {
    const listing = { offset, limit: Math.min(limit, NO_LIMIT), desc };
    const { jsons, total } = await this.#backend.rows(listing);
    const items = jsons.map((json) => JSON.parse(json) as Data);
    return { items, total, count: items.length, ...listing };
  }
}

function checkListOptions({ offset, limit }: DatasetClientListOptions): void {
  checkOptionalCount(offset, 'offset');
  checkOptionalCount(limit, 'limit');
}
