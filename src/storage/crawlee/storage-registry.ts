import { randomUUID } from 'node:crypto';
import type { RowStatement, SqliteDatabase } from '../sqlite/database.ts';

/** The tables that list storages, by kind. */
const TABLES = { Dataset: 'dataset', 'Key-value store': 'key_value_store', 'Request queue': 'queue' } as const;

export type StorageKind = keyof typeof TABLES;

/** A storage as listed: `rowId` is ours, `id` and `name` are Crawlee's. */
export type StorageRow = {
  rowId: number;
  id: string;
  name: string | undefined;
  createdAt: Date;
  modifiedAt: Date;
  accessedAt: Date;
};

/** What Crawlee calls info, common to all kinds. */
export type StorageInfo = Omit<StorageRow, 'rowId'>;

const COLUMNS = 'id, crawlee_id, name, created_at, modified_at, accessed_at';

/**
 * The storages of one kind: found by id or name, created, renamed, listed. Names are compared as Crawlee does, without
 * regard to case. Must be called within a transaction where it says so.
 */
export class StorageRegistry {
  readonly kind: StorageKind;
  readonly #findById: RowStatement;
  readonly #findByName: RowStatement;
  readonly #findByAnyCase: RowStatement;
  readonly #list: RowStatement;
  readonly #insert: RowStatement;
  readonly #rename: RowStatement;
  readonly #touch: RowStatement;
  /** Reads are noted here and written with the next change: a read must not cost a write. */
  readonly #readAtMs = new Map<number, number>();

  constructor(database: SqliteDatabase, kind: StorageKind) {
    this.kind = kind;
    const table = TABLES[kind];
    const select = `SELECT ${COLUMNS} FROM ${table} WHERE crawlee_id IS NOT NULL`;
    this.#findById = database.prepareRows(`${select} AND crawlee_id = ?`);
    this.#findByName = database.prepareRows(`${select} AND name = ?`);
    this.#findByAnyCase = database.prepareRows(`${select} AND lower(name) = ?`);
    this.#list = database.prepareRows(`${select} ORDER BY created_at, id`);
    this.#insert = database.prepareRows(
      `INSERT INTO ${table} (crawlee_id, name, created_at, modified_at, accessed_at) VALUES (?, ?, ?, ?, ?)`,
    );
    this.#rename = database.prepareRows(`UPDATE ${table} SET name = ? WHERE id = ?`);
    this.#touch = database.prepareRows(`UPDATE ${table} SET modified_at = ?, accessed_at = ? WHERE id = ?`);
  }

  find(idOrName: string): StorageRow | undefined {
    const row =
      this.#findById.get(idOrName) ?? this.#findByName.get(idOrName) ?? this.#findByAnyCase.get(idOrName.toLowerCase());
    return row && this.#storageRowOf(row);
  }

  /** @throws Error in Crawlee's words when there is none */
  require(idOrName: string): StorageRow {
    const found = this.find(idOrName);
    if (!found) throw new Error(`${this.kind} with id: ${idOrName} does not exist.`);
    return found;
  }

  /** As `find`, and notes that it was read. */
  findForReading(idOrName: string, nowMs: number): StorageRow | undefined {
    const found = this.find(idOrName);
    if (found) this.#readAtMs.set(found.rowId, nowMs);
    return found;
  }

  /** As `require`, and notes that it was read. */
  requireForReading(idOrName: string, nowMs: number): StorageRow {
    const found = this.require(idOrName);
    this.#readAtMs.set(found.rowId, nowMs);
    return found;
  }

  list(): StorageRow[] {
    return this.#list.all().map((row) => this.#storageRowOf(row));
  }

  /** Within a write transaction. Nothing by that name may exist. */
  create(name: string | undefined, nowMs: number): StorageRow {
    const id = randomUUID();
    this.#insert.run(id, name ?? null, nowMs, nowMs, nowMs);
    return this.require(id);
  }

  /** Within a write transaction. @throws Error in Crawlee's words when the name is taken */
  rename(row: StorageRow, name: string, nowMs: number): void {
    if (this.#findByAnyCase.get(name.toLowerCase())) throw new Error(`${this.kind} with name: ${name} already exists.`);
    this.#rename.run(name, row.rowId);
    this.noteChange(row.rowId, nowMs);
  }

  /** Within a write transaction. */
  noteChange(rowId: number, nowMs: number): void {
    this.#touch.run(nowMs, nowMs, rowId);
    this.#readAtMs.delete(rowId);
  }

  #storageRowOf(row: readonly unknown[]): StorageRow {
    const [rowId, id, name, createdAt, modifiedAt, accessedAt] = row as [
      number,
      string,
      string | null,
      number,
      number,
      number,
    ];
    return {
      rowId,
      id,
      name: name ?? undefined,
      createdAt: new Date(createdAt),
      modifiedAt: new Date(modifiedAt),
      accessedAt: new Date(Math.max(accessedAt, this.#readAtMs.get(rowId) ?? 0)),
    };
  }
}

/** @returns what Crawlee is shown of a storage */
export function infoOf({ rowId: _, ...info }: StorageRow): StorageInfo {
  return info;
}
