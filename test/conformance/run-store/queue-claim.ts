import { describe, expect, test } from 'vitest';
import {
  type CreateRun,
  claimAll,
  claimOne,
  claimOptions,
  commitOne,
  LEASE_MS,
  request,
  requests,
  retry,
  unit,
  urlsOf,
  useBench,
} from './harness.ts';

export function describeClaiming(createRun: CreateRun): void {
  describe('claiming', () => {
    const bench = useBench(createRun);

    test('hands each request out once, oldest first', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 5));
      const first = await claimAll(store, { limit: 2 });
      const second = await claimAll(store);
      expect(urlsOf([...first, ...second])).toEqual(requests('a.example', 5).map(({ url }) => url));
      expect(await claimAll(store)).toEqual([]);
    });

    test('gives every host its turn before one gets a second batch', async () => {
      const { store } = bench();
      await store.queue.add(requests('big.example', 500));
      for (let i = 0; i < 20; i++) await store.queue.add([request(`small${i}.example`, 1)]);
      const rounds = [];
      for (let i = 0; i < 3; i++) rounds.push(...(await claimAll(store, { limit: 10, perHost: 4 })));
      expect(new Set(rounds.map(({ host }) => host)).size).toBe(21);
      expect(rounds.filter(({ host }) => host === 'big.example').length).toBeLessThanOrEqual(8);
    });

    test('serves a host whose first request comes late within one round', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 1_000));
      await claimAll(store, { limit: 10, perHost: 10 });
      await store.queue.add([request('b.example', 1)]);
      const next = await claimAll(store, { limit: 10, perHost: 9 });
      expect(next.map(({ host }) => host)).toContain('b.example');
    });

    test('hands out nothing of a skipped host', async () => {
      const { store } = bench();
      await store.queue.add([...requests('a.example', 3), request('b.example', 1)]);
      const claim = await store.queue.claim(claimOptions({ skipHosts: new Set(['a.example', 'unknown.example']) }));
      expect(urlsOf(claim.requests)).toEqual(['https://b.example/1']);
      expect(claim.nextDueAtMs).toBeNull();
    });

    test('takes at most perHost of one host', async () => {
      const { store } = bench();
      await store.queue.add([...requests('a.example', 5), ...requests('b.example', 1)]);
      expect((await claimAll(store, { perHost: 2 })).map(({ host }) => host).sort()).toEqual([
        'a.example',
        'a.example',
        'b.example',
      ]);
    });

    test('says when more can be claimed: at once, at a time, or not at all', async () => {
      const { store, clock } = bench();
      const nowMs = clock.wallMs();
      expect((await store.queue.claim(claimOptions())).nextDueAtMs).toBeNull();
      await store.queue.add(requests('a.example', 2));
      const first = await store.queue.claim(claimOptions({ limit: 1 }));
      expect(first.nextDueAtMs).toBeLessThanOrEqual(nowMs);
      await commitOne(store, unit(first.requests[0]!, { outcome: retry({ notBeforeMs: nowMs + 5_000 }) }));
      const second = await store.queue.claim(claimOptions({ limit: 1 }));
      expect(second.requests).toHaveLength(1);
      expect(second.nextDueAtMs).toBe(nowMs + 5_000);
      const skipping = await store.queue.claim(claimOptions({ skipHosts: new Set(['a.example']) }));
      expect(skipping.nextDueAtMs).toBeNull();
    });

    test('does not hand out a delayed request before its time, and then at once', async () => {
      const { store, clock } = bench();
      await store.queue.add(requests('a.example', 1));
      const outcome = retry({ notBeforeMs: clock.wallMs() + 1_000, patch: '{"retryCount":1}' });
      await commitOne(store, unit(await claimOne(store), { outcome }));
      await clock.advance(999);
      expect(await claimAll(store)).toEqual([]);
      await clock.advance(1);
      expect(await claimOne(store)).toMatchObject({ claims: 2, patch: '{"retryCount":1}' });
    });

    test('hands a due retry out before what was never tried', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 3));
      await commitOne(store, unit(await claimOne(store), { outcome: retry() }));
      expect(urlsOf(await claimAll(store))).toEqual(['/0', '/1', '/2'].map((path) => `https://a.example${path}`));
    });

    test('hands a request out again when its lease has ended, and counts the claim', async () => {
      const { store, clock } = bench();
      await store.queue.add(requests('a.example', 1));
      await claimOne(store);
      await clock.advance(LEASE_MS - 1);
      expect(await claimAll(store)).toEqual([]);
      await clock.advance(1);
      expect((await claimOne(store)).claims).toBe(2);
    });

    test('does not hand out a request whose lease was renewed', async () => {
      const { store, clock } = bench();
      await store.queue.add(requests('a.example', 1));
      const { lease } = await claimOne(store);
      await clock.advance(LEASE_MS / 2);
      expect(await store.queue.renew([lease], LEASE_MS)).toEqual([]);
      await clock.advance(LEASE_MS / 2 + 1);
      expect(await claimAll(store)).toEqual([]);
      await clock.advance(LEASE_MS / 2);
      const again = await claimOne(store);
      expect(await store.queue.renew([lease, again.lease], LEASE_MS)).toEqual([lease]);
    });

    test('gives a released request back to its place, as if never claimed', async () => {
      const { store } = bench();
      await store.queue.add(requests('a.example', 3));
      const first = await claimOne(store);
      await store.queue.release([first.lease]);
      const again = await claimAll(store);
      expect(urlsOf(again)).toEqual(['/0', '/1', '/2'].map((path) => `https://a.example${path}`));
      expect(again[0]!.claims).toBe(1);
      await store.queue.release([first.lease]);
      expect(await claimAll(store)).toEqual([]);
    });

    test('frees the leases of a process that is gone when its run is opened anew, and counts their claims', async () => {
      await bench().store.queue.add(requests('a.example', 3));
      await claimAll(bench().store);
      await bench().reopen();
      const again = await claimAll(bench().store);
      expect(again.map(({ claims }) => claims)).toEqual([2, 2, 2]);
    });

    test('never gives two workers the same request', async () => {
      const { store } = bench();
      await store.queue.add([...requests('a.example', 400), ...requests('b.example', 400)]);
      const other = await bench().open('join');
      const options = { limit: 7, perHost: 5 };
      const claimed = new Set<string>();
      let count = 0;
      for (let more = true; more; ) {
        const both = await Promise.all([claimAll(store, options), claimAll(other, options)]);
        more = both.some((list) => list.length > 0);
        for (const { url } of both.flat()) claimed.add(url);
        count += both.flat().length;
      }
      expect(count).toBe(800);
      expect(claimed.size).toBe(800);
    });

    test('lets a joined worker take over what another one let expire, and says when', async () => {
      const { store, clock } = bench();
      const other = await bench().open('join');
      await store.queue.add(requests('a.example', 1));
      const { lease } = await claimOne(store);
      expect((await other.queue.claim(claimOptions())).nextDueAtMs).toBe(clock.wallMs() + LEASE_MS);
      await clock.advance(LEASE_MS);
      await commitOne(other, unit(await claimOne(other)));
      expect(await commitOne(store, unit({ lease }))).toEqual({ status: 'lost', added: 0 });
    });
  });
}
