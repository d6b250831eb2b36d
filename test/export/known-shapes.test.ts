import { expect, test } from 'vitest';
import { type ColumnNode, columnTree, RecordWalker, STRING } from '../../src/export/column-tree.ts';
import { KnownShapes } from '../../src/export/known-shapes.ts';

/** Learns records, and reads others by what was learned: [column, value] of each cell; null when a record's shape is not known. */
class Reader {
  readonly #walker: RecordWalker;
  readonly #shapes: KnownShapes;

  constructor(columns: readonly string[]) {
    const cell = (node: ColumnNode, kind: number, start: number, end: number) =>
      this.#shapes.learn(node, start, kind === STRING ? end + 1 : end);
    const unknownKey = () => {
      this.#shapes.stopLearning();
      return null;
    };
    this.#walker = new RecordWalker(columnTree(columns), { cell, unknownKey });
    this.#shapes = new KnownShapes(this.#walker.source);
  }

  learn(json: string): void {
    this.#walker.source.load(json);
    this.#shapes.beginLearning();
    this.#walker.walk();
    this.#shapes.endLearning();
  }

  read(json: string): [number, string][] | null {
    const { source } = this.#walker;
    source.load(json);
    const cells: [number, string][] = [];
    const value = (column: number, at: number) => {
      const end = source.endOfValue(at);
      cells.push([column, source.text(at, end)]);
      return end;
    };
    return this.#shapes.read({ value }) ? cells : null;
  }
}

test('one record is enough to know others by', () => {
  const reader = new Reader(['id', 'a.x', 'a.y', 'z']);
  expect(reader.read('{"id":1,"a":{"x":2,"y":3},"z":4}')).toBe(null);
  reader.learn('{"id":1,"a":{"x":2,"y":3},"z":4}');
  expect(reader.read('{"id":"}}","a":{"x":[{"y":1}],"y":null},"z":-0.50}')).toEqual([
    [0, '"}}"'],
    [1, '[{"y":1}]'],
    [2, 'null'],
    [3, '-0.50'],
  ]);
});

test('what was learned of two records holds for a third that mixes them', () => {
  const reader = new Reader(['a', 'b', 'c', 'd']);
  reader.learn('{"a":1,"b":2,"d":3}');
  expect(reader.read('{"a":1,"c":2,"d":3}')).toBe(null);
  reader.learn('{"a":1,"c":2}');
  reader.learn('{"b":1,"c":2,"d":3}');
  expect(reader.read('{"a":5,"c":6,"d":7}')).toEqual([
    [0, '5'],
    [2, '6'],
    [3, '7'],
  ]);
});

test('of two ways to go on where one begins like the other, the one that fits is taken', () => {
  const reader = new Reader(['a', 'a.b', 'c']);
  reader.learn('{"a":1,"c":2}');
  reader.learn('{"a":{"b":3},"c":4}');
  expect(reader.read('{"a":5,"c":6}')).toEqual([
    [0, '5'],
    [2, '6'],
  ]);
  expect(reader.read('{"a":{"b":7},"c":8}')).toEqual([
    [1, '7'],
    [2, '8'],
  ]);
  expect(reader.read('{"a":{"x":7},"c":8}')).toBe(null);
  expect(reader.read('{"a":{},"c":8}')).toBe(null);
});

test.each([
  ['another key', '{"a":1,"x":2}'],
  ['a key less', '{"a":1}'],
  ['a key more', '{"a":1,"b":2,"x":3}'],
  ['white space', '{"a":1, "b":2}'],
  ['white space before a value', '{"a": 1,"b":2}'],
  ['an object where a value was', '{"a":{"x":1},"b":2}'],
  ['something after the end', '{"a":1,"b":2} '],
  ['no object', '[1]'],
  ['nothing at all', ''],
])('a record with %s is of another shape', (_, json) => {
  const reader = new Reader(['a', 'b']);
  reader.learn('{"a":1,"b":2}');
  expect(reader.read('{"a":3,"b":4}')).toEqual([
    [0, '3'],
    [1, '4'],
  ]);
  expect(reader.read(json)).toBe(null);
});

test('records that are a cell of their own, or have a key without a column, are not learned', () => {
  const reader = new Reader(['\\$', 'a', 'b']);
  for (const json of ['5', '{}', '[1]', '{"a":1,"x":2,"b":3}']) {
    reader.learn(json);
    expect(reader.read(json)).toBe(null);
  }
});

test('eight ways to go on from a cell are learned, a ninth is not', () => {
  const keys = Array.from({ length: 9 }, (_, index) => `k${index}`);
  const reader = new Reader(['a', ...keys]);
  for (const key of keys) reader.learn(`{"a":1,"${key}":2}`);
  expect(keys.map((key) => reader.read(`{"a":1,"${key}":2}`) !== null)).toEqual([...Array(8).fill(true), false]);
});
