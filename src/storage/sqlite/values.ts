import type { ValueStore } from '../store.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';

/** The table behind `SqliteValues`, for writes within another transaction. */
export class ValueTable {
  readonly #upsert: RowStatement;
  readonly #delete: RowStatement;
  readonly #select: RowStatement;
  readonly #selectRange: RowStatement;

  constructor(database: SqliteDatabase) {
    this.#upsert = database.prepareRows(
      'INSERT INTO run_value (key, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET json = excluded.json',
    );
    this.#delete = database.prepareRows('DELETE FROM run_value WHERE key = ?');
    this.#select = database.prepareRows('SELECT json FROM run_value WHERE key = ?');
    this.#selectRange = database.prepareRows(
      'SELECT key, json FROM run_value WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 ORDER BY key',
    );
  }

  put(key: string, json: string | null): void {
    if (json === null) this.#delete.run(key);
    else this.#upsert.run(key, json);
  }

  get(key: string): string | null {
    return (this.#select.get(key)?.[0] as string | undefined) ?? null;
  }

  entries(prefix: string): [string, string][] {
    return this.#selectRange.all(prefix) as [string, string][];
  }
}

/** Small JSON values of one run. */
export class SqliteValues implements ValueStore {
  readonly #database: SqliteDatabase;
  readonly #table: ValueTable;

  constructor(database: SqliteDatabase, table: ValueTable) {
    this.#database = database;
    this.#table = table;
  }

  async get<T>(key: string): Promise<T | null> {
    const json = await this.#database.read(() => this.#table.get(key));
    return json === null ? null : (JSON.parse(json) as T);
  }

  /** @throws TypeError when the value has no JSON, as a function has none */
  async set(key: string, value: unknown): Promise<void> {
    const json = JSON.stringify(value);
    if (json === undefined) throw new TypeError(`The value for "${key}" cannot be written as JSON`);
    await this.#database.write(() => this.#table.put(key, json));
  }

  async delete(key: string): Promise<void> {
    await this.#database.write(() => this.#table.put(key, null));
  }

  async entries<T>(prefix: string): Promise<[string, T][]> {
    const rows = await this.#database.read(() => this.#table.entries(prefix));
    return rows.map(([key, json]) => [key, JSON.parse(json) as T]);
  }
}
