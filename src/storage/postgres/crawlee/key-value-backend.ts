import type { KeyValueStoreInfo, KeyValueStoreItemData } from '@crawlee/types';
import type { KeyRange, KeyValueBackend } from '../../crawlee/key-value-store-client.ts';
import type { StoredValue } from '../../crawlee/record-value.ts';
import type { Transaction } from '../database.ts';
import { infoOf, type PostgresStorage, type PostgresStorages } from './storages.ts';

/** One of Crawlee's key-value stores. */
export class PostgresKeyValueBackend implements KeyValueBackend {
  readonly #idOrName: string;
  readonly #storages: PostgresStorages;

  constructor(idOrName: string, storages: PostgresStorages) {
    this.#idOrName = idOrName;
    this.#storages = storages;
  }

  async info(): Promise<KeyValueStoreInfo | undefined> {
    return this.#storages.database.transaction(async (transaction) => {
      const found = await this.#storages.find(transaction, this.#idOrName);
      return found && infoOf(found);
    });
  }

  async rename(name: string | undefined): Promise<KeyValueStoreInfo> {
    return this.#storages.database.transaction(async (transaction) => {
      const found = await this.#storages.requireLocked(transaction, this.#idOrName);
      if (name !== undefined) await this.#storages.rename(transaction, found, name);
      return infoOf(await this.#storages.require(transaction, found.id));
    });
  }

  remove(): Promise<void> {
    return this.#storages.remove(this.#idOrName);
  }

  async exists(key: string): Promise<boolean> {
    return (await this.#rows(`SELECT 1 FROM ${this.#table} WHERE storage_id = $1 AND key = $2`, key)).length > 0;
  }

  async read(key: string): Promise<StoredValue | undefined> {
    const sql = `SELECT value AS bytes, content_type AS "contentType" FROM ${this.#table} WHERE storage_id = $1 AND key = $2`;
    const [row] = await this.#rows<StoredValue>(sql, key);
    return row;
  }

  async write(key: string, { bytes, contentType }: StoredValue): Promise<void> {
    await this.#change((transaction, { rowId }) =>
      transaction.run(
        `INSERT INTO ${this.#table} (storage_id, key, content_type, value) VALUES ($1, $2, $3, $4)
         ON CONFLICT (storage_id, key) DO UPDATE SET content_type = excluded.content_type, value = excluded.value`,
        [rowId, key, contentType, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
      ),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#change((transaction, { rowId }) =>
      transaction.run(`DELETE FROM ${this.#table} WHERE storage_id = $1 AND key = $2`, [rowId, key]),
    );
  }

  async keys({ prefix, after, limit }: KeyRange): Promise<KeyValueStoreItemData[]> {
    return this.#storages.database.transaction(async (transaction) => {
      const { rowId } = await this.#storages.require(transaction, this.#idOrName);
      return transaction.rows<KeyValueStoreItemData>(
        `SELECT key, length(value) AS size FROM ${this.#table}
         WHERE storage_id = $1 AND key >= $2 AND starts_with(key, $2) AND ($3::text IS NULL OR key > $3) ORDER BY key LIMIT $4`,
        [rowId, prefix, after, limit],
      );
    });
  }

  async #rows<Found extends object>(sql: string, key: string): Promise<Found[]> {
    return this.#storages.database.transaction(async (transaction) => {
      const { rowId } = await this.#storages.require(transaction, this.#idOrName);
      return transaction.rows<Found>(sql, [rowId, key]);
    });
  }

  async #change(action: (transaction: Transaction, store: PostgresStorage) => void): Promise<void> {
    await this.#storages.database.transaction(async (transaction) => {
      const found = await this.#storages.require(transaction, this.#idOrName);
      action(transaction, found);
      this.#storages.noteChange(transaction, found, await this.#storages.now(transaction));
    });
  }

  get #table(): string {
    return this.#storages.table('record');
  }
}
