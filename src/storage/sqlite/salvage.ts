import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { isDamage } from './errors.ts';

export type SalvagedTable = { rows: number; gaps: number };

// The largest rowid SQLite gives by itself in our tables is far below; a search beyond it ends.
const HIGHEST_ROWID = 2 ** 53 - 1;

type Row = SQLInputValue[];

/**
 * Goes through a table of a damaged file in the order of its rowids and hands over every row that can be read. Where a
 * page is damaged it looks for the next rowid that can be reached, by doubling and halving the distance.
 * @param columns without the rowid, which comes first in each row
 * @returns how many rows were read, and how many stretches were not
 */
export function salvageTable(
  db: DatabaseSync,
  { table, columns }: { table: string; columns: readonly string[] },
  take: (row: Row) => void,
): SalvagedTable {
  const list = ['rowid', ...columns].join(', ');
  const from = db.prepare(`SELECT ${list} FROM ${table} WHERE rowid >= ? ORDER BY rowid`);
  from.setReturnArrays(true);
  const probe = db.prepare(`SELECT ${list} FROM ${table} WHERE rowid >= ? ORDER BY rowid LIMIT 1`);
  const result = { rows: 0, gaps: 0 };
  for (let next: number | null = Number.MIN_SAFE_INTEGER; next !== null; ) {
    const stoppedAt = readFrom(next);
    if (stoppedAt === null) break;
    result.gaps += 1;
    next = nextReadable(stoppedAt, (rowid) => isReadable(() => probe.get(rowid)));
  }
  return result;

  /** @returns the first rowid that could not be read; null at the end of the table */
  function readFrom(start: number): number | null {
    let next = start;
    try {
      for (const row of from.iterate(start) as unknown as Iterable<Row>) {
        take(row);
        result.rows += 1;
        next = Number(row[0]) + 1;
      }
      return null;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return Math.max(next, 0);
    }
  }
}

/**
 * @param damaged a rowid that cannot be read
 * @returns the lowest rowid above it from which the table can be read; null when there is none
 */
export function nextReadable(damaged: number, isReadableFrom: (rowid: number) => boolean): number | null {
  let bad = damaged;
  let step = 1;
  while (!isReadableFrom(bad + step)) {
    bad += step;
    step *= 2;
    if (bad + step > HIGHEST_ROWID) return null;
  }
  let good = bad + step;
  while (good - bad > 1) {
    const middle = Math.floor((bad + good) / 2);
    if (isReadableFrom(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}
