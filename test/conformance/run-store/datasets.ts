import { describe, expect, test } from 'vitest';
import { type CreateRun, rowsOf, useBench } from './harness.ts';

export function describeDatasets(createRun: CreateRun): void {
  describe('datasets', () => {
    const bench = useBench(createRun);

    test('begin empty', async () => {
      const { datasets } = bench().store;
      expect(await datasets.list()).toEqual([]);
      expect(await datasets.page('none', { afterSeq: 0, limit: 10 })).toEqual([]);
      expect(await datasets.columns('none')).toEqual([]);
      await datasets.drop('none');
    });

    test('return rows in the order they came, page by page', async () => {
      const { datasets } = bench().store;
      const jsons = Array.from({ length: 25 }, (_, i) => JSON.stringify({ i, text: 'é😀"\\' }));
      await datasets.push('default', jsons.slice(0, 10));
      await datasets.push('other', ['{}']);
      await datasets.push('default', jsons.slice(10));
      const seen: string[] = [];
      for (let afterSeq = 0; ; ) {
        const page = await datasets.page('default', { afterSeq, limit: 7 });
        if (page.length === 0) break;
        seen.push(...page.map(({ json }) => json));
        afterSeq = page.at(-1)!.seq;
      }
      expect(seen).toEqual(jsons);
    });

    test('are listed with their counts, in the order they began', async () => {
      const { datasets } = bench().store;
      await datasets.push('b', ['1', '2']);
      await datasets.push('a', ['3']);
      await datasets.push('b', ['4']);
      expect(await datasets.list()).toEqual([
        { name: 'b', count: 3 },
        { name: 'a', count: 1 },
      ]);
    });

    test('keep any text of a record, digits and all', async () => {
      const json = '{"id":123456789012345678901234567890,"a":1e400,"n":null}';
      await bench().store.datasets.push('default', [json]);
      expect(await rowsOf(bench().store, 'default')).toEqual([json]);
    });

    test('keep column paths in first-seen order', async () => {
      const { datasets } = bench().store;
      await datasets.addColumns('default', ['id', 'price.amount']);
      await datasets.addColumns('default', ['name', 'id']);
      await datasets.addColumns('default', []);
      expect(await datasets.columns('default')).toEqual(['id', 'price.amount', 'name']);
    });

    test('are gone when dropped, and can begin again', async () => {
      const { store } = bench();
      await store.datasets.push('default', ['1']);
      await store.datasets.addColumns('default', ['x']);
      await rowsOf(store, 'default');
      await store.datasets.drop('default');
      expect(await store.datasets.list()).toEqual([]);
      expect(await rowsOf(store, 'default')).toEqual([]);
      await store.datasets.push('default', ['2']);
      expect(await rowsOf(store, 'default')).toEqual(['2']);
      expect(await store.datasets.columns('default')).toEqual([]);
    });

    test('outlive their process', async () => {
      await bench().store.datasets.push('default', ['1', '2']);
      await bench().reopen();
      await bench().store.datasets.push('default', ['3']);
      expect(await rowsOf(bench().store, 'default')).toEqual(['1', '2', '3']);
    });

    test('take rows of two workers without losing one', async () => {
      const other = await bench().open('join');
      const push = (store: typeof other, from: number) =>
        Promise.all(Array.from({ length: 20 }, (_, i) => store.datasets.push('default', [String(from + i)])));
      await Promise.all([push(bench().store, 0), push(other, 20)]);
      expect((await rowsOf(bench().store, 'default')).map(Number).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 40 }, (_, i) => i),
      );
    });
  });
}
