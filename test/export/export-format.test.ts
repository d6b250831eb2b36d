import { expect, test } from 'vitest';
import { formatOf } from '../../src/export/export-format.ts';

test.each([
  ['out/a.json', null, { format: 'json', gzip: false }],
  ['a.b.jsonl', null, { format: 'jsonl', gzip: false }],
  ['a.NDJSON', null, { format: 'ndjson', gzip: false }],
  ['v1.2/data.csv.gz', null, { format: 'csv', gzip: true }],
  ['a.parquet', null, { format: 'parquet', gzip: false }],
  ['-', 'csv', { format: 'csv', gzip: false }],
  ['-', 'jsonl.gz', { format: 'jsonl', gzip: true }],
  ['data.txt', 'csv', { format: 'csv', gzip: false }],
  ['data.csv', 'json', { format: 'json', gzip: false }],
  ['data.gz', 'csv', { format: 'csv', gzip: true }],
  ['.csv', null, { format: 'csv', gzip: false }],
] as const)('%s with --format %s', (path, wanted, expected) => {
  expect(formatOf(path, wanted)).toEqual(expected);
});

test.each([
  ['data.txt', null, 'Cannot tell the format of "data.txt"'],
  ['csv', null, 'Cannot tell the format of "csv"'],
  ['data.d/csv', null, 'Cannot tell the format'],
  ['-', null, 'Cannot tell the format of "-"'],
  ['a.csv', 'xml', 'Unknown format "xml"'],
  ['a.parquet.gz', null, 'compressed within'],
])('%s with --format %s is refused', (path, wanted, message) => {
  expect(() => formatOf(path, wanted)).toThrow(message);
});
