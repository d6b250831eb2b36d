import { expect, test } from 'vitest';
import { batchesOf } from '../../src/actor/batches.ts';

const row = (seq: number, json: string) => ({ seq, json });

test('rows go together in order, up to the size of a call', () => {
  const rows = [row(1, '{"a":1}'), row(2, '{"a":2}'), row(5, '{"a":3}')];
  // Seven bytes each, and a comma.
  expect(batchesOf(rows, { mostBytes: 16 })).toEqual({
    batches: [
      { body: '[{"a":1},{"a":2}]', count: 2, lastSeq: 2 },
      { body: '[{"a":3}]', count: 1, lastSeq: 5 },
    ],
    oversized: [],
  });
});

test('bytes are counted, not characters', () => {
  const rows = [row(1, '{"a":"€"}'), row(2, '{"a":"€"}')];
  expect(batchesOf(rows, { mostBytes: 21 }).batches).toHaveLength(2);
  expect(batchesOf(rows, { mostBytes: 24 }).batches).toHaveLength(1);
});

test('what is no object is wrapped, and digits stay as they are written', () => {
  const rows = [row(1, '9007199254740993'), row(2, '[1]'), row(3, '"text"'), row(4, 'null'), row(5, '{"id":1.10}')];
  const [batch] = batchesOf(rows).batches;
  expect(batch!.body).toBe('[{"value":9007199254740993},{"value":[1]},{"value":"text"},{"value":null},{"id":1.10}]');
});

test('a row that no call can carry is set aside, and those around it stay together', () => {
  const rows = [row(1, '{}'), row(2, `{"a":"${'x'.repeat(50)}"}`), row(3, '{}')];
  const { batches, oversized } = batchesOf(rows, { largestItemBytes: 40 });
  expect(batches).toEqual([{ body: '[{},{}]', count: 2, lastSeq: 3 }]);
  expect(oversized).toEqual([{ ...rows[1], bytes: 59 }]);
});

test('no rows make no call', () => {
  expect(batchesOf([])).toEqual({ batches: [], oversized: [] });
});
