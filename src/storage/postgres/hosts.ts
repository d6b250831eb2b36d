import type { PostgresDatabase } from './database.ts';
import type { RunTables } from './run-tables.ts';

// A broad crawl may meet more hosts than are worth remembering; they are found again in the table.
const MOST_REMEMBERED = 100_000;

/** The hosts of one run: names to ids and back. They are never removed, so what is known stays true. */
export class HostTable {
  readonly #database: PostgresDatabase;
  readonly #tables: RunTables;
  readonly #idOfName = new Map<string, number>();
  readonly #nameOfId = new Map<number, string>();

  constructor(database: PostgresDatabase, tables: RunTables) {
    this.#database = database;
    this.#tables = tables;
  }

  /** Gives ids to those that have none yet. @returns the ids by name */
  async idsOf(names: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const ids = new Map<string, number>();
    const unknown: string[] = [];
    for (const name of new Set(names)) {
      const id = this.#idOfName.get(name);
      if (id === undefined) unknown.push(name);
      else ids.set(name, id);
    }
    if (unknown.length === 0) return ids;
    // In order, so that two workers that meet the same new hosts do not wait for one another in a circle.
    const sql = `INSERT INTO ${this.#tables.host} (name) SELECT name FROM unnest($1::text[]) name ORDER BY name ON CONFLICT DO NOTHING`;
    await this.#database.rows(sql, [unknown]);
    const rows = await this.#database.rows<{ id: number; name: string }>(
      `SELECT id, name FROM ${this.#tables.host} WHERE name = ANY($1)`,
      [unknown],
    );
    for (const { id, name } of rows) {
      this.#remember(id, name);
      ids.set(name, id);
    }
    return ids;
  }

  /** @returns the ids of those that have one and are remembered or found */
  async knownIdsOf(names: ReadonlySet<string>): Promise<number[]> {
    const ids: number[] = [];
    const unknown: string[] = [];
    for (const name of names) {
      const id = this.#idOfName.get(name);
      if (id === undefined) unknown.push(name);
      else ids.push(id);
    }
    if (unknown.length === 0) return ids;
    const sql = `SELECT id, name FROM ${this.#tables.host} WHERE name = ANY($1)`;
    const rows = await this.#database.rows<{ id: number; name: string }>(sql, [unknown]);
    for (const { id, name } of rows) {
      this.#remember(id, name);
      ids.push(id);
    }
    return ids;
  }

  /** @returns the names by id */
  async namesOf(ids: Iterable<number>): Promise<ReadonlyMap<number, string>> {
    const names = new Map<number, string>();
    const unknown: number[] = [];
    for (const id of new Set(ids)) {
      const name = this.#nameOfId.get(id);
      if (name === undefined) unknown.push(id);
      else names.set(id, name);
    }
    if (unknown.length === 0) return names;
    const sql = `SELECT id, name FROM ${this.#tables.host} WHERE id = ANY($1)`;
    for (const { id, name } of await this.#database.rows<{ id: number; name: string }>(sql, [unknown])) {
      this.#remember(id, name);
      names.set(id, name);
    }
    return names;
  }

  #remember(id: number, name: string): void {
    if (this.#idOfName.size >= MOST_REMEMBERED) {
      this.#idOfName.clear();
      this.#nameOfId.clear();
    }
    this.#idOfName.set(name, id);
    this.#nameOfId.set(id, name);
  }
}
