import type { RequestQueueClient } from '@crawlee/types';
import { describe, expect, test } from 'vitest';
import { advance, type CreateStorages, type Quirks, request, START_MS, useStorages } from './harness.ts';

const LOCK_SECS = 60;

export function describeRequestQueueClient(create: CreateStorages, quirks: Quirks): void {
  describe('request queues', () => {
    const storages = useStorages(create);

    async function openQueue(name = 'q'): Promise<RequestQueueClient> {
      const { id } = await storages().client.requestQueues().getOrCreate(name);
      return storages().client.requestQueue(id);
    }

    const urls = (items: { url: string }[]): string[] =>
      items.map(({ url }) => url.slice('https://example.com/'.length));
    const lock = async (queue: RequestQueueClient, limit = 25): Promise<string[]> =>
      urls((await queue.listAndLockHead({ limit, lockSecs: LOCK_SECS })).items);

    test('are created, found, listed and deleted', async () => {
      const { client } = storages();
      const queue = await openQueue('one');
      await openQueue('two');
      expect((await client.requestQueues().list()).items.map(({ name }) => name)).toEqual(['one', 'two']);
      expect(await queue.get()).toMatchObject({ name: 'one' });
      await queue.addRequest(request(1));
      await queue.delete();
      await queue.delete();
      expect(await queue.get()).toBeUndefined();
      await expect(queue.addRequest(request(1))).rejects.toThrow('does not exist');
      await expect(queue.listHead()).rejects.toThrow('does not exist');
      const again = await openQueue('one');
      expect(await again.get()).toMatchObject({ totalRequestCount: 0, pendingRequestCount: 0 });
    });

    test.runIf(quirks.renames)('are renamed, but not to a name that is taken', async () => {
      const queue = await openQueue('one');
      await openQueue('two');
      await expect(queue.update({ name: 'Two' })).rejects.toThrow('already exists');
      expect(await queue.update({ name: 'three' })).toMatchObject({ name: 'three' });
      expect(await storages().client.requestQueue('one').get()).toBeUndefined();
    });

    test('add a request once, by unique key, under the id of the Apify API', async () => {
      const queue = await openQueue();
      const added = await queue.addRequest(request('', { uniqueKey: 'https://example.com/' }));
      expect(added).toEqual({ requestId: 'DxFdsGK3wN0DCxa', wasAlreadyPresent: false, wasAlreadyHandled: false });
      expect(await queue.addRequest(request('other', { uniqueKey: 'https://example.com/' }))).toEqual({
        ...added,
        wasAlreadyPresent: true,
      });
      await expect(queue.addRequest({ ...request(1), id: 'wrong' } as never)).rejects.toThrow('does not match');
    });

    test('add a batch, with duplicates in it', async () => {
      const queue = await openQueue();
      const { processedRequests, unprocessedRequests } = await queue.batchAddRequests([
        request(1),
        request(2),
        request(1),
      ]);
      expect(processedRequests.map(({ wasAlreadyPresent }) => wasAlreadyPresent)).toEqual([false, false, true]);
      expect(processedRequests[0]!.uniqueKey).toBe('https://example.com/1');
      expect(unprocessedRequests).toEqual([]);
      expect(await queue.get()).toMatchObject({ totalRequestCount: 2, pendingRequestCount: 2, handledRequestCount: 0 });
    });

    test('count a request added as handled as handled, and call it new', async () => {
      const queue = await openQueue();
      const handled = request(1, { handledAt: new Date(START_MS).toISOString() });
      expect(await queue.addRequest(handled)).toMatchObject({ wasAlreadyPresent: false, wasAlreadyHandled: false });
      expect(await queue.addRequest(handled)).toMatchObject({ wasAlreadyPresent: true, wasAlreadyHandled: true });
      expect(await queue.get()).toMatchObject({ totalRequestCount: 1, pendingRequestCount: 0, handledRequestCount: 1 });
      expect((await queue.listHead()).items).toEqual([]);
    });

    test('keep all of a request, without nulls', async () => {
      const queue = await openQueue();
      const full = request(1, {
        payload: 'p',
        headers: { a: 'b' },
        userData: { label: 'l', nested: { n: null } },
        retryCount: 2,
        errorMessages: ['e'],
        noRetry: false,
      });
      const { requestId } = await queue.addRequest({ ...full, loadedUrl: null } as never);
      expect(await queue.getRequest(requestId)).toEqual({ ...full, id: requestId });
      expect(await queue.getRequest('missing')).toBeUndefined();
    });

    test('list the head in order: forefront first, the latest of it at the very front', async () => {
      const queue = await openQueue();
      await queue.batchAddRequests([request('a'), request('b')]);
      advance(1);
      await queue.addRequest(request('front'), { forefront: true });
      advance(1);
      await queue.batchAddRequests([request('front2'), request('front3')], { forefront: true });
      const head = await queue.listHead({ limit: 10 });
      expect(urls(head.items).slice(0, 3).sort()).toEqual(['front', 'front2', 'front3']);
      expect(urls(head.items)[2]).toBe('front');
      expect(urls(head.items).slice(3)).toEqual(['a', 'b']);
      expect(head).toMatchObject({ limit: 10, hadMultipleClients: false });
      expect((await queue.listHead({ limit: 1 })).items).toHaveLength(1);
      expect(await lock(queue)).toEqual(['front3', 'front2', 'front', 'a', 'b']);
    });

    test('lock each request for one worker at a time', async () => {
      const queue = await openQueue();
      await queue.batchAddRequests([request(1), request(2), request(3)]);
      expect(await lock(queue, 2)).toEqual(['1', '2']);
      expect(await lock(queue)).toEqual(['3']);
      expect(await lock(queue)).toEqual([]);
      advance(LOCK_SECS * 1_000 + 1);
      expect((await lock(queue)).sort()).toEqual(['1', '2', '3']);
    });

    test('refuse to lock more than 25 at once', async () => {
      const queue = await openQueue();
      await expect(queue.listAndLockHead({ limit: 26, lockSecs: 1 })).rejects.toThrow();
    });

    test.runIf(quirks.tellsLocked)('tell whether anything is locked, by anybody', async () => {
      const queue = await openQueue();
      const isLocked = async () => (await queue.listAndLockHead({ lockSecs: LOCK_SECS })).queueHasLockedRequests;
      expect(await isLocked()).toBe(false);
      const { requestId } = await queue.addRequest(request(1));
      expect(await isLocked()).toBe(true);
      expect(await isLocked()).toBe(true);
      await queue.updateRequest({ ...request(1), id: requestId, handledAt: new Date().toISOString() });
      expect(await isLocked()).toBe(false);
    });

    test('prolong a lock from where it ends', async () => {
      const queue = await openQueue();
      const { requestId } = await queue.addRequest(request(1));
      await lock(queue);
      const { lockExpiresAt } = await queue.prolongRequestLock(requestId, { lockSecs: 30 });
      expect(lockExpiresAt.getTime()).toBe(START_MS + LOCK_SECS * 1_000 + 30_000);
      advance(LOCK_SECS * 1_000 + 29_000);
      expect(await lock(queue)).toEqual([]);
      advance(1_001);
      expect(await lock(queue)).toEqual(['1']);
    });

    test('lock by prolonging what was not locked', async () => {
      const queue = await openQueue();
      const { requestId } = await queue.addRequest(request(1));
      await queue.prolongRequestLock(requestId, { lockSecs: 30 });
      expect(await lock(queue)).toEqual([]);
    });

    test('put a request to the front when its prolonged lock has ended', async () => {
      const queue = await openQueue();
      await queue.batchAddRequests([request(1), request(2)]);
      const id = (await queue.listAndLockHead({ limit: 1, lockSecs: 1 })).items[0]!.id;
      await queue.prolongRequestLock(id, { lockSecs: 1, forefront: true });
      advance(5_000);
      expect(await lock(queue)).toEqual(['1', '2']);
    });

    test('unlock when told, to the end or to the front', async () => {
      const queue = await openQueue();
      await queue.batchAddRequests([request(1), request(2), request(3)]);
      const { items } = await queue.listAndLockHead({ limit: 3, lockSecs: LOCK_SECS });
      advance(1);
      await queue.deleteRequestLock(items[1]!.id, { forefront: true });
      await queue.deleteRequestLock(items[2]!.id);
      expect(await lock(queue)).toEqual(['2', '3']);
    });

    test('say why a lock cannot be prolonged or deleted', async () => {
      const queue = await openQueue('named');
      const { requestId } = await queue.addRequest(request(1));
      await expect(queue.prolongRequestLock('missing', { lockSecs: 1 })).rejects.toThrow(
        'Request with ID missing not found in queue named',
      );
      await expect(queue.deleteRequestLock('missing')).rejects.toThrow('not found in queue named');
      await expect(queue.deleteRequestLock(requestId)).rejects.toThrow('is not locked in queue named');
      await queue.updateRequest({ ...request(1), id: requestId, handledAt: new Date().toISOString() });
      await expect(queue.prolongRequestLock(requestId, { lockSecs: 1 })).rejects.toThrow('has already been handled');
      await expect(queue.deleteRequestLock(requestId)).rejects.toThrow('is not locked');
    });

    test('update a request: replaced whole, unlocked, counted', async () => {
      const queue = await openQueue();
      const { requestId } = await queue.addRequest(request(1, { userData: { a: 1 } }));
      await lock(queue);
      const update = { ...request(1, { retryCount: 1 }), id: requestId };
      expect(await queue.updateRequest(update)).toEqual({
        requestId,
        wasAlreadyPresent: true,
        wasAlreadyHandled: false,
      });
      expect(await queue.getRequest(requestId)).toEqual(update);
      expect(await lock(queue)).toEqual(['1']);
      const handled = { ...update, handledAt: new Date().toISOString() };
      expect(await queue.updateRequest(handled)).toMatchObject({ wasAlreadyHandled: false });
      expect(await queue.updateRequest(handled)).toMatchObject({ wasAlreadyHandled: true });
      expect(await queue.get()).toMatchObject({ totalRequestCount: 1, pendingRequestCount: 0, handledRequestCount: 1 });
      expect(await lock(queue)).toEqual([]);
    });

    test('add by an update what is not there', async () => {
      const queue = await openQueue();
      const id = 'DxFdsGK3wN0DCxa';
      const update = { ...request('', { uniqueKey: 'https://example.com/' }), id };
      expect(await queue.updateRequest(update)).toMatchObject({ requestId: id, wasAlreadyPresent: false });
      await expect(queue.updateRequest({ ...request(2), id })).rejects.toThrow('does not match');
      expect(await queue.get()).toMatchObject({ totalRequestCount: 1 });
    });

    test.runIf(quirks.countsUnhandled)('take a handled request back into work', async () => {
      const queue = await openQueue();
      const handledAt = new Date(START_MS).toISOString();
      const { requestId } = await queue.addRequest(request(1, { handledAt }));
      await queue.updateRequest({ ...request(1), id: requestId });
      expect(await queue.get()).toMatchObject({ totalRequestCount: 1, pendingRequestCount: 1, handledRequestCount: 0 });
      expect(await lock(queue)).toEqual(['1']);
    });

    test.runIf(quirks.locksInOrder)('put a reclaimed request to the end, or to the front', async () => {
      const queue = await openQueue();
      await queue.batchAddRequests([request(1), request(2), request(3)]);
      const { items } = await queue.listAndLockHead({ limit: 2, lockSecs: LOCK_SECS });
      advance(1);
      await queue.updateRequest({ ...request(1), id: items[0]!.id });
      await queue.updateRequest({ ...request(2), id: items[1]!.id }, { forefront: true });
      expect(await lock(queue)).toEqual(['2', '3', '1']);
    });

    test('delete a request from wherever it is', async () => {
      const queue = await openQueue();
      const { processedRequests } = await queue.batchAddRequests([request(1), request(2), request(3), request(4)]);
      const ids = processedRequests.map(({ requestId }) => requestId);
      await queue.updateRequest({ ...request(3), id: ids[2]!, handledAt: new Date().toISOString() });
      expect(await lock(queue, 1)).toEqual(['1']);
      for (const id of [...ids.slice(0, 3), 'missing']) await queue.deleteRequest(id);
      expect(await queue.get()).toMatchObject({ totalRequestCount: 1, pendingRequestCount: 1, handledRequestCount: 0 });
      expect(await queue.getRequest(ids[0]!)).toBeUndefined();
      expect(await lock(queue)).toEqual(['4']);
      expect(await queue.addRequest(request(1))).toMatchObject({ wasAlreadyPresent: false });
    });

    test('do not mix with one another', async () => {
      const first = await openQueue('first');
      const second = await openQueue('second');
      await first.addRequest(request(1));
      expect(await second.addRequest(request(1))).toMatchObject({ wasAlreadyPresent: false });
      await first.delete();
      expect(await lock(second)).toEqual(['1']);
    });

    test('outlive their process, and free what it had locked', async () => {
      const queue = await openQueue('kept');
      await queue.batchAddRequests([request(1), request(2), request(3)]);
      await lock(queue, 2);
      const { reopen } = storages();
      if (!reopen) return;
      const again = (await reopen()).requestQueue('kept');
      expect(await lock(again)).toEqual(['1', '2', '3']);
    });
  });
}
