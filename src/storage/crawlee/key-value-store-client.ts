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
import type { Connect } from './connection.ts';
import { type IterablePromise, iterablePromise, lazyIterablePromise } from './iterable-promise.ts';
import { decodeValue, encodeValue } from './record-value.ts';
import { infoOf } from './storage-registry.ts';

// Apify's default; MemoryStorage has the same.
const DEFAULT_LIST_LIMIT = 1_000;

type KeyRange = { prefix: string; after: string | null; limit: number };

/** One key-value store, as Crawlee knows it. */
export class SqliteKeyValueStoreClient implements KeyValueStoreClient {
  readonly #idOrName: string;
  readonly #connect: Connect;

  constructor(idOrName: string, connect: Connect) {
    checkText(idOrName, 'Key-value store id');
    this.#idOrName = idOrName;
    this.#connect = connect;
  }

  async get(): Promise<KeyValueStoreInfo | undefined> {
    const { database, keyValueStores, clock } = await this.#connect();
    return database.read(() => {
      const row = keyValueStores.findForReading(this.#idOrName, clock.wallMs());
      return row && infoOf(row);
    });
  }

  async update({ name }: { name?: string } = {}): Promise<Partial<KeyValueStoreInfo>> {
    if (name !== undefined) checkText(name, 'Key-value store name');
    const connection = await this.#connect();
    return connection.database.write(() => {
      const row = connection.keyValueStores.require(this.#idOrName);
      if (name !== undefined) connection.keyValueStores.rename(row, name, connection.clock.wallMs());
      return infoOf(connection.keyValueStores.require(row.id));
    });
  }

  async delete(): Promise<void> {
    const { database, keyValueStores } = await this.#connect();
    await database.write(() => {
      const row = keyValueStores.find(this.#idOrName);
      if (!row) return;
      database.prepare('DELETE FROM key_value_record WHERE store_id = ?').run(row.rowId);
      database.prepare('DELETE FROM key_value_store WHERE id = ?').run(row.rowId);
    });
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
    const { database, keyValueStores } = await this.#connect();
    return database.read(() => {
      const { rowId } = keyValueStores.require(this.#idOrName);
      return (
        database.prepare('SELECT 1 FROM key_value_record WHERE store_id = ? AND key = ?').get(rowId, key) !== undefined
      );
    });
  }

  async getRecord(
    key: string,
    { buffer = false, stream = false }: KeyValueStoreClientGetRecordOptions = {},
  ): Promise<KeyValueStoreRecord | undefined> {
    checkText(key, 'key');
    const row = await this.#readRecord(key);
    if (!row) return undefined;
    const { value: bytes, content_type: contentType } = row;
    if (stream) return { key, contentType, value: Readable.from([Buffer.from(bytes)]) };
    return { key, contentType, value: buffer ? Buffer.from(bytes) : decodeValue(bytes, contentType) };
  }

  async setRecord({ key, value, contentType }: KeyValueStoreRecord): Promise<void> {
    checkText(key, 'key');
    if (contentType !== undefined) checkText(contentType, 'contentType');
    const { database, keyValueStores, clock } = await this.#connect();
    const stored = await encodeValue(value, contentType);
    await database.write(() => {
      const { rowId } = keyValueStores.require(this.#idOrName);
      database
        .prepare(
          `INSERT INTO key_value_record (store_id, key, content_type, value) VALUES (?, ?, ?, ?)
           ON CONFLICT (store_id, key) DO UPDATE SET content_type = excluded.content_type, value = excluded.value`,
        )
        .run(rowId, key, stored.contentType, stored.bytes);
      keyValueStores.noteChange(rowId, clock.wallMs());
    });
  }

  async deleteRecord(key: string): Promise<void> {
    checkText(key, 'key');
    const { database, keyValueStores, clock } = await this.#connect();
    await database.write(() => {
      const { rowId } = keyValueStores.require(this.#idOrName);
      database.prepare('DELETE FROM key_value_record WHERE store_id = ? AND key = ?').run(rowId, key);
      keyValueStores.noteChange(rowId, clock.wallMs());
    });
  }

  async #readRecord(key: string): Promise<{ value: Uint8Array; content_type: string } | undefined> {
    const { database, keyValueStores, clock } = await this.#connect();
    return database.read(() => {
      const { rowId } = keyValueStores.requireForReading(this.#idOrName, clock.wallMs());
      return database
        .prepare('SELECT value, content_type FROM key_value_record WHERE store_id = ? AND key = ?')
        .get(rowId, key) as { value: Uint8Array; content_type: string } | undefined;
    });
  }

  async #keyPage(options: KeyValueStoreClientListOptions): Promise<KeyValueStoreClientListData> {
    const { limit = DEFAULT_LIST_LIMIT, exclusiveStartKey, prefix = '' } = options;
    // One more than asked for tells whether there is more.
    const found = await this.#keys({ prefix, after: exclusiveStartKey ?? null, limit: limit + 1 });
    const items = found.slice(0, limit);
    const isTruncated = found.length > limit;
    const next = isTruncated ? { nextExclusiveStartKey: items.at(-1)!.key } : {};
    return { count: items.length, limit, ...(exclusiveStartKey && { exclusiveStartKey }), isTruncated, ...next, items };
  }

  async #keys({ prefix, after, limit }: KeyRange): Promise<KeyValueStoreItemData[]> {
    const { database, keyValueStores, clock } = await this.#connect();
    return database.read(() => {
      const { rowId } = keyValueStores.requireForReading(this.#idOrName, clock.wallMs());
      return database
        .prepare(
          `SELECT key, length(value) AS size FROM key_value_record
           WHERE store_id = ?1 AND key >= ?2 AND substr(key, 1, length(?2)) = ?2 AND (?3 IS NULL OR key > ?3)
           ORDER BY key LIMIT ?4`,
        )
        .all(rowId, prefix, after, limit)
        .map(({ key, size }) => ({ key, size }) as KeyValueStoreItemData);
    });
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
