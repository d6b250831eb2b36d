import { describe, expect, test } from 'vitest';
import { type CreateRun, claimOne, commitOne, request, requests, rowsOf, unit, useBench } from './harness.ts';

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

    test("have rows replaced, with requests and values, at once; what takes their place is their request's", async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 1));
      const records = ['1', '2', '3'].map((json) => ({ dataset: 'invalid', json }));
      await commitOne(store, unit(await claimOne(store), { records: [...records, { dataset: 'kept', json: '0' }] }));
      const rows = await store.datasets.page('invalid', { afterSeq: 0, limit: 10 });
      const [first, second] = rows.map(({ seq }) => seq) as [number, number, number];
      const replacements = [
        { seq: first, records: [{ dataset: 'kept', json: '10' }], requests: [], values: [] },
        {
          seq: second,
          records: [
            { dataset: 'invalid', json: '20' },
            { dataset: 'new', json: '21' },
          ],
          requests: [request('a.example', 0), request('b.example', 'more')],
          values: [{ key: 'seen', json: 'true' }],
        },
      ];
      const columns = [{ dataset: 'new', path: 'x' }];
      expect(await store.datasets.replace('invalid', replacements, columns)).toEqual({ replaced: 2, added: 1 });
      expect(await rowsOf(store, 'invalid')).toEqual(['3', '20']);
      expect(await rowsOf(store, 'kept')).toEqual(['0', '10']);
      expect(await store.datasets.columns('new')).toEqual(['x']);
      expect(await store.values.get('seen')).toBe(true);
      expect(await store.datasets.list()).toEqual([
        { name: 'invalid', count: 2 },
        { name: 'kept', count: 2 },
        { name: 'new', count: 1 },
      ]);
      expect(await store.queue.counts()).toMatchObject({ total: 2, pending: 1 });
      expect(await store.datasets.replace('invalid', replacements, columns)).toEqual({ replaced: 0, added: 0 });
      expect(await rowsOf(store, 'kept')).toEqual(['0', '10']);
      // Handled anew, the request replaces those rows as it would have replaced the first ones.
      await commitOne(store, unit(await claimOne(store), { records: [{ dataset: 'kept', json: 'b' }] }));
      expect(await store.queue.requeue({ result: 'succeeded', hosts: ['a.example'] })).toBe(1);
      await commitOne(store, unit(await claimOne(store), { records: [{ dataset: 'kept', json: 'a' }] }));
      expect(await rowsOf(store, 'invalid')).toEqual([]);
      expect(await rowsOf(store, 'new')).toEqual([]);
      expect(await rowsOf(store, 'kept')).toEqual(['b', 'a']);
    });

    test('know the request that a row came from', async () => {
      const { store } = bench();
      const data = '{"userData":{"n":1}}';
      await store.queue.add([request('a.example', 1, { uniqueKey: 'own', label: 'items', data })]);
      await commitOne(store, unit(await claimOne(store), { records: [{ dataset: 'default', json: '1' }] }));
      await store.datasets.push('default', ['2']);
      const [first, second] = await store.datasets.page('default', { afterSeq: 0, limit: 10 });
      expect(await store.datasets.requestOf('default', first!.seq)).toMatchObject({
        uniqueKey: 'own',
        url: 'https://a.example/1',
        label: 'items',
        data,
      });
      expect(await store.datasets.requestOf('default', second!.seq)).toBeNull();
      expect(await store.datasets.requestOf('default', 99)).toBeNull();
      expect(await store.datasets.requestOf('none', 1)).toBeNull();
    });

    test('replace nothing of a dataset that is not there', async () => {
      const { store } = bench();
      const replacement = { seq: 1, records: [{ dataset: 'x', json: '1' }], requests: [], values: [] };
      expect(await store.datasets.replace('none', [replacement], [])).toEqual({ replaced: 0, added: 0 });
      expect(await store.datasets.list()).toEqual([]);
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
