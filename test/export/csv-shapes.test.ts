import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ColumnPath } from '../../src/export/column-path.ts';
import { CSV_DEFAULTS, type CsvOptions, csvChunks } from '../../src/export/csv.ts';
import { alikeDataset } from './support/arbitrary-records.ts';
import { columnsOfAll, rowsOf, textOf } from './support/rows.ts';

const options = fc.record<CsvOptions>({
  delimiter: fc.constantFrom(',', ';', '\t', '|', ' ', '\\', ']', ':', '§'),
  bom: fc.constant(false),
  lineEnding: fc.constantFrom('lf' as const, 'crlf' as const),
  escapeFormulas: fc.boolean(),
  partial: fc.boolean(),
});

function csvOf(jsons: readonly string[], columns: readonly ColumnPath[], chosen: Partial<CsvOptions> = {}) {
  return textOf(csvChunks(rowsOf(jsons), columns, { ...CSV_DEFAULTS, ...chosen }));
}

// Records of a shape met before are read without a look at their keys: the first of a file never is.
test('a record has one line, whatever records came before it', async () => {
  await fc.assert(
    fc.asyncProperty(alikeDataset, options, fc.nat(3), async (jsons, chosen, left) => {
      const all = columnsOfAll(jsons);
      const columns = chosen.partial ? all.filter((_, index) => index % 4 !== left) : all;
      const header = await csvOf([], columns, chosen);
      const alone = await Promise.all(
        jsons.map(async (json) => (await csvOf([json], columns, chosen)).slice(header.length)),
      );
      expect(await csvOf(jsons, columns, chosen)).toBe(header + alone.join(''));
    }),
    { numRuns: 1_000 },
  );
}, 120_000);

test('a key that is a value here and an object there is found in both', async () => {
  const jsons = [
    '{"a":1,"b":2}',
    '{"a":{"x":3,"y":4},"b":5}',
    '{"a":6,"b":7}',
    '{"a":{"x":8,"y":9},"b":0}',
    '{"a":{},"b":1}',
  ];
  expect(await csvOf(jsons, ['a', 'b', 'a.x', 'a.y'])).toBe('a,b,a.x,a.y\n1,2,,\n,5,3,4\n6,7,,\n,0,8,9\n{},1,,\n');
});

test('keys in another order, and one that comes twice, have their columns', async () => {
  const jsons = ['{"a":1,"b":2}', '{"b":3,"a":4}', '{"a":5,"a":6,"b":7}', '{"b":8,"a":9}', '{"a":"x","a":null,"b":7}'];
  expect(await csvOf(jsons, ['a', 'b'])).toBe('a,b\n1,2\n4,3\n6,7\n9,8\n,7\n');
});

test('columns that were not chosen are stepped over, objects among them', async () => {
  const jsons = Array.from({ length: 4 }, (_, id) => `{"x":{"id":7,"deep":[{}]},"id":${id},"y":["id"],"z":{}}`);
  expect(await csvOf(jsons, ['id'], { partial: true })).toBe('id\n0\n1\n2\n3\n');
  const mixed = ['{"a":1,"id":1}', '{"a":{"id":2},"id":3}', '{"a":[4],"id":5}', '{"a":"id","id":6}'];
  expect(await csvOf(mixed, ['id'], { partial: true })).toBe('id\n1\n3\n5\n6\n');
});

test('more keys than are kept in mind are left out all the same', async () => {
  const jsons = Array.from({ length: 12 }, (_, row) => {
    const members = Array.from({ length: 1_000 }, (_, i) => `"k${row * 1_000 + i}":{"id":0}`);
    return `{${members.join(',')},"id":${row}}`;
  });
  expect(await csvOf([...jsons, ...jsons], ['id'], { partial: true })).toBe(
    `id\n${[...jsons.keys(), ...jsons.keys()].join('\n')}\n`,
  );
});

test('records of more shapes than are learned are written all the same', async () => {
  const jsons = Array.from(
    { length: 500 },
    (_, i) =>
      `{${[0, 1, 2, 3, 4, 5]
        .filter((k) => (i >> k) % 2 === 0)
        .map((k) => `"k${k}":${i}`)
        .join(',')}}`,
  );
  const columns = ['k0', 'k1', 'k2', 'k3', 'k4', 'k5', '\\$'];
  const lines = jsons.map((json, i) =>
    [...[0, 1, 2, 3, 4, 5].map((k) => ((i >> k) % 2 === 0 ? i : '')), json === '{}' ? '{}' : ''].join(','),
  );
  expect(await csvOf(jsons, columns)).toBe(`k0,k1,k2,k3,k4,k5,value\n${lines.join('\n')}\n`);
});

test('a record cut off is damage, also where its shape is known', async () => {
  const whole = '{"a":"x","b":[1,"y"],"c":{"d":5}}';
  const columns = columnsOfAll([whole]);
  for (let length = 0; length < whole.length; length++)
    await expect(csvOf([whole, whole.slice(0, length)], columns), whole.slice(0, length)).rejects.toThrow(
      'Not valid JSON',
    );
  await expect(csvOf([whole, `${whole}}`], columns)).rejects.toThrow('Not valid JSON');
});

test('a column of what found no place, chosen alone, is one cell', async () => {
  expect(await csvOf(['{"a":1}', '{"b":"x"}'], ['\\*'], { partial: true })).toBe(
    '_rest\n"{""a"":1}"\n"{""b"":""x""}"\n',
  );
});

test('an array stored on several lines is quoted, whatever the delimiter', async () => {
  expect(await csvOf(['{"a":[\n1,\r\n2],"b":[3]}'], ['a', 'b'], { delimiter: ';' })).toBe('a;b\n"[\n1,\r\n2]";[3]\n');
});

test('cells of any size fit: as they stand, with escapes, with codes, in an array', async () => {
  for (const size of [1, 200, 257, 16_380, 400_000]) {
    const texts = ['x', '"', '\\', '日', '\u0001', '😀', ','].map((character) => character.repeat(size));
    const list = texts.map((text) => [text]);
    const json = JSON.stringify({ ...texts, list });
    const columns = columnsOfAll([json]);
    const lines = (await csvOf([json, json, json], columns, { delimiter: '|' })).slice(columns.join('|').length + 1);
    const cell = (text: string) => (text.includes('"') ? `"${text.replaceAll('"', '""')}"` : text);
    const line = `${[...texts, JSON.stringify(list)].map(cell).join('|')}\n`;
    expect(lines === line.repeat(3)).toBe(true);
  }
});
