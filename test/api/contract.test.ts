import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jsonSchemaCheck, zodCheck } from '../../src/api/record-check.ts';
import type { ApiDocument } from '../../src/config/api-schema.ts';
import { playCrawl } from './play-crawl.ts';

const schema = {
  type: 'object',
  required: ['id'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer' },
    price: { type: 'number' },
    at: { type: 'string', format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' } },
    maker: { type: 'object', properties: { name: { type: 'string' } } },
  },
};
const good = { id: 1, price: 1.5, at: '2024-01-01T00:00:00Z', tags: ['a'], maker: { name: 'x' } };
const bad = { id: 2, price: '1.5', extra: true, tags: ['a', 3], maker: { name: 4 } };

function api(resource: object): ApiDocument {
  return {
    baseUrl: 'https://api.test',
    resources: [{ name: 'items', schema, endpoint: { path: '/items' }, ...resource }],
  };
}
const answer = () => ({ body: [good, bad] });

describe('a contract', () => {
  test('quarantine is the default: the record goes to invalid, with what is wrong', async () => {
    const played = await playCrawl(api({}), { answer });
    expect(played.records.items).toEqual([good]);
    expect(played.invalid).toEqual([
      {
        label: 'items',
        record: bad,
        issues: [
          'extra: must NOT have additional properties',
          'price: must be number',
          'tags.1: must be string',
          'maker.name: must be string',
        ],
      },
    ]);
  });

  test('evolve keeps it, and counts', async () => {
    const played = await playCrawl(api({ schemaContract: 'evolve' }), { answer });
    expect(played.records.items).toEqual([good, bad]);
    expect(played.finished[0]!.records).toEqual({ outside: 0, discarded: 0, drifted: 1 });
  });

  test('discardRow drops it, and counts', async () => {
    const played = await playCrawl(api({ schemaContract: 'discardRow' }), { answer });
    expect(played.records.items).toEqual([good]);
    expect(played.finished[0]!.records).toEqual({ outside: 0, discarded: 1, drifted: 0 });
  });

  test('discardValue drops what does not fit', async () => {
    const played = await playCrawl(api({ schemaContract: 'discardValue' }), { answer });
    expect(played.records.items).toEqual([good, { id: 2, tags: ['a', null], maker: {} }]);
    expect(played.finished[0]!.records.drifted).toBe(1);
  });

  test('freeze fails the request', async () => {
    const played = await playCrawl(api({ schemaContract: 'freeze' }), { answer });
    expect(played.records.items).toBeUndefined();
    expect(played.failures).toEqual([
      {
        url: 'https://api.test/items',
        label: 'items',
        code: 'SCHEMA_FROZEN',
        message: 'A record does not fit its schema: extra must NOT have additional properties',
      },
    ]);
  });

  test('holds by a schema file next to the input document', async () => {
    const played = await playCrawl(api({ schema: './fixtures/item.schema.json' }), { answer });
    expect(played.records.items).toEqual([good]);
  });

  test('holds by a zod schema, for those who write TypeScript', async () => {
    const items = z.strictObject({
      id: z.number(),
      price: z.number(),
      at: z.string(),
      tags: z.array(z.string()),
      maker: z.object({}),
    });
    const played = await playCrawl(api({ schemaContract: 'discardValue' }), { answer, schemas: { items } });
    expect(played.records.items).toEqual([good, { id: 2, tags: ['a', null], maker: { name: 4 } }]);
  });
});

describe('checking a record', () => {
  test('takes exact numbers for numbers', () => {
    const check = jsonSchemaCheck(schema);
    expect(check({ id: 9007199254740993n, price: 1.5 })).toEqual([]);
    expect(check({ id: '9007199254740993' })).toEqual([{ path: ['id'], message: 'must be integer' }]);
  });

  test('names a field that is missing', () => {
    expect(jsonSchemaCheck(schema)({})).toEqual([{ path: ['id'], message: "must have required property 'id'" }]);
  });

  test('follows the dialect that $schema names', () => {
    const tuple = (dialect: string, keyword: string) =>
      jsonSchemaCheck({ $schema: dialect, properties: { t: { [keyword]: [{ type: 'string' }] } } });
    expect(tuple('http://json-schema.org/draft-07/schema#', 'items')({ t: [1] })).toHaveLength(1);
    expect(tuple('https://json-schema.org/draft/2020-12/schema', 'prefixItems')({ t: [1] })).toHaveLength(1);
  });

  test('refuses a schema that is none', () => {
    expect(() => jsonSchemaCheck({ type: 'strin' })).toThrow('schema is invalid');
  });

  test('by zod names keys that are not in it', () => {
    const check = zodCheck(z.strictObject({ a: z.strictObject({}) }));
    expect(check({ a: { b: 1 } })).toEqual([{ path: ['a', 'b'], message: 'is not in the schema' }]);
  });
});
