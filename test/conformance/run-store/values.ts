import { describe, expect, test } from 'vitest';
import { type CreateRun, useBench } from './harness.ts';

export function describeValues(createRun: CreateRun): void {
  describe('values', () => {
    const bench = useBench(createRun);

    test('are read as they were set', async () => {
      const { values } = bench().store;
      await values.set('object', { a: [1, 'é', null] });
      await values.set('text', 'x');
      await values.set('text', 'y');
      expect(await values.get('object')).toEqual({ a: [1, 'é', null] });
      expect(await values.get('text')).toBe('y');
      expect(await values.get('missing')).toBeNull();
    });

    test('are gone when deleted', async () => {
      const { values } = bench().store;
      await values.set('k', 1);
      await values.delete('k');
      await values.delete('k');
      expect(await values.get('k')).toBeNull();
    });

    test('are listed by prefix, in key order, whatever signs the prefix has', async () => {
      const { values } = bench().store;
      for (const key of ['etag:b', 'etag:a', 'etag', 'etagz', 'x%_:1', 'x%_:2', 'xyz:3']) await values.set(key, key);
      expect(await values.entries('etag:')).toEqual([
        ['etag:a', 'etag:a'],
        ['etag:b', 'etag:b'],
      ]);
      expect((await values.entries('x%_:')).map(([key]) => key)).toEqual(['x%_:1', 'x%_:2']);
      expect(await values.entries('')).toHaveLength(7);
    });

    test('refuse what JSON cannot say', async () => {
      await expect(bench().store.values.set('k', undefined)).rejects.toThrow(TypeError);
    });

    test('outlive their process', async () => {
      await bench().store.values.set('k', { n: 1 });
      await bench().reopen();
      expect(await bench().store.values.get('k')).toEqual({ n: 1 });
    });
  });
}
