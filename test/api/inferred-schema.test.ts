import { describe, expect, test } from 'vitest';
import { driftBetween, inferSchema, SchemaInference } from '../../src/api/inferred-schema.ts';

function infer(records: unknown[]) {
  const inference = new SchemaInference();
  for (const record of records) inference.add(record);
  return inference.result();
}

describe('the schema of a dataset', () => {
  test('has every field with its types, the most frequent first, and how often it is null or missing', () => {
    const records = [
      { id: 1, name: 'a', price: 1, maker: { name: 'x', country: null }, tags: ['a', null] },
      { id: 2, name: null, price: 1.5, maker: { name: 'y' }, tags: [] },
      { id: 3n, price: 2.5, maker: null, tags: [{ k: 1 }] },
      { id: 'x4', name: 'd', price: 3.5 },
    ];
    expect(infer(records)).toEqual({
      records: 4,
      fields: {
        id: { types: ['integer', 'string'], nullShare: 0 },
        name: { types: ['string'], nullShare: 0.5 },
        price: { types: ['number', 'integer'], nullShare: 0 },
        maker: { types: ['object'], nullShare: 0.5 },
        'maker.name': { types: ['string'], nullShare: 0 },
        'maker.country': { types: [], nullShare: 1 },
        tags: { types: ['array'], nullShare: 0.25 },
        'tags[]': { types: ['string', 'object'], nullShare: expect.closeTo(1 / 3) },
        'tags[].k': { types: ['integer'], nullShare: 0 },
      },
      otherFields: 0,
    });
  });

  test('is learned from a stream', async () => {
    async function* records() {
      yield { a: 1 };
      yield { a: null };
    }
    expect(await inferSchema(records())).toEqual({
      records: 2,
      fields: { a: { types: ['integer'], nullShare: 0.5 } },
      otherFields: 0,
    });
  });

  test('stays bounded where keys are data', () => {
    const inference = new SchemaInference();
    for (let id = 0; id < 5000; id++) inference.add({ [`key-${id}`]: id });
    const { fields, otherFields } = inference.result();
    expect(Object.keys(fields)).toHaveLength(1000);
    expect(otherFields).toBe(1000);
  });

  test('of documents within documents ends somewhere', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 1000; level++) deep = { a: deep };
    expect(Object.keys(infer([deep]).fields).length).toBeLessThan(12);
  });
});

describe('drift', () => {
  const before = infer([{ id: 1, a: 1, b: 'x', c: 1, d: 1 }]);

  test.each([
    [{ id: 1, a: 1, b: 'x', c: 1, d: 1 }, []],
    [{ id: 1, a: 1, b: 'x', c: 1.5, d: 1 }, []],
    [{ id: 1, b: 'x', c: 1, d: 1 }, [{ field: 'a', change: 'removed', before: 'integer', after: null }]],
    [{ id: 1, a: 1, b: 2, c: 1, d: 1 }, [{ field: 'b', change: 'type', before: 'string', after: 'integer' }]],
    [{ id: 1, a: 1, b: 'x', c: 1, d: null }, [{ field: 'd', change: 'nulls', before: '0 %', after: '100 %' }]],
    [{ id: 1, a: 1, b: 'x', c: 1, d: 1, e: true }, [{ field: 'e', change: 'added', before: null, after: 'boolean' }]],
  ])('to %j is %j', (record, expected) => {
    expect(driftBetween(before, infer([record]))).toEqual(expected);
  });
});
