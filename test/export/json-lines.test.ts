import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonArrayChunks, jsonLinesChunks } from '../../src/export/json-lines.ts';
import { dataset } from './support/arbitrary-records.ts';
import { parseKeepingDigits } from './support/reference.ts';
import { rowsOf, textOf } from './support/rows.ts';

const ALL = { fields: null };

test('10,000 random datasets come back from JSON and JSON Lines, every digit and every null', async () => {
  await fc.assert(
    fc.asyncProperty(dataset, async (jsons) => {
      const records = jsons.map(parseKeepingDigits);
      expect(parseKeepingDigits(await textOf(jsonArrayChunks(rowsOf(jsons), ALL)))).toEqual(records);
      const lines = (await textOf(jsonLinesChunks(rowsOf(jsons), ALL))).split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map(parseKeepingDigits)).toEqual(records);
    }),
    { numRuns: 10_000 },
  );
}, 120_000);

test('a JSON array has one item a line', async () => {
  expect(await textOf(jsonArrayChunks(rowsOf(['{"a":1}', '2', '{}', '[3]']), ALL))).toBe(
    '[\n{"a":1},\n2,\n{},\n[3]\n]\n',
  );
});

test('no rows are an empty array, and no lines', async () => {
  expect(await textOf(jsonArrayChunks(rowsOf([]), ALL))).toBe('[]\n');
  expect(await textOf(jsonLinesChunks(rowsOf([]), ALL))).toBe('');
});

test('stored text is written as it is: escapes, digits, order', async () => {
  const json = '{"z":1E5,"big":12345678901234567890.10,"half":"\\ud800","nul":"\\u0000","a":"\\u0041"}';
  expect(await textOf(jsonLinesChunks(rowsOf([json]), ALL))).toBe(`${json}\n`);
});

test('a record stored on several lines is put on one', async () => {
  const json = '{\r\n  "a": [\n    1,\n    "x\\ny { \\" }"\n  ]\n}';
  expect(await textOf(jsonLinesChunks(rowsOf([json]), ALL))).toBe('{"a":[1,"x\\ny { \\" }"]}\n');
});

test('fields keep their nesting and their order in the record; records without them stay as {}', async () => {
  const jsons = ['{"a":1,"b":{"c":{"d":2},"e":3},"f":4}', '{"b":{"e":5}}', '{"b":7}', '9', '{"b":{"c":null}}'];
  expect(await textOf(jsonLinesChunks(rowsOf(jsons), { fields: ['f', 'b.c'] }))).toBe(
    '{"b":{"c":{"d":2}},"f":4}\n{}\n{}\n{}\n{"b":{"c":null}}\n',
  );
});

test('a field whose key has a dot is not the nested one', async () => {
  const jsons = ['{"a.b":1,"a":{"b":2}}'];
  expect(await textOf(jsonLinesChunks(rowsOf(jsons), { fields: ['a\\.b'] }))).toBe('{"a.b":1}\n');
});
