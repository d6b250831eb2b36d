import type { KeyValueStoreInfo, KeyValueStoreItemData } from '@crawlee/types';
import type { Connect } from './connection.ts';
import { type KeyRange, type KeyValueBackend, StoredKeyValueStoreClient } from './key-value-store-client.ts';
import type { StoredValue } from './record-value.ts';
import { infoOf } from './storage-registry.ts';

/** One key-value store in an SQLite file. */
export class SqliteKeyValueStoreClient extends StoredKeyValueStoreClient {
  constructor(idOrName: string, connect: Connect) {
    super(idOrName, new SqliteKeyValueBackend(idOrName, connect));
  }
}

class SqliteKeyValueBackend implements KeyValueBackend {
  readonly #idOrName: string;
  readonly #connect: Connect;

  constructor(idOrName: string, connect: Connect) {
    this.#idOrName = idOrName;
    this.#connect = connect;
  }

  async info(): Promise<KeyValueStoreInfo | undefined> {
    const { database, keyValueStores, clock } = await this.#connect();
    return database.read(() => {
      const row = keyValueStores.findForReading(this.#idOrName, clock.wallMs());
      return row && infoOf(row);
    });
  }

  async rename(name: string | undefined): Promise<KeyValueStoreInfo> {
    const connection = await this.#connect();
    return connection.database.write(() => {
      const row = connection.keyValueStores.require(this.#idOrName);
      if (name !== undefined) connection.keyValueStores.rename(row, name, connection.clock.wallMs());
      return infoOf(connection.keyValueStores.require(row.id));
    });
  }

  async remove(): Promise<void> {
    const { database, keyValueStores } = await this.#connect();
    await database.write(() => {
      const row = keyValueStores.find(this.#idOrName);
      if (!row) return;
      database.prepare('DELETE FROM key_value_record WHERE store_id = ?').run(row.rowId);
      database.prepare('DELETE FROM key_value_store WHERE id = ?').run(row.rowId);
    });
  }

  async exists(key: string): Promise<boolean> {
    const { database, keyValueStores } = await this.#connect();
    return database.read(() => {
      const { rowId } = keyValueStores.require(this.#idOrName);
      return (
        database.prepare('SELECT 1 FROM key_value_record WHERE store_id = ? AND key = ?').get(rowId, key) !== undefined
      );
    });
  }

  async read(key: string): Promise<StoredValue | undefined> {
    const { database, keyValueStores, clock } = await this.#connect();
    return database.read(() => {
      const { rowId } = keyValueStores.requireForReading(this.#idOrName, clock.wallMs());
      return database
        .prepare(
          'SELECT value AS bytes, content_type AS contentType FROM key_value_record WHERE store_id = ? AND key = ?',
        )
        .get(rowId, key) as StoredValue | undefined;
    });
  }

  async write(key: string, { bytes, contentType }: StoredValue): Promise<void> {
    const { database, keyValueStores, clock } = await this.#connect();
    await database.write(() => {
      const { rowId } = keyValueStores.require(this.#idOrName);
      database
        .prepare(
          `INSERT INTO key_value_record (store_id, key, content_type, value) VALUES (?, ?, ?, ?)
           ON CONFLICT (store_id, key) DO UPDATE SET content_type = excluded.content_type, value = excluded.value`,
        )
        .run(rowId, key, contentType, bytes);
      keyValueStores.noteChange(rowId, clock.wallMs());
    });
  }

  async delete(key: string): Promise<void> {
    const { database, keyValueStores, clock } = await this.#connect();
    await database.write(() => {
      const { rowId } = keyValueStores.require(this.#idOrName);
      database.prepare('DELETE FROM key_value_record WHERE store_id = ? AND key = ?').run(rowId, key);
      keyValueStores.noteChange(rowId, clock.wallMs());
    });
  }

  async keys({ prefix, after, limit }: KeyRange): Promise<KeyValueStoreItemData[]> {
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
}
