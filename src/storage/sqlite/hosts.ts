import type { RowStatement, SqliteDatabase } from './database.ts';

// A broad crawl may meet more hosts than are worth remembering; they are found again in the table.
const MOST_REMEMBERED = 100_000;

/** The hosts of one queue: names to ids and back. */
export class HostTable {
  readonly #queueId: number;
  readonly #idOfName = new Map<string, number>();
  readonly #nameOfId = new Map<number, string>();
  readonly #selectId: RowStatement;
  readonly #selectName: RowStatement;
  readonly #insert: RowStatement;

  constructor(database: SqliteDatabase, queueId: number) {
    this.#queueId = queueId;
    this.#selectId = database.prepareRows('SELECT id FROM host WHERE queue_id = ? AND name = ?');
    this.#selectName = database.prepareRows('SELECT name FROM host WHERE id = ?');
    this.#insert = database.prepareRows('INSERT INTO host (queue_id, name) VALUES (?, ?)');
    database.onRollback(() => this.#forget());
  }

  /** Within a write transaction: the host's id, given on first sight. */
  idOf(name: string): number {
    const known = this.#idOfName.get(name) ?? this.find(name);
    if (known !== null) return known;
    const id = Number(this.#insert.run(this.#queueId, name).lastInsertRowid);
    this.#remember(id, name);
    return id;
  }

  /** @returns the host's id; null when no request of it was ever added */
  find(name: string): number | null {
    const known = this.#idOfName.get(name);
    if (known !== undefined) return known;
    const row = this.#selectId.get(this.#queueId, name);
    if (!row) return null;
    this.#remember(row[0] as number, name);
    return row[0] as number;
  }

  nameOf(id: number): string {
    const known = this.#nameOfId.get(id);
    if (known !== undefined) return known;
    const name = this.#selectName.get(id)?.[0];
    if (typeof name !== 'string') throw new Error(`Host ${id} is missing from its table`);
    this.#remember(id, name);
    return name;
  }

  #remember(id: number, name: string): void {
    if (this.#idOfName.size >= MOST_REMEMBERED) this.#forget();
    this.#idOfName.set(name, id);
    this.#nameOfId.set(id, name);
  }

  #forget(): void {
    this.#idOfName.clear();
    this.#nameOfId.clear();
  }
}
