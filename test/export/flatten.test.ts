import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/core/errors.ts';
import { parseExact, stringifyExact } from '../../src/core/exact-json.ts';
import { childPath, columnNames, keysOf, parseFields, ROOT_PATH, selectColumns } from '../../src/export/column-path.ts';
import { ColumnTracker, columnsOf } from '../../src/export/flatten.ts';
import { dataset } from './support/arbitrary-records.ts';

test('the columns of a record are its leaves, in the order of its keys', () => {
  expect(columnsOf('{"b":1,"a":{"y":[1],"x":{}},"c":null}')).toEqual(['b', 'a.y', 'a.x', 'c']);
});

test('a tracker tells what is new and nothing else', () => {
  const tracker = new ColumnTracker();
  expect(tracker.add('{"a":1}')).toEqual(['a']);
  expect(tracker.add('{"a":2}')).toEqual([]);
  expect(tracker.add('{"b":{"c":1},"a":3}')).toEqual(['b.c']);
  expect(tracker.columns).toEqual(['a', 'b.c']);
});

test('a tracker goes on from the columns kept by an earlier process', () => {
  const tracker = new ColumnTracker(['a', 'b.c', 'x\\.y', '\\$']);
  expect(tracker.add('{"b":{"c":1,"d":2},"x.y":3}')).toEqual(['b.d']);
  expect(tracker.add('5')).toEqual([]);
});

test('a record read as a value has the columns of its text, and none is lost when only its text tells them', () => {
  const parsed = dataset.map((jsons) => jsons.map((json) => ({ value: parseExact(json), json })));
  const special = fc.constantFrom<unknown>(
    undefined,
    () => 1,
    Symbol('s'),
    1n,
    new Date(0),
    new Map([[1, 2]]),
    new URL('https://x/'),
    Object('boxed'),
  );
  const foreign = fc
    .dictionary(fc.constantFrom('a', 'b', 'c.d'), fc.oneof(special, fc.dictionary(fc.constantFrom('x', 'y'), special)))
    .map((value) => ({ value, json: stringifyExact(value) }));
  fc.assert(
    fc.property(fc.oneof(parsed, fc.array(foreign)), (records) => {
      const byValue = new ColumnTracker();
      const byText = new ColumnTracker();
      const reported = records.flatMap(({ value, json }) => [...(byValue.addValue(value) ?? byValue.add(json))]);
      for (const { json } of records) byText.add(json);
      expect(reported.toSorted()).toEqual(byText.columns.toSorted());
      expect(reported).toEqual(byValue.columns);
    }),
    { numRuns: 5_000 },
  );
});

test('any list of keys survives its path', () => {
  const keys = fc.array(fc.string({ unit: fc.constantFrom('.', '\\', 'a', '$', '*', '') }), { minLength: 1 });
  fc.assert(
    fc.property(keys, (list) => {
      expect(keysOf(list.reduce(childPath, ROOT_PATH))).toEqual(list);
    }),
    { numRuns: 5_000 },
  );
});

test('different lists of keys never have one path', () => {
  const keys = fc.array(fc.string({ unit: fc.constantFrom('.', '\\', 'a', ''), maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(keys, keys, (left, right) => {
      fc.pre(JSON.stringify(left) !== JSON.stringify(right));
      expect(left.reduce(childPath, ROOT_PATH)).not.toBe(right.reduce(childPath, ROOT_PATH));
    }),
    { numRuns: 5_000 },
  );
});

test('fields are parted at commas, but not at one with a backslash before it', () => {
  expect(parseFields('a, b.c,x\\,y,')).toEqual(['a', 'b.c', 'x,y']);
});

test('fields select by name or path, an object all below it, in the order asked for', () => {
  const paths = ['id', 'a.b', 'a.c', 'a\\.b', 'ab'];
  expect(columnNames(paths)).toEqual(['id', 'a.b', 'a.c', 'a.b_2', 'ab']);
  expect(selectColumns(paths, ['a', 'id'])).toEqual(['a.b', 'a.c', 'id']);
  expect(selectColumns(paths, ['a.b_2', 'a.b'])).toEqual(['a\\.b', 'a.b']);
  expect(selectColumns(paths, ['a\\.b'])).toEqual(['a\\.b']);
});

test('an unknown field is refused with the names there are', () => {
  expect(() => selectColumns(['id', 'name'], ['nam'])).toThrow(UsageError);
  expect(() => selectColumns(['id', 'name'], ['nam'])).toThrow('No column "nam"; there are id, name');
});
