import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isExact, isRawJson } from '../../src/core/exact-json.ts';
import { CSV_DEFAULTS, csvChunks } from '../../src/export/csv.ts';
import { parquetChunks } from '../../src/export/parquet.ts';
import { dataset } from './support/arbitrary-records.ts';
import { connectDuckDb, duckDbMissing, quoted } from './support/duckdb.ts';
import { type Cell, parseKeepingDigits, referenceCells, stringify } from './support/reference.ts';
import { columnsOfAll, rowsOf, textOf } from './support/rows.ts';

// With CI=true a missing tool is a failure, not a reason to skip.
const isSkipped = duckDbMissing !== null && process.env.CI !== 'true';
const RUNS = process.env.CI === 'true' ? 10_000 : 1_000;

// The client's own text decoder drops a byte order mark; DuckDB has it.
function asClientReads(text: Cell): Cell {
  return text === null ? null : text.replace(/^\ufeff/, '');
}

function expectedRows(jsons: readonly string[]): Cell[][] {
  const records = jsons.map(referenceCells);
  const keys = [...new Set(records.flatMap((cells) => [...cells.keys()]))];
  const rows = records.map((cells) => keys.map((key) => asClientReads(cells.get(key) ?? null)));
  // In a table of one column null is written as "", since an empty line is no row.
  return keys.length === 1 ? rows.map((row) => row.map((cell) => cell ?? '')) : rows;
}

describe.skipIf(isSkipped)('read back by DuckDB', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-duckdb-'));
  let db: Awaited<ReturnType<typeof connectDuckDb>>;

  beforeAll(async () => {
    db = await connectDuckDb();
    // Files this small are read faster by one.
    await db.runAndReadAll('set threads = 1');
    // One name is written over and over, faster than file times tell apart.
    await db.runAndReadAll('set enable_external_file_cache = false');
  });
  afterAll(() => {
    db.closeSync();
    rmSync(folder, { recursive: true });
  });

  test('random datasets come back from CSV: every cell, null apart from empty text', async () => {
    const path = join(folder, 'data.csv');
    await fc.assert(
      fc.asyncProperty(dataset, async (jsons) => {
        const columns = columnsOfAll(jsons);
        if (columns.length === 0) return;
        await writeFile(path, await textOf(csvChunks(rowsOf(jsons), columns, CSV_DEFAULTS)));
        const reader = await db.runAndReadAll(
          `select * from read_csv(${quoted(path)}, header = true, all_varchar = true, delim = ',', quote = '"',
             escape = '"', allow_quoted_nulls = false, auto_detect = false, new_line = '\\n',
             columns = {${columns.map((_, index) => `'c${index}': 'VARCHAR'`).join(', ')}})`,
        );
        expect(reader.getRows()).toEqual(expectedRows(jsons));
      }),
      { numRuns: RUNS },
    );
  }, 600_000);

  test('random datasets come back from Parquet, typed: every value, objects and arrays as JSON', async () => {
    const path = join(folder, 'data.parquet');
    await fc.assert(
      fc.asyncProperty(dataset, async (jsons) => {
        await writeFile(path, parquetChunks(rowsOf(jsons), { fields: null }));
        const reader = await db.runAndReadAll(`select * from read_parquet(${quoted(path)})`);
        const columns = expectedColumns(jsons);
        const types = reader.columnTypes().map((type) => type.alias ?? String(type));
        if (columns.length === 0) return;
        expect(types).toEqual(columns.map(({ type }) => type));
        const rows = jsons.map((_, row) => columns.map(({ type, values }) => expectedValue(type, values[row])));
        expect(reader.getRows()).toEqual(rows);
      }),
      { numRuns: RUNS },
    );
  }, 600_000);

  test('the query in docs/exports.md runs over exported files', async () => {
    const products = ['{"id":1,"brand":{"name":"Oak"}}', '{"id":2,"brand":{"name":""}}', '{"id":3,"brand":null}'];
    const reviews = ['{"product_id":1,"rating":4}', '{"product_id":1,"rating":5}', '{"product_id":2,"rating":1.5}'];
    const csv = join(folder, 'products.csv');
    const parquet = join(folder, 'reviews.parquet');
    await writeFile(csv, csvChunks(rowsOf(products), columnsOfAll(products), CSV_DEFAULTS));
    await writeFile(parquet, parquetChunks(rowsOf(reviews), { fields: null }));
    const page = await readFile(new URL('../../docs/exports.md', import.meta.url), 'utf8');
    const query = /```sql\n(.*?);?\n```/s.exec(page)?.[1] ?? '';
    const here = query.replace("'products.csv'", quoted(csv)).replace("'reviews.parquet'", quoted(parquet));
    expect((await db.runAndReadAll(here)).getRows()).toEqual([
      ['Oak', 2n, 4.5],
      ['', 1n, 1.5],
    ]);
  });
});

type Column = { type: string; values: unknown[] };

/** The top-level keys in first-seen order, each with its value in every record (undefined = not there). */
function expectedColumns(jsons: readonly string[]): Column[] {
  const records = jsons.map((json) => {
    const value = parseKeepingDigits(json);
    const isParent = typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
    // A record that is no object with keys has a column of its own.
    return isParent && Object.keys(value).length > 0 ? new Map(Object.entries(value)) : new Map([[WHOLE, value]]);
  });
  const keys = [...new Set(records.flatMap((record) => [...record.keys()]))];
  return keys.map((key) => {
    const values = records.map((record) => record.get(key));
    return { type: expectedType(values), values };
  });
}

// No key: keys are strings.
const WHOLE = Symbol('the whole record') as unknown as string;

function expectedType(values: readonly unknown[]): string {
  const present = values.filter((value) => value !== null && value !== undefined);
  const digits = present.filter(isRawJson).map(({ rawJSON }) => rawJSON);
  if (present.every((value) => typeof value === 'string')) return 'VARCHAR';
  if (present.every((value) => typeof value === 'boolean')) return 'BOOLEAN';
  if (digits.length < present.length) return 'JSON';
  if (digits.every(isInt64)) return 'BIGINT';
  return digits.every((text) => isExact(text, Number(text))) ? 'DOUBLE' : 'VARCHAR';
}

function isInt64(digits: string): boolean {
  if (!/^-?\d+$/.test(digits) || digits === '-0') return false;
  return BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null || isRawJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

function expectedValue(type: string, value: unknown): unknown {
  if (value === undefined || (value === null && type !== 'JSON')) return null;
  if (type === 'JSON') return stringify(wellFormed(value));
  if (typeof value === 'string') return asClientReads(value.toWellFormed());
  if (!isRawJson(value)) return value;
  if (type === 'BIGINT') return BigInt(value.rawJSON);
  return type === 'DOUBLE' ? Number(value.rawJSON) : value.rawJSON;
}
