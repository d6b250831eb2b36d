import { Readable } from 'node:stream';
import type {
  KeyValueStoreClient,
  KeyValueStoreClientGetRecordOptions,
  KeyValueStoreClientListData,
  KeyValueStoreClientListOptions,
  KeyValueStoreInfo,
  KeyValueStoreItemData,
  KeyValueStoreRecord,
} from '@crawlee/types';
import { checkOptionalCount, checkText } from './checks.ts';
import { type IterablePromise, iterablePromise, lazyIterablePromise } from './iterable-promise.ts';
import { decodeValue, encodeValue, type StoredValue } from './record-value.ts';

// Apify's default; MemoryStorage has the same.
const DEFAULT_LIST_LIMIT = 1_000;

/** Keys with the prefix, after one (null = from the first), in order. */
export type KeyRange = { prefix: string; after: string | null; limit: number };

/** Where one key-value store is kept. Each call is a transaction of its own; all but `info` throw when it is not there. */
export type KeyValueBackend = {
  info(): Promise<KeyValueStoreInfo | undefined>;
  /** @param name undefined = as it was */
  rename(name: string | undefined): Promise<KeyValueStoreInfo>;
  remove(): Promise<void>;
  exists(key: string): Promise<boolean>;
  read(key: string): Promise<StoredValue | undefined>;
  write(key: string, value: StoredValue): Promise<void>;
  delete(key: string): Promise<void>;
  keys(range: KeyRange): Promise<KeyValueStoreItemData[]>;
};

/** One key-value store, as Crawlee knows it. */
export class StoredKeyValueStoreClient implements KeyValueStoreClient {
  readonly #backend: KeyValueBackend;

  constructor(idOrName: string, backend: KeyValueBackend) {
    checkText(idOrName, 'Key-value store id');
    this.#backend = backend;
  }

  get(): Promise<KeyValueStoreInfo | undefined> {
    return this.#backend.info();
  }

  async update({ name }: { name?: string } = {}): Promise<Partial<KeyValueStoreInfo>> {
    if (name !== undefined) checkText(name, 'Key-value store name');
    return this.#backend.rename(name);
  }

  delete(): Promise<void> {
    return this.#backend.remove();
  }

  listKeys(
    options: KeyValueStoreClientListOptions = {},
  ): IterablePromise<KeyValueStoreClientListData, KeyValueStoreItemData> {
    checkKeyOptions(options);
    return iterablePromise(this.#keyPage(options), (first) => this.#itemsFrom(first, options));
  }

  keys(options: KeyValueStoreClientListOptions = {}): IterablePromise<KeyValueStoreClientListData, string> {
    checkKeyOptions(options);
    const items = (first: KeyValueStoreClientListData) => this.#itemsFrom(first, options);
    return iterablePromise(this.#keyPage(options), async function* (first) {
      for await (const { key } of items(first)) yield key;
    });
  }

  values(options: KeyValueStoreClientListOptions = {}): IterablePromise<unknown[], unknown> {
    checkKeyOptions(options);
    const records = this.#records.bind(this, options);
    return lazyIterablePromise(
      async () => (await this.#recordPage(options)).map(({ value }) => value),
      async function* () {
        for await (const { value } of records()) yield value;
      },
    );
  }

  entries(options: KeyValueStoreClientListOptions = {}): IterablePromise<[string, unknown][], [string, unknown]> {
    checkKeyOptions(options);
    const records = this.#records.bind(this, options);
    return lazyIterablePromise(
      async () => (await this.#recordPage(options)).map(({ key, value }): [string, unknown] => [key, value]),
      async function* () {
        for await (const { key, value } of records()) yield [key, value] as [string, unknown];
      },
    );
  }

  async recordExists(key: string): Promise<boolean> {
    checkText(key, 'key');
    return this.#backend.exists(key);
  }

  async getRecord(
    key: string,
    { buffer = false, stream = false }: KeyValueStoreClientGetRecordOptions = {},
  ): Promise<KeyValueStoreRecord | undefined> {
    checkText(key, 'key');
    const stored = await this.#backend.read(key);
    if (!stored) return undefined;
    const { bytes, contentType } = stored;
    if (stream) return { key, contentType, value: Readable.from([Buffer.from(bytes)]) };
    return { key, contentType, value: buffer ? Buffer.from(bytes) : decodeValue(bytes, contentType) };
  }

  async setRecord({ key, value, contentType }: KeyValueStoreRecord): Promise<void> {
    checkText(key, 'key');
    if (contentType !== undefined) checkText(contentType, 'contentType');
    await this.#backend.write(key, await encodeValue(value, contentType));
  }

  async deleteRecord(key: string): Promise<void> {
    checkText(key, 'key');
    await this.#backend.delete(key);
  }

  async #keyPage(options: KeyValueStoreClientListOptions): Promise<KeyValueStoreClientListData> {
    const { limit = DEFAULT_LIST_LIMIT, exclusiveStartKey, prefix = '' } = options;
    // One more than asked for tells whether there is more.
    const found = await this.#backend.keys({ prefix, after: exclusiveStartKey ?? null, limit: limit + 1 });
    const items = found.slice(0, limit);
    const isTruncated = found.length > limit;
    const next = isTruncated ? { nextExclusiveStartKey: items.at(-1)!.key } : {};
    return { count: items.length, limit, ...(exclusiveStartKey && { exclusiveStartKey }), isTruncated, ...next, items };
  }

  async *#itemsFrom(
    first: KeyValueStoreClientListData,
    options: KeyValueStoreClientListOptions,
  ): AsyncGenerator<KeyValueStoreItemData> {
    let page = first;
    let left = (options.limit ?? Number.POSITIVE_INFINITY) - page.items.length;
    yield* page.items;
    while (page.nextExclusiveStartKey !== undefined && left > 0) {
      page = await this.#keyPage({ ...options, exclusiveStartKey: page.nextExclusiveStartKey });
      yield* page.items.slice(0, left);
      left -= page.items.length;
    }
  }

  async #recordPage(options: KeyValueStoreClientListOptions): Promise<KeyValueStoreRecord[]> {
    const { items } = await this.#keyPage(options);
    const records = [];
    for (const { key } of items) records.push(await this.getRecord(key));
    return records.filter((record) => record !== undefined);
  }

  async *#records(options: KeyValueStoreClientListOptions): AsyncGenerator<KeyValueStoreRecord> {
    for await (const { key } of this.listKeys(options)) {
      const record = await this.getRecord(key);
      if (record) yield record;
    }
  }
}

function checkKeyOptions({ limit, exclusiveStartKey, prefix }: KeyValueStoreClientListOptions): void {
  checkOptionalCount(limit, 'limit', 1);
  if (exclusiveStartKey !== undefined) checkText(exclusiveStartKey, 'exclusiveStartKey');
  if (prefix !== undefined && typeof prefix !== 'string') throw new TypeError('prefix must be a string');
}
