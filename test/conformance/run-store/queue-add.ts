import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CreateRun,
  claimAll,
  claimOne,
  commitOne,
  failed,
  request,
  requests,
  unit,
  urlsOf,
  useBench,
} from './harness.ts';

export function describeAdding(createRun: CreateRun): void {
  describe('adding', () => {
    const bench = useBench(createRun);

    test('says for each request, in order, whether it was there already', async () => {
      const { queue } = bench().store;
      await queue.add([request('a.example', 2)]);
      const results = await queue.add([request('a.example', 1), request('a.example', 2), request('a.example', 1)]);
      expect(results.map((result) => result.wasAlreadyPresent)).toEqual([false, true, true]);
    });

    test('gives the id Crawlee gives', async () => {
      const [result] = await bench().store.queue.add([request('a.example', 1, { uniqueKey: 'https://example.com/' })]);
      // printf %s https://example.com/ | sha256sum | xxd -r -p | base64 | tr -d +/= | cut -c 1-15
      expect(result!.id).toBe('DxFdsGK3wN0DCxa');
    });

    test('tells handled from waiting', async () => {
      const { store } = bench();
      await store.queue.add([request('a.example', 1), request('a.example', 2)]);
      await commitOne(store, unit(await claimOne(store)));
      const results = await store.queue.add([request('a.example', 1), request('a.example', 2)]);
      expect(results.map((result) => result.wasAlreadyHandled)).toEqual([true, false]);
    });

    test('keeps all of a request, and the same URL under two unique keys', async () => {
      const { store } = bench();
      const url = 'https://a.example/x';
      const full = {
        uniqueKey: 'POST||x',
        url,
        host: 'a.example',
        method: 'POST',
        label: 'l',
        data: '{"payload":"p"}',
      };
      const plain = { uniqueKey: url, url, host: 'a.example', method: 'GET', label: null, data: null };
      await store.queue.add([full, plain]);
      const [first, second] = await claimAll(store);
      expect(first).toMatchObject(full);
      expect(second).toMatchObject(plain);
      expect(first).toMatchObject({ claims: 1, patch: null, addedAtMs: bench().clock.wallMs() });
      expect(await store.queue.get('POST||x')).toEqual({ ...full, id: first!.id, handledAtMs: null, patch: null });
      expect(await store.queue.get('unknown')).toBeNull();
    });

    test('takes more requests at once than one transaction holds', async () => {
      const { store } = bench();
      const many = requests('a.example', 3_500);
      const results = await store.queue.add([...many, ...many]);
      expect(results.filter((result) => result.wasAlreadyPresent)).toHaveLength(3_500);
      expect(await store.queue.counts()).toMatchObject({ total: 3_500, pending: 3_500 });
    });

    test('tells keys apart that differ only in digits, order or signs', async () => {
      const key = fc.string({
        unit: fc.constantFrom('0', '1', '2', '9', 'a', '/', '#', '?', 'é', '😀'),
        maxLength: 24,
      });
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(key, { maxLength: 50 }), async (keys) => {
          const prefix = `${Math.random()}|`;
          const all = keys.map((text) => request('a.example', 1, { uniqueKey: prefix + text }));
          const first = await bench().store.queue.add(all);
          const second = await bench().store.queue.add(all.toReversed());
          return first.every((r) => !r.wasAlreadyPresent) && second.every((r) => r.wasAlreadyPresent);
        }),
        { numRuns: 30 },
      );
    });

    test('puts forefront requests first, the latest of them at the very front', async () => {
      const { store, clock } = bench();
      await store.queue.add([request('a.example', 'ordinary')]);
      await store.queue.add([request('a.example', 'front')], { forefront: true });
      await clock.advance(1);
      await store.queue.add([request('a.example', 'later-front')], { forefront: true });
      expect(urlsOf(await claimAll(store))).toEqual([
        'https://a.example/later-front',
        'https://a.example/front',
        'https://a.example/ordinary',
      ]);
    });

    test('puts single requests first that say so, among others and among follow-ups', async () => {
      const { store, clock } = bench();
      const front = (path: string) => request('a.example', path, { forefront: true });
      await store.queue.add([request('a.example', 1), front('f1'), request('a.example', 2)]);
      const first = await claimOne(store);
      expect(first.url).toBe('https://a.example/f1');
      await clock.advance(1);
      const follow = [request('a.example', 3), front('f2'), front('f3'), request('a.example', 4)];
      expect(await commitOne(store, unit(first, { requests: follow }))).toEqual({ status: 'committed', added: 4 });
      expect(urlsOf(await claimAll(store))).toEqual(
        ['f2', 'f3', '1', '2', '3', '4'].map((path) => `https://a.example/${path}`),
      );
    });

    test('outlives its process', async () => {
      await bench().store.queue.add(requests('a.example', 3));
      await commitOne(bench().store, unit(await claimOne(bench().store), { outcome: failed('HTTP_404') }));
      await bench().reopen();
      const { queue } = bench().store;
      expect(await queue.counts()).toEqual({ total: 3, succeeded: 0, failed: 1, skipped: 0, pending: 2 });
      expect(await claimAll(bench().store)).toHaveLength(2);
    });
  });
}
