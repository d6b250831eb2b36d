import { expect, test } from 'vitest';
import { profileDataset } from '../../src/report/dataset-profile.ts';

function profileOf(records: readonly unknown[], count = records.length) {
  const rows = async function* () {
    for (let at = 0; at < records.length; at += 1_000)
      yield records.slice(at, at + 1_000).map((record) => ({ json: JSON.stringify(record) }));
  };
  return profileDataset({ name: 'x', count }, rows());
}

test('tells fields, types, null and missing shares', async () => {
  const { fields, sampled } = await profileOf([
    {
      id: 1,
      price: 1.5,
      at: '2026-01-02T03:04:05Z',
      brand: { name: 'a' },
      tags: ['x', null],
      items: [{ n: 1 }, { n: 2, m: true }],
    },
    { id: 2, price: 2, at: null, brand: null, tags: [], items: [] },
    { id: 'three', brand: { name: 'b', url: 'u' } },
    { id: 4, brand: { name: null } },
  ]);
  expect(sampled).toBe(4);
  expect(
    fields.map(({ path, types, nullShare, missingShare }) => [path, types.join('|'), nullShare, missingShare]),
  ).toEqual([
    ['id', 'integer|text', 0, 0],
    ['price', 'number|integer', 0, 0.5],
    ['at', 'date-time', 0.25, 0.5],
    ['brand', 'object', 0.25, 0],
    ['brand.name', 'text', 1 / 3, 0],
    ['tags', 'array', 0, 0.5],
    ['tags[]', 'text', 0.5, 0],
    ['items', 'array', 0, 0.5],
    ['items[].n', 'integer', 0, 0],
    ['items[].m', 'boolean', 0, 0.5],
    ['brand.url', 'text', 0, expect.closeTo(2 / 3, 10)],
  ]);
});

test('looks at the first 10,000 records and reads no further', async () => {
  let pulled = 0;
  const rows = async function* () {
    for (;;) {
      pulled++;
      yield Array.from({ length: 3_000 }, () => ({ json: '{"a":1}' }));
    }
  };
  expect(await profileDataset({ name: 'x', count: 1_000_000 }, rows())).toMatchObject({
    sampled: 10_000,
    count: 1_000_000,
  });
  expect(pulled).toBe(4);
});

test('objects with ids for keys are cut at 200 fields', async () => {
  const { fields, moreFields } = await profileOf(Array.from({ length: 500 }, (_, id) => ({ [`id${id}`]: 1 })));
  expect([fields.length, moreFields]).toEqual([200, 300]);
});

test('records that are no objects are a field "value"', async () => {
  expect((await profileOf([1, null])).fields).toEqual([
    { path: 'value', types: ['integer'], nullShare: 0.5, missingShare: 0, places: 2 },
  ]);
});

test('documents within documents end somewhere', async () => {
  let deep: unknown = 1;
  for (let level = 0; level < 1000; level++) deep = { a: deep };
  expect((await profileOf([deep])).fields.length).toBeLessThan(10);
});
