import type { RowStatement, SqliteDatabase } from '../sqlite/database.ts';
import { tableOf } from '../sqlite/records.ts';

export type CursorRange = { offset: number; limit: number; desc: boolean };

type Mark = { offset: number; seq: number; desc: boolean };

const BEFORE_ALL = 0;
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/**
 * Reads a dataset by offset without counting through it each time: it remembers where the last page ended, and whoever
 * reads page after page goes on from there. SQL's OFFSET alone would make that quadratic.
 */
export class DatasetCursor {
  readonly #database: SqliteDatabase;
  readonly #datasetId: number;
  readonly #forward: RowStatement;
  readonly #backward: RowStatement;
  readonly #seqForward: RowStatement;
  readonly #seqBackward: RowStatement;
  #mark: Mark | null = null;

  constructor(database: SqliteDatabase, datasetId: number) {
    this.#database = database;
    this.#datasetId = datasetId;
    const table = tableOf(datasetId);
    this.#forward = database.prepareRows(`SELECT seq, json FROM ${table} WHERE seq > ?+0 ORDER BY seq LIMIT ?+0`);
    this.#backward = database.prepareRows(`SELECT seq, json FROM ${table} WHERE seq < ?+0 ORDER BY seq DESC LIMIT ?+0`);
    this.#seqForward = database.prepareRows(`SELECT seq FROM ${table} ORDER BY seq LIMIT 1 OFFSET ?`);
    this.#seqBackward = database.prepareRows(`SELECT seq FROM ${table} ORDER BY seq DESC LIMIT 1 OFFSET ?`);
  }

  isOf(database: SqliteDatabase, datasetId: number): boolean {
    return database === this.#database && datasetId === this.#datasetId;
  }

  /** @returns the JSON of the items in the range, in its order */
  read({ offset, limit, desc }: CursorRange): string[] {
    const start = this.#seqBefore(offset, desc);
    if (start === null) return [];
    const rows = (desc ? this.#backward : this.#forward).all(start, limit) as [number, string][];
    const last = rows.at(-1);
    if (last) this.#mark = { offset: offset + rows.length, seq: last[0], desc };
    return rows.map(([, json]) => json);
  }

  /** The seq of the row just before the offset, in the direction read; null when the dataset ends before it. */
  #seqBefore(offset: number, desc: boolean): number | null {
    if (offset === 0) return desc ? AFTER_ALL : BEFORE_ALL;
    // Descending offsets move when rows are added at the end, so only ascending ones are remembered.
    if (!desc && this.#mark && !this.#mark.desc && this.#mark.offset === offset) return this.#mark.seq;
    const seq = (desc ? this.#seqBackward : this.#seqForward).get(offset - 1)?.[0];
    return (seq as number | undefined) ?? null;
  }
}
