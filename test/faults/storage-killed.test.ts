import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CommitResult, UnitOfWork } from '../../src/storage/store.ts';
import { claimAll, Place, rowsOf } from './storage/place.ts';
import { faultUrl, requestOf } from './storage/task.ts';

// Each test starts several processes, and a busy machine takes seconds for one.
vi.setConfig({ testTimeout: 120_000 });

let place: Place;

beforeEach(async () => {
  place = await Place.create();
});

afterEach(() => place.remove());

async function addRequests(count: number): Promise<void> {
  const store = await place.open();
  await store.queue.add(Array.from({ length: count }, (_, n) => requestOf(n)));
  await place.close();
}

describe('a process killed by SIGKILL', () => {
  test('between claim and commit gives back what it had claimed', async () => {
    await addRequests(50);
    const victim = place.start({
      kind: 'claim-and-wait',
      storageDir: place.storageDir,
      access: 'own',
      leaseMs: 600_000,
      limit: 30,
    });
    expect(await victim.next<string[]>()).toHaveLength(30);
    await victim.kill();
    const leased = await claimAll(await place.open());
    expect(leased.map(({ url }) => url).sort()).toEqual(Array.from({ length: 50 }, (_, n) => faultUrl(n)).sort());
    expect(leased.filter(({ claims }) => claims === 2)).toHaveLength(30);
    await place.close();
    place.expectSound();
  });

  test('in the middle of a commit leaves nothing of it', async () => {
    await addRequests(40);
    const victim = place.start({ kind: 'die-in-commit', storageDir: place.storageDir, limit: 40 });
    expect(await victim.next<number>()).toBe(40);
    expect(await victim.ended()).toEqual({ code: null, signal: 'SIGKILL' });
    const store = await place.open();
    expect(await rowsOf(store)).toEqual([]);
    expect(await store.queue.counts()).toEqual({ total: 40, succeeded: 0, failed: 0, skipped: 0, pending: 40 });
    expect(await claimAll(store)).toHaveLength(40);
    await place.close();
    place.expectSound();
  });

  test('after a commit whose reply it never used has committed it, and repeating it changes nothing', async () => {
    await addRequests(20);
    const victim = place.start({ kind: 'commit-and-wait', storageDir: place.storageDir, limit: 20 });
    const said = await victim.next<{ units: UnitOfWork[]; results: CommitResult[] }>();
    await victim.kill();
    const store = await place.open();
    expect(await store.queue.commit(said.units)).toEqual(said.results);
    expect(await rowsOf(store)).toHaveLength(20);
    expect(await store.queue.counts()).toMatchObject({ total: 40, succeeded: 20, pending: 20 });
    await place.close();
    place.expectSound();
  });

  test('again and again while it works loses no request and doubles no record', async () => {
    const count = 3_000;
    await addRequests(count);
    let kills = 0;
    for (let isDone = false; !isDone; ) {
      const victim = place.start({ kind: 'work', storageDir: place.storageDir });
      await victim.next();
      const delayMs = 5 + Math.random() * 120;
      const timer = new Promise((resolve) => setTimeout(resolve, delayMs, 'killed'));
      isDone = (await Promise.race([victim.next(), timer])) === 'done';
      if (!isDone) kills += 1;
      await victim.kill();
      if (kills >= 5) break;
    }
    expect(kills).toBeGreaterThan(0);
    const last = place.start({ kind: 'work', storageDir: place.storageDir });
    await last.next();
    expect(await last.next()).toBe('done');
    await last.kill();
    const store = await place.open();
    const urls = (await rowsOf<{ url: string }>(store)).map(({ url }) => url);
    const expected = [...Array(count).keys()].flatMap((n) => [faultUrl(n), faultUrl(n + 1_000_000)]);
    expect(new Set(urls).size).toBe(urls.length);
    expect(urls.sort()).toEqual(expected.sort());
    expect(await store.queue.counts()).toMatchObject({ total: 2 * count, succeeded: 2 * count, pending: 0 });
    await place.close();
    place.expectSound();
  });

  test('each time by the same request shows in its claims: poison can be told', async () => {
    await addRequests(1);
    for (let i = 0; i < 3; i++) {
      const victim = place.start({
        kind: 'claim-and-wait',
        storageDir: place.storageDir,
        access: 'own',
        leaseMs: 600_000,
        limit: 1,
      });
      await victim.next();
      await victim.kill();
    }
    expect((await claimAll(await place.open())).map(({ claims }) => claims)).toEqual([4]);
  });
});

describe('two processes on one run', () => {
  test('are refused by name, until the first is gone, even by SIGKILL', async () => {
    const victim = place.start({ kind: 'open-and-wait', storageDir: place.storageDir, access: 'own' });
    await victim.next();
    await expect(place.open()).rejects.toThrow('Run "default" is in use by another process');
    await (await place.open('join')).close();
    await place.close();
    await victim.kill();
    await place.open();
  });

  test('a worker paused past its lease loses it, and what it commits late is not written', async () => {
    await addRequests(3);
    const victim = place.start({
      kind: 'claim-and-wait',
      storageDir: place.storageDir,
      access: 'own',
      leaseMs: 1_500,
      limit: 3,
    });
    const urls = await victim.next<string[]>();
    victim.signal('SIGSTOP');
    const store = await place.open('join');
    let leased = await claimAll(store);
    while (leased.length < 3) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      leased.push(...(await claimAll(store)));
    }
    leased = leased.sort((a, b) => (a.url < b.url ? -1 : 1));
    expect(leased.map(({ url }) => url)).toEqual(urls.sort());
    victim.signal('SIGCONT');
    victim.tell('commit');
    expect(await victim.next()).toEqual([1, 2, 3].map(() => ({ status: 'lost', added: 0 })));
    expect(await rowsOf(store)).toEqual([]);
    await victim.kill();
    await place.close();
    place.expectSound();
  });

  test('adding the same ten thousand keys from both ends store each once', async () => {
    const { storageDir } = place;
    const up = place.start({ kind: 'add', storageDir, from: 0, to: 10_000 });
    const down = place.start({ kind: 'add', storageDir, from: 9_999, to: -1 });
    const added = (await up.next<number>()) + (await down.next<number>());
    expect(added).toBe(10_000);
    await Promise.all([up.kill(), down.kill()]);
    expect(await (await place.open()).queue.counts()).toMatchObject({ total: 10_000, pending: 10_000 });
    await place.close();
    place.expectSound();
  });

  test('creating the schema at the same moment all succeed', async () => {
    const { storageDir } = place;
    const victims = Array.from({ length: 5 }, () => place.start({ kind: 'open-and-wait', storageDir, access: 'join' }));
    for (const victim of victims) expect(await victim.next()).toBe('open');
  });
});
