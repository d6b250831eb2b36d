import { describe, expect, test } from 'vitest';
import { driftBetween } from '../../src/report/dataset-drift.ts';
import { type DatasetProfile, profileDataset } from '../../src/report/dataset-profile.ts';

async function profileOf(records: readonly unknown[]): Promise<DatasetProfile> {
  async function* rows() {
    yield records.map((record) => ({ json: JSON.stringify(record) }));
  }
  return profileDataset({ name: 'products', count: records.length }, rows());
}

const times = (count: number, record: (at: number) => unknown) => Array.from({ length: count }, (_, at) => record(at));
const drift = async (before: readonly unknown[], after: readonly unknown[]) =>
  driftBetween(await profileOf(before), await profileOf(after));

describe('what has changed since the run before', () => {
  const record = { id: 1, a: 1, b: 'x', c: 1, d: 1, m: { n: 1 } };
  const told = (field: string, change: string, before: string | null, after: string | null) => [
    { dataset: 'products', field, change, before, after },
  ];

  test.each([
    ['nothing', {}, []],
    ['an integer that is a number now', { c: 1.5 }, []],
    ['a field that is gone', { a: undefined }, told('a', 'removed', 'integer', null)],
    ['one within an object that is gone', { m: { o: undefined } }, told('m.n', 'removed', 'integer', null)],
    ['a type that was not there before', { b: 2 }, told('b', 'type', 'text', 'integer')],
    ['a date that is any text now', { b: 'y' }, []],
    ['values that are null now', { d: null }, told('d', 'empty', '0 %', '100 %')],
    ['a field that is new', { e: true }, told('e', 'added', null, 'boolean')],
  ])('is told: %s', async (_, changes, expected) => {
    const after = { ...record, ...changes };
    expect(
      await drift(
        times(10, () => record),
        times(10, () => after),
      ),
    ).toEqual(expected);
  });

  test('is not told where chance explains it', async () => {
    const rare = (count: number, every: number) =>
      times(count, (at) => (at % every === 0 ? { id: 1, r: 1 } : { id: 1 }));
    // One in a hundred, and none of twenty.
    expect(await drift(rare(100, 100), rare(20, 100).slice(1))).toEqual([]);
    // One in ten, and none of a hundred: that is no chance.
    expect(
      await drift(
        rare(100, 10),
        times(100, () => ({ id: 1 })),
      ),
    ).toEqual([{ dataset: 'products', field: 'r', change: 'removed', before: 'integer', after: null }]);
    // Half of three, and none of three, says nothing; of a hundred it does.
    const half = (count: number) => times(count, (at) => ({ v: at % 2 === 0 ? null : 1 }));
    const full = (count: number) => times(count, () => ({ v: 1 }));
    expect(await drift(half(3), full(3))).toEqual([]);
    expect(await drift(half(100), full(100))).toMatchObject([
      { field: 'v', change: 'empty', before: '50 %', after: '0 %' },
    ]);
  });

  test('does not tell of keys that are data', async () => {
    const ids = (from: number) => times(300, (at) => ({ [`id${from + at}`]: 1 }));
    expect(await drift(ids(0), ids(1_000))).toEqual([]);
  });

  test('a value that was always null and is something now is told as filled, not as a new type', async () => {
    expect(
      await drift(
        times(10, () => ({ v: null })),
        times(10, () => ({ v: 'x' })),
      ),
    ).toEqual([{ dataset: 'products', field: 'v', change: 'empty', before: '100 %', after: '0 %' }]);
  });
});
