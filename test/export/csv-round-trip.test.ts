import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnNames, keysOf } from '../../src/export/column-path.ts';
import { CSV_DEFAULTS, type CsvOptions, csvChunks } from '../../src/export/csv.ts';
import { dataset } from './support/arbitrary-records.ts';
import { type Cell, referenceCells } from './support/reference.ts';
import { columnsOfAll, rowsOf, textOf } from './support/rows.ts';

const RUNS = 10_000;

/** What a CSV parser sees: bytes on the disk, so that what UTF-8 cannot hold is gone. */
function parseCsv(text: string, { delimiter, lineEnding }: CsvOptions): Cell[][] {
  return parse(Buffer.from(text), {
    bom: true,
    delimiter,
    record_delimiter: lineEnding === 'crlf' ? '\r\n' : '\n',
    relax_column_count: false,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  });
}

function expectedTable(jsons: readonly string[]): { keys: string[]; rows: Cell[][] } {
  const records = jsons.map(referenceCells);
  const keys = [...new Set(records.flatMap((cells) => [...cells.keys()]))];
  return { keys, rows: records.map((cells) => keys.map((key) => cells.get(key) ?? null)) };
}

const options = fc.record<CsvOptions>({
  delimiter: fc.constantFrom(',', ';', '\t', '|', ' ', '^', '\\', ']'),
  bom: fc.boolean(),
  lineEnding: fc.constantFrom('lf' as const, 'crlf' as const),
  escapeFormulas: fc.constant(false),
  partial: fc.constant(false),
});

test('10,000 random datasets come back from a CSV parser as they went in', async () => {
  await fc.assert(
    fc.asyncProperty(dataset, options, async (jsons, chosen) => {
      const columns = columnsOfAll(jsons);
      const [header, ...rows] = parseCsv(await textOf(csvChunks(rowsOf(jsons), columns, chosen)), chosen);
      const expected = expectedTable(jsons);
      expect(columns.map((path) => JSON.stringify(keysOf(path)))).toEqual(expected.keys);
      if (columns.length === 0) return;
      expect(header?.map((name) => name ?? '')).toEqual(columnNames(columns).map((name) => name.toWellFormed()));
      // In a table of one column null is written as "", since an empty line is no row.
      const isOneColumn = columns.length === 1;
      expect(rows).toEqual(isOneColumn ? expected.rows.map((row) => row.map((cell) => cell ?? '')) : expected.rows);
    }),
    { numRuns: RUNS },
  );
}, 120_000);

test('no two columns have one name, and an added column renames none', () => {
  fc.assert(
    fc.property(dataset, dataset, (first, second) => {
      const before = columnNames(columnsOfAll(first));
      const after = columnNames(columnsOfAll([...first, ...second]));
      expect(new Set(after).size).toBe(after.length);
      expect(after.slice(0, before.length)).toEqual(before);
    }),
    { numRuns: 2_000 },
  );
});

test('defaults are a comma, LF and no BOM', () => {
  expect(CSV_DEFAULTS).toEqual({ delimiter: ',', bom: false, lineEnding: 'lf', escapeFormulas: false, partial: false });
});
