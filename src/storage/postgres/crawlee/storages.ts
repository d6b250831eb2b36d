import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../core/clock.ts';
import type { StorageInfo, StorageKind } from '../../crawlee/storage-registry.ts';
import type { PostgresDatabase, Transaction } from '../database.ts';
import { DB_NOW_MS } from '../time.ts';

/** A storage as listed: `rowId` is ours, `id` and `name` are Crawlee's. Counts are of a request queue. */
export type PostgresStorage = StorageInfo & { rowId: number; total: number; handled: number };

type Row = {
  row_id: number;
  crawlee_id: string;
  name: string | null;
  created_at: number;
  modified_at: number;
  accessed_at: number;
  total: number;
  handled: number;
};

const KINDS = { Dataset: 1, 'Key-value store': 2, 'Request queue': 3 } as const satisfies Record<StorageKind, number>;
const COLUMNS = 'id AS row_id, crawlee_id, name, created_at, modified_at, accessed_at, total, handled';

/** The storages of one kind: found by id or name, created, renamed, listed. Names are compared without regard to case. */
export class PostgresStorages {
  readonly kind: StorageKind;
  readonly database: PostgresDatabase;
  readonly #clock: Clock | null;

  /** @param clock null = the database's */
  constructor(database: PostgresDatabase, kind: StorageKind, clock: Clock | null) {
    this.database = database;
    this.kind = kind;
    this.#clock = clock;
  }

  /** A table of Crawlee's storages. */
  table(name: 'storage' | 'item' | 'record' | 'request'): string {
    return `${this.database.schema}.crawlee_${name}`;
  }

  async now(transaction: Transaction): Promise<number> {
    if (this.#clock !== null) return this.#clock.wallMs();
    const [row] = await transaction.rows<{ now: number }>(`SELECT ${DB_NOW_MS} AS now`);
    return row!.now;
  }

  async find(transaction: Transaction, idOrName: string, lock = ''): Promise<PostgresStorage | undefined> {
    const [row] = await transaction.rows<Row>(
      `SELECT ${COLUMNS} FROM ${this.table('storage')} WHERE kind = $1 AND (crawlee_id = $2 OR lower(name) = lower($2))
       ORDER BY crawlee_id = $2 DESC LIMIT 1 ${lock}`,
      [KINDS[this.kind], idOrName],
    );
    return row && storageOf(row);
  }

  /** @throws Error in Crawlee's words when there is none */
  async require(transaction: Transaction, idOrName: string): Promise<PostgresStorage> {
    return this.#there(await this.find(transaction, idOrName), idOrName);
  }

  /** As `require`; others that change it wait until the transaction ends. */
  async requireLocked(transaction: Transaction, idOrName: string): Promise<PostgresStorage> {
    return this.#there(await this.find(transaction, idOrName, 'FOR UPDATE'), idOrName);
  }

  async list(): Promise<PostgresStorage[]> {
    const sql = `SELECT ${COLUMNS} FROM ${this.table('storage')} WHERE kind = $1 ORDER BY created_at, id`;
    return (await this.database.rows<Row>(sql, [KINDS[this.kind]])).map(storageOf);
  }

  /** @returns the storage of that name, made when there is none; without a name a new one */
  async getOrCreate(name: string | undefined): Promise<PostgresStorage> {
    const id = randomUUID();
    return this.database.transaction(async (transaction) => {
      const nowMs = await this.now(transaction);
      transaction.run(
        `INSERT INTO ${this.table('storage')} (kind, crawlee_id, name, created_at, modified_at, accessed_at)
         VALUES ($1, $2, $3, $4, $4, $4) ON CONFLICT DO NOTHING`,
        [KINDS[this.kind], id, name || null, nowMs],
      );
      return this.require(transaction, name || id);
    });
  }

  /** @throws Error in Crawlee's words when the name is taken */
  async rename(transaction: Transaction, storage: PostgresStorage, name: string): Promise<void> {
    if (await this.find(transaction, name)) throw new Error(`${this.kind} with name: ${name} already exists.`);
    transaction.run(`UPDATE ${this.table('storage')} SET name = $1 WHERE id = $2`, [name, storage.rowId]);
    this.noteChange(transaction, storage, await this.now(transaction));
  }

  noteChange(transaction: Transaction, { rowId }: PostgresStorage, nowMs: number): void {
    const sql = `UPDATE ${this.table('storage')} SET modified_at = $1, accessed_at = $1 WHERE id = $2`;
    transaction.run(sql, [nowMs, rowId]);
  }

  /** Removes a storage with all that is in it. */
  async remove(idOrName: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const found = await this.find(transaction, idOrName, 'FOR UPDATE');
      if (found === undefined) return;
      for (const name of ['item', 'record', 'request'] as const)
        transaction.run(`DELETE FROM ${this.table(name)} WHERE storage_id = $1`, [found.rowId]);
      transaction.run(`DELETE FROM ${this.table('storage')} WHERE id = $1`, [found.rowId]);
    });
  }

  #there(found: PostgresStorage | undefined, idOrName: string): PostgresStorage {
    if (found === undefined) throw new Error(`${this.kind} with id: ${idOrName} does not exist.`);
    return found;
  }
}

/** @returns what Crawlee is shown of a storage, whatever its kind */
export function infoOf({ id, name, createdAt, modifiedAt, accessedAt }: PostgresStorage): StorageInfo {
  return { id, name, createdAt, modifiedAt, accessedAt };
}

function storageOf(row: Row): PostgresStorage {
  return {
    rowId: row.row_id,
    id: row.crawlee_id,
    name: row.name ?? undefined,
    createdAt: new Date(row.created_at),
    modifiedAt: new Date(row.modified_at),
    accessedAt: new Date(row.accessed_at),
    total: row.total,
    handled: row.handled,
  };
}
