import type { ValueStore } from '../store.ts';
import type { PostgresDatabase } from './database.ts';
import type { RunTables } from './run-tables.ts';

/** Small JSON values of one run. */
export class PostgresValues implements ValueStore {
  readonly #database: PostgresDatabase;
  readonly #table: string;

  constructor(database: PostgresDatabase, { value }: RunTables) {
    this.#database = database;
    this.#table = value;
  }

  async get<T>(key: string): Promise<T | null> {
    const sql = `SELECT json FROM ${this.#table} WHERE key = $1`;
    const [row] = await this.#database.rows<{ json: string }>(sql, [key]);
    return row === undefined ? null : (JSON.parse(row.json) as T);
  }

  /** @throws TypeError when the value has no JSON, as a function has none */
  async set(key: string, value: unknown): Promise<void> {
    const json = JSON.stringify(value);
    if (json === undefined) throw new TypeError(`The value for "${key}" cannot be written as JSON`);
    await this.#database.rows(
      `INSERT INTO ${this.#table} (key, json) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET json = excluded.json`,
      [key, json],
    );
  }

  async delete(key: string): Promise<void> {
    await this.#database.rows(`DELETE FROM ${this.#table} WHERE key = $1`, [key]);
  }

  async entries<T>(prefix: string): Promise<[string, T][]> {
    const rows = await this.#database.rows<{ key: string; json: string }>(
      `SELECT key, json FROM ${this.#table} WHERE key >= $1 AND starts_with(key, $1) ORDER BY key`,
      [prefix],
    );
    return rows.map(({ key, json }) => [key, JSON.parse(json) as T]);
  }
}
