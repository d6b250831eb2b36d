import { Readable } from 'node:stream';
import type { KeyValueStoreClient } from '@crawlee/types';
import { describe, expect, test } from 'vitest';
import { type CreateStorages, collect, type Quirks, useStorages } from './harness.ts';

export function describeKeyValueStoreClient(create: CreateStorages, quirks: Quirks): void {
  describe('key-value stores', () => {
    const storages = useStorages(create);

    async function openStore(name = 's'): Promise<KeyValueStoreClient> {
      const { id } = await storages().client.keyValueStores().getOrCreate(name);
      return storages().client.keyValueStore(id);
    }

    test('are created, found, listed and deleted', async () => {
      const { client } = storages();
      const store = await openStore('one');
      await openStore('two');
      expect((await client.keyValueStores().list()).items.map(({ name }) => name)).toEqual(['one', 'two']);
      expect(await store.get()).toMatchObject({ name: 'one' });
      await store.delete();
      await store.delete();
      expect(await store.get()).toBeUndefined();
      await expect(store.setRecord({ key: 'k', value: 1 })).rejects.toThrow('does not exist');
      await expect(store.getRecord('k')).rejects.toThrow('does not exist');
    });

    test.runIf(quirks.renames)('are renamed, but not to a name that is taken', async () => {
      const store = await openStore('one');
      await openStore('two');
      await expect(store.update({ name: 'TWO' })).rejects.toThrow('already exists');
      expect(await store.update({ name: 'three' })).toMatchObject({ name: 'three' });
      expect(await storages().client.keyValueStore('one').get()).toBeUndefined();
    });

    test('give back what was set, with its content type', async () => {
      const store = await openStore();
      await store.setRecord({ key: 'json', value: { a: [1, null] } });
      await store.setRecord({ key: 'text', value: 'é' });
      await store.setRecord({ key: 'bytes', value: Buffer.from([0, 255]) });
      await store.setRecord({ key: 'html', value: '<p>', contentType: 'text/html' });
      await store.setRecord({ key: 'null', value: null });
      await store.setRecord({ key: 'number', value: 5 });
      await store.setRecord({ key: 'ready-json', value: '{"b":2}', contentType: 'application/json; charset=utf-8' });
      expect(await store.getRecord('json')).toEqual({
        key: 'json',
        value: { a: [1, null] },
        contentType: 'application/json; charset=utf-8',
      });
      expect(await store.getRecord('text')).toMatchObject({ value: 'é', contentType: 'text/plain; charset=utf-8' });
      expect(await store.getRecord('bytes')).toMatchObject({ contentType: 'application/octet-stream' });
      expect([...(await store.getRecord('bytes'))!.value]).toEqual([0, 255]);
      expect(await store.getRecord('html')).toMatchObject({ value: '<p>', contentType: 'text/html' });
      expect((await store.getRecord('null'))!.value).toBeNull();
      expect((await store.getRecord('number'))!.value).toBe(5);
      expect((await store.getRecord('ready-json'))!.value).toEqual({ b: 2 });
      expect(await store.getRecord('missing')).toBeUndefined();
    });

    test('take typed arrays, array buffers and streams', async () => {
      const store = await openStore();
      await store.setRecord({ key: 'view', value: new Uint8Array([1, 2, 3]).subarray(1) });
      await store.setRecord({ key: 'stream', value: Readable.from([Buffer.from('ab'), Buffer.from('c')]) });
      expect([...(await store.getRecord('view', { buffer: true }))!.value]).toEqual([2, 3]);
      expect(String((await store.getRecord('stream', { buffer: true }))!.value)).toBe('abc');
    });

    test('give a record as a buffer or a stream when asked', async () => {
      const store = await openStore();
      await store.setRecord({ key: 'k', value: { a: 1 } });
      const { value: buffer } = (await store.getRecord('k', { buffer: true }))!;
      expect(Buffer.isBuffer(buffer)).toBe(true);
      expect(JSON.parse(String(buffer))).toEqual({ a: 1 });
      const { value: stream } = (await store.getRecord('k', { stream: true }))!;
      expect(JSON.parse((await collect(stream as Readable)).join(''))).toEqual({ a: 1 });
    });

    test('replace and delete records, and know which exist', async () => {
      const store = await openStore();
      await store.setRecord({ key: 'k', value: 'text' });
      await store.setRecord({ key: 'k', value: { now: 'json' } });
      expect((await store.getRecord('k'))!.value).toEqual({ now: 'json' });
      expect(await store.recordExists('k')).toBe(true);
      await store.deleteRecord('k');
      await store.deleteRecord('k');
      expect(await store.recordExists('k')).toBe(false);
      expect(await store.getRecord('k')).toBeUndefined();
    });

    test('refuse a value that has no JSON', async () => {
      const store = await openStore();
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      await expect(store.setRecord({ key: 'k', value: circular })).rejects.toThrow('cannot be stringified');
      expect(await store.recordExists('k')).toBe(false);
    });

    test('list keys in order with sizes in bytes, page by page, by prefix', async () => {
      const store = await openStore();
      for (const key of ['b2', 'a', 'b1', 'b3']) await store.setRecord({ key, value: `é${key}` });
      const first = await store.listKeys({ limit: 3 });
      expect(first).toMatchObject({ count: 3, limit: 3, isTruncated: true, nextExclusiveStartKey: 'b2' });
      expect(first.items).toEqual([
        { key: 'a', size: 3 },
        { key: 'b1', size: 4 },
        { key: 'b2', size: 4 },
      ]);
      const second = await store.listKeys({ limit: 3, exclusiveStartKey: 'b2' });
      expect(second).toMatchObject({ count: 1, isTruncated: false, exclusiveStartKey: 'b2' });
      expect(second.nextExclusiveStartKey).toBeUndefined();
      const byPrefix = await store.listKeys({ prefix: 'b', limit: 2 });
      expect(byPrefix.items.map(({ key }) => key)).toEqual(['b1', 'b2']);
      expect(byPrefix.isTruncated).toBe(true);
    });

    test.runIf(quirks.startsAfterMissingKey)('list keys after one that is not there any more', async () => {
      const store = await openStore();
      for (const key of ['a', 'c']) await store.setRecord({ key, value: 1 });
      expect((await store.listKeys({ exclusiveStartKey: 'b' })).items.map(({ key }) => key)).toEqual(['c']);
    });

    test('are iterated as keys, values and entries, beyond one page', async () => {
      const store = await openStore();
      for (let i = 0; i < 5; i++) await store.setRecord({ key: `k${i}`, value: i });
      expect((await store.keys!({ limit: 2 })).items).toHaveLength(2);
      expect(await collect(store.keys!())).toEqual(['k0', 'k1', 'k2', 'k3', 'k4']);
      expect(await collect(store.keys!({ exclusiveStartKey: 'k2' }))).toEqual(['k3', 'k4']);
      expect(await store.values!({ limit: 2 })).toEqual([0, 1]);
      expect(await collect(store.values!())).toEqual([0, 1, 2, 3, 4]);
      expect((await store.entries!()).at(-1)).toEqual(['k4', 4]);
      expect(await collect(store.entries!({ prefix: 'k4' }))).toEqual([['k4', 4]]);
    });

    test('page through more keys than one page holds', async () => {
      const store = await openStore();
      for (let i = 0; i < 1_005; i++) await store.setRecord({ key: `k${String(i).padStart(4, '0')}`, value: i });
      expect((await store.listKeys()).items).toHaveLength(1_000);
      expect(await collect(store.listKeys() as AsyncIterable<unknown>)).toHaveLength(1_005);
      expect(await collect(store.values!())).toHaveLength(1_005);
    });

    test('outlive their process', async () => {
      const store = await openStore('kept');
      await store.setRecord({ key: 'k', value: { a: 1 } });
      const { reopen } = storages();
      if (!reopen) return;
      expect((await (await reopen()).keyValueStore('kept').getRecord('k'))!.value).toEqual({ a: 1 });
    });
  });
}
