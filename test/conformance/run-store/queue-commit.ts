import { describe, expect, test } from 'vitest';
import type { HandledPage, RequeueSelection } from '../../../src/storage/store.ts';
import {
  type CreateRun,
  claimAll,
  claimOne,
  commitOne,
  failed,
  LEASE_MS,
  request,
  requests,
  retry,
  rowsOf,
  unit,
  urlsOf,
  useBench,
} from './harness.ts';

export function describeCommitting(createRun: CreateRun): void {
  describe('committing', () => {
    const bench = useBench(createRun);

    test('writes records, follow-ups, values and columns with the acknowledgement', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 1));
      const result = await commitOne(
        store,
        unit(await claimOne(store), {
          records: [
            { dataset: 'default', json: '{"a":1}' },
            { dataset: 'other', json: '{"b":2}' },
          ],
          requests: [request('a.example', 0), request('b.example', 1)],
          values: [{ key: 'state', json: '{"n":1}' }],
          columns: [{ dataset: 'default', path: 'a' }],
        }),
      );
      expect(result).toEqual({ status: 'committed', added: 1 });
      expect(await rowsOf(store, 'default')).toEqual(['{"a":1}']);
      expect(await rowsOf(store, 'other')).toEqual(['{"b":2}']);
      expect(await store.values.get('state')).toEqual({ n: 1 });
      expect(await store.datasets.columns('default')).toEqual(['a']);
      expect(urlsOf(await claimAll(store))).toEqual(['https://b.example/1']);
    });

    test('writes a batch of units as one', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 300));
      const leased = await claimAll(store);
      const units = leased.map((one) =>
        unit(one, { records: [{ dataset: 'default', json: JSON.stringify(one.url) }] }),
      );
      const results = await store.queue.commit(units);
      expect(results.every(({ status }) => status === 'committed')).toBe(true);
      expect(await rowsOf(store, 'default')).toEqual(leased.map(({ url }) => JSON.stringify(url)));
      expect(await store.queue.counts()).toEqual({ total: 300, succeeded: 300, failed: 0, skipped: 0, pending: 0 });
    });

    test('answers the same unit again as the first time, and writes nothing twice', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 2));
      const [first, second] = await claimAll(store);
      const handled = unit(first!, {
        records: [{ dataset: 'default', json: '1' }],
        requests: [request('b.example', 1), request('b.example', 2)],
      });
      const retried = unit(second!, { outcome: retry({ notBeforeMs: bench().clock.wallMs() + 1 }) });
      expect(await store.queue.commit([handled, retried])).toEqual(await store.queue.commit([handled, retried]));
      expect(await store.queue.commit([handled])).toEqual([{ status: 'committed', added: 2 }]);
      expect(await rowsOf(store, 'default')).toEqual(['1']);
      expect(await store.queue.counts()).toMatchObject({ total: 4, succeeded: 1, pending: 3 });
    });

    test('answers a unit again after the run was opened anew', async () => {
      await bench().store.queue.add(requests('a.example', 1));
      const work = unit(await claimOne(bench().store), { records: [{ dataset: 'default', json: '1' }] });
      await commitOne(bench().store, work);
      await bench().reopen();
      expect(await commitOne(bench().store, work)).toEqual({ status: 'committed', added: 0 });
      expect(await rowsOf(bench().store, 'default')).toEqual(['1']);
    });

    test('writes nothing of a unit whose lease was lost', async () => {
      const { store, clock } = bench();
      await store.queue.add(requests('a.example', 1));
      const late = await claimOne(store);
      await clock.advance(LEASE_MS);
      const current = await claimOne(store);
      const work = {
        records: [{ dataset: 'default', json: '"late"' }],
        requests: [request('b.example', 1)],
        values: [{ key: 'k', json: '1' }],
        columns: [{ dataset: 'default', path: 'late' }],
      };
      expect(await commitOne(store, unit(late, work))).toEqual({ status: 'lost', added: 0 });
      expect(await rowsOf(store, 'default')).toEqual([]);
      expect(await store.values.get('k')).toBeNull();
      expect(await store.datasets.columns('default')).toEqual([]);
      expect(await commitOne(store, unit(current, { records: [{ dataset: 'default', json: '"now"' }] }))).toEqual({
        status: 'committed',
        added: 0,
      });
      expect(await rowsOf(store, 'default')).toEqual(['"now"']);
    });

    test('still commits when the lease has ended but nobody else took the request', async () => {
      const { store, clock } = bench();
      await store.queue.add(requests('a.example', 1));
      const leased = await claimOne(store);
      await clock.advance(LEASE_MS * 2);
      expect(await commitOne(store, unit(leased))).toEqual({ status: 'committed', added: 0 });
    });

    test('counts results, skip reasons, failure codes and pending hosts', async () => {
      const { store } = bench();
      await store.queue.add([...requests('a.example', 6), request('b.example', 1)]);
      const leased = await claimAll(store, { skipHosts: new Set(['b.example']) });
      const skipped = (reason: string) => ({ kind: 'handled', result: 'skipped', reason, patch: null }) as const;
      await store.queue.commit([
        unit(leased[0]!),
        unit(leased[1]!, { outcome: failed('HTTP_404') }),
        unit(leased[2]!, { outcome: failed('HTTP_404') }),
        unit(leased[3]!, { outcome: skipped('robots') }),
      ]);
      expect(await store.queue.counts()).toEqual({ total: 7, succeeded: 1, failed: 2, skipped: 1, pending: 3 });
      expect(await store.queue.failureReasons()).toEqual({ HTTP_404: 2 });
      expect(await store.queue.skipReasons()).toEqual({ robots: 1 });
      expect(await store.queue.pendingHosts(10)).toEqual([
        { host: 'a.example', pending: 2 },
        { host: 'b.example', pending: 1 },
      ]);
      expect(await store.queue.pendingHosts(1)).toEqual([{ host: 'a.example', pending: 2 }]);
    });

    test('keeps the patch of a handled request and when it was handled', async () => {
      const { store, clock } = bench();
      await store.queue.add(requests('a.example', 1));
      const outcome = { kind: 'handled', result: 'succeeded', reason: null, patch: '{"loadedUrl":"x"}' } as const;
      await commitOne(store, unit(await claimOne(store), { outcome }));
      expect(await store.queue.get('https://a.example/0')).toMatchObject({
        handledAtMs: clock.wallMs(),
        patch: '{"loadedUrl":"x"}',
      });
    });

    test('puts forefront requests of a unit before everything, and the others after', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 2));
      const first = await claimOne(store);
      const found = [
        request('a.example', 'x'),
        request('a.example', 'front', { forefront: true }),
        request('a.example', 'y'),
      ];
      expect(await commitOne(store, unit(first, { requests: found }))).toEqual({ status: 'committed', added: 3 });
      expect(urlsOf(await claimAll(store)).map((url) => url.split('/').at(-1))).toEqual(['front', '1', 'x', 'y']);
    });

    test('puts a forefront retry before everything', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 3));
      const [, second] = await claimAll(store, { limit: 2 });
      await store.queue.add([request('a.example', 'front')], { forefront: true });
      await bench().clock.advance(1);
      await commitOne(store, unit(second!, { outcome: retry({ forefront: true }) }));
      expect((await claimOne(store)).url).toBe('https://a.example/1');
    });
  });

  describe('putting handled requests back', () => {
    const bench = useBench(createRun);

    async function handleAll(outcomes: ReturnType<typeof failed>[]): Promise<void> {
      const { store } = bench();
      await store.queue.add(outcomes.map((_, i) => request(i % 2 === 0 ? 'a.example' : 'b.example', i)));
      const leased = (await claimAll(store)).sort((x, y) => (x.url.slice(-1) < y.url.slice(-1) ? -1 : 1));
      const records = [{ dataset: 'failures', json: '"first"' }];
      await store.queue.commit(leased.map((one, i) => unit(one, { outcome: outcomes[i]!, records })));
    }

    test('selects by result, code, host and time', async () => {
      await handleAll([failed('HTTP_404'), failed('HTTP_500'), failed('HTTP_500'), failed('HTTP_500')]);
      const { queue } = bench().store;
      const later = bench().clock.wallMs() + 1;
      expect(await queue.requeue({ result: 'succeeded' })).toBe(0);
      expect(await queue.requeue({ result: 'failed', handledSinceMs: later })).toBe(0);
      expect(await queue.requeue({ result: 'failed', reasons: ['HTTP_500'], hosts: ['b.example'] })).toBe(2);
      expect(await queue.counts()).toEqual({ total: 4, succeeded: 0, failed: 2, skipped: 0, pending: 2 });
      expect(await queue.failureReasons()).toEqual({ HTTP_404: 1, HTTP_500: 1 });
      expect(await queue.requeue({ result: 'failed' })).toBe(2);
      expect(await queue.requeue({ result: 'failed' })).toBe(0);
      expect((await claimAll(bench().store)).map(({ claims }) => claims)).toEqual([1, 1, 1, 1]);
    });

    test('shows them as not handled', async () => {
      await handleAll([failed('HTTP_500')]);
      const { queue } = bench().store;
      await queue.requeue({ result: 'failed' });
      expect(await queue.get('https://a.example/0')).toMatchObject({ handledAtMs: null });
      expect(await queue.add([request('a.example', 0)])).toMatchObject([{ wasAlreadyHandled: false }]);
    });

    test('replaces their earlier records when they are handled anew, and not before', async () => {
      await handleAll([failed('HTTP_500'), failed('HTTP_500')]);
      const { store } = bench();
      await store.queue.requeue({ result: 'failed', hosts: ['a.example'] });
      const leased = await claimOne(store);
      expect(await rowsOf(store, 'failures')).toEqual(['"first"', '"first"']);
      await commitOne(store, unit(leased, { records: [{ dataset: 'default', json: '"second"' }] }));
      expect(await rowsOf(store, 'failures')).toEqual(['"first"']);
      expect(await rowsOf(store, 'default')).toEqual(['"second"']);
      expect(await store.datasets.list()).toEqual([
        { name: 'failures', count: 1 },
        { name: 'default', count: 1 },
      ]);
      expect(await store.queue.counts()).toEqual({ total: 2, succeeded: 1, failed: 1, skipped: 0, pending: 0 });
    });

    test('replaces records a retry left behind', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 1));
      const record = (json: string) => [{ dataset: 'default', json }];
      await commitOne(store, unit(await claimOne(store), { outcome: retry(), records: record('"try"') }));
      expect(await rowsOf(store, 'default')).toEqual(['"try"']);
      await commitOne(store, unit(await claimOne(store), { records: record('"done"') }));
      expect(await rowsOf(store, 'default')).toEqual(['"done"']);
    });

    test('does not touch rows of a dataset that was dropped and begun again', async () => {
      await handleAll([failed('HTTP_500')]);
      const { store } = bench();
      await store.datasets.drop('failures');
      await store.datasets.push('failures', ['"new"']);
      await store.queue.requeue({ result: 'failed' });
      await commitOne(store, unit(await claimOne(store)));
      expect(await rowsOf(store, 'failures')).toEqual(['"new"']);
    });

    test('leaves failed requests to be read, page by page, whole and unchanged', async () => {
      const { store } = bench();
      const data = '{"payload":"x"}';
      await store.queue.add([
        ...requests('a.example', 6_000),
        request('b.example', 'post', { uniqueKey: 'own', method: 'POST', label: 'items', data }),
        request('c.example', 'waits'),
      ]);
      for (const leased of await claimAll(store, { limit: 7_000, perHost: 7_000 })) {
        if (leased.host === 'c.example') continue;
        const isFailed = leased.host === 'b.example' || leased.url.endsWith('/3') || leased.url.endsWith('/5999');
        const outcome = isFailed ? failed(leased.host === 'b.example' ? 'HTTP_500' : 'HTTP_404') : undefined;
        await commitOne(store, unit(leased, outcome === undefined ? {} : { outcome }));
      }
      const read = async (selection: RequeueSelection) => {
        const seen: HandledPage['requests'] = [];
        for (let from: number | null = 0; from !== null; ) {
          const page: HandledPage = await store.queue.handled(selection, from);
          seen.push(...page.requests);
          from = page.nextId;
        }
        return seen;
      };
      const all = await read({ result: 'failed' });
      expect(all.map(({ url }) => url)).toEqual([
        'https://a.example/3',
        'https://a.example/5999',
        'https://b.example/post',
      ]);
      expect(all.at(-1)).toMatchObject({ uniqueKey: 'own', method: 'POST', label: 'items', data, reason: 'HTTP_500' });
      expect(all.at(-1)?.handledAtMs).toBe(bench().clock.wallMs());
      expect(await read({ result: 'failed', reasons: ['HTTP_404'], hosts: ['b.example'] })).toEqual([]);
      expect(await store.queue.counts()).toMatchObject({ failed: 3, pending: 1 });
    });
  });
}
