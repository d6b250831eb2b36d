import type { DatasetClient } from '@crawlee/types';
import { describe, expect, test } from 'vitest';
import { type CreateStorages, collect, type Quirks, useStorages } from './harness.ts';

export function describeDatasetClient(create: CreateStorages, quirks: Quirks): void {
  describe('datasets', () => {
    const storages = useStorages(create);

    async function openDataset(name = 'd'): Promise<DatasetClient> {
      const { id } = await storages().client.datasets().getOrCreate(name);
      return storages().client.dataset(id);
    }

    test('are created once by name, whatever its case, and found by id and name', async () => {
      const { client } = storages();
      const created = await client.datasets().getOrCreate('Products');
      expect((await client.datasets().getOrCreate('products')).id).toBe(created.id);
      expect(await client.dataset(created.id).get()).toMatchObject({ id: created.id, name: 'Products', itemCount: 0 });
      expect((await client.dataset('PRODUCTS').get())?.id).toBe(created.id);
      expect(await client.dataset('other').get()).toBeUndefined();
    });

    test('without a name are new each time', async () => {
      const { client } = storages();
      const first = await client.datasets().getOrCreate();
      const second = await client.datasets().getOrCreate();
      expect(first.id).not.toBe(second.id);
      expect(first.name).toBeUndefined();
    });

    test('are listed, oldest first', async () => {
      const { client } = storages();
      await openDataset('b');
      await openDataset('a');
      const list = await client.datasets().list();
      expect(list.items.map(({ name }) => name)).toEqual(['b', 'a']);
      expect(list).toMatchObject({ total: 2, count: 2, offset: 0 });
    });

    test('take an object, a list, JSON text, and a list of JSON texts', async () => {
      const dataset = await openDataset();
      await dataset.pushItems({ a: 1 });
      await dataset.pushItems([{ a: 2 }, { a: 3 }]);
      await dataset.pushItems('[{"a":4},{"a":5}]');
      await dataset.pushItems(['{"a":6}', '{"a":7}']);
      const { items, total, count } = await dataset.listItems();
      expect(items).toEqual([1, 2, 3, 4, 5, 6, 7].map((a) => ({ a })));
      expect([total, count]).toEqual([7, 7]);
      expect(await dataset.get()).toMatchObject({ itemCount: 7 });
    });

    test('refuse what is not an object, and then take nothing', async () => {
      const dataset = await openDataset();
      await expect(dataset.pushItems('[[1]]')).rejects.toThrow('single JSON object');
      await expect(dataset.pushItems('[{"a":1},5]')).rejects.toThrow('must be a JSON object');
      expect((await dataset.listItems()).total).toBe(0);
    });

    test('are paged by offset and limit, both ways', async () => {
      const dataset = await openDataset();
      await dataset.pushItems(Array.from({ length: 10 }, (_, n) => ({ n })));
      const page = async (options: object) => {
        const { items } = await dataset.listItems(options);
        return items.map(({ n }) => n);
      };
      expect(await page({ offset: 2, limit: 3 })).toEqual([2, 3, 4]);
      expect(await page({ offset: 5, limit: 3 })).toEqual([5, 6, 7]);
      expect(await page({ offset: 8 })).toEqual([8, 9]);
      expect(await page({ offset: 20 })).toEqual([]);
      expect(await page({ desc: true, limit: 2 })).toEqual([9, 8]);
      expect(await page({ desc: true, offset: 2, limit: 2 })).toEqual([7, 6]);
      expect(await dataset.listItems({ offset: 1, limit: 4, desc: true })).toMatchObject({
        offset: 1,
        limit: 4,
        count: 4,
        total: 10,
        desc: true,
      });
    });

    test('see what was pushed between two pages', async () => {
      const dataset = await openDataset();
      await dataset.pushItems([{ n: 0 }, { n: 1 }]);
      await dataset.listItems({ offset: 0, limit: 2 });
      await dataset.pushItems([{ n: 2 }]);
      expect((await dataset.listItems({ offset: 2, limit: 2 })).items).toEqual([{ n: 2 }]);
      expect((await dataset.listItems({ offset: 1, limit: 2 })).items).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test('are iterated whole, as items and as entries', async () => {
      const dataset = await openDataset();
      await dataset.pushItems([{ n: 0 }, { n: 1 }, { n: 2 }]);
      expect(await collect(dataset.listItems())).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
      expect(await collect(dataset.listItems({ offset: 1, limit: 1 }))).toEqual([{ n: 1 }]);
      expect(await collect(dataset.listEntries!({ offset: 1 }))).toEqual([
        [1, { n: 1 }],
        [2, { n: 2 }],
      ]);
      expect((await dataset.listEntries!({ offset: 1 })).items[0]).toEqual([1, { n: 1 }]);
    });

    test.runIf(quirks.renames)('are renamed, but not to a name that is taken', async () => {
      const dataset = await openDataset('old');
      await openDataset('Taken');
      expect(await dataset.update({ name: 'new' })).toMatchObject({ name: 'new' });
      await expect(dataset.update({ name: 'taken' })).rejects.toThrow('already exists');
      expect((await storages().client.datasets().getOrCreate('new')).id).toBe((await dataset.get())!.id);
    });

    test('are gone when deleted, and say so', async () => {
      const dataset = await openDataset();
      await dataset.pushItems({ a: 1 });
      await dataset.delete();
      await dataset.delete();
      expect(await dataset.get()).toBeUndefined();
      await expect(dataset.pushItems({ a: 1 })).rejects.toThrow('does not exist');
      await expect(dataset.listItems()).rejects.toThrow('does not exist');
      await expect(dataset.update({ name: 'x' })).rejects.toThrow('does not exist');
      const again = await openDataset();
      expect((await again.listItems()).total).toBe(0);
    });

    test.runIf(quirks.downloads)('are downloaded as JSON or JSON lines', async () => {
      const dataset = await openDataset();
      await dataset.pushItems([{ a: 1 }, { a: 'é' }]);
      expect(JSON.parse(String(await dataset.downloadItems('json')))).toEqual([{ a: 1 }, { a: 'é' }]);
      expect(String(await dataset.downloadItems('jsonl'))).toBe('{"a":1}\n{"a":"é"}\n');
      await expect(dataset.downloadItems('xlsx')).rejects.toThrow('json or jsonl');
    });

    test('outlive their process', async () => {
      const dataset = await openDataset('kept');
      await dataset.pushItems([{ a: 1 }, { a: 2 }]);
      const { reopen } = storages();
      if (!reopen) return;
      const client = await reopen();
      expect((await client.dataset('kept').listItems()).items).toEqual([{ a: 1 }, { a: 2 }]);
    });
  });
}
