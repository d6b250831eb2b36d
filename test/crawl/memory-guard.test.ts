import { expect, test } from 'vitest';
import { MemoryGuard, type MemoryReading, usedShare } from '../../src/crawl/memory-guard.ts';

const reading = (changes: Partial<MemoryReading>): MemoryReading => ({
  rss: 0,
  limit: 1_000,
  heapUsed: 0,
  heapLimit: 1_000,
  ...changes,
});

test('goes by the nearer of the container’s limit and the heap’s', () => {
  expect(usedShare(reading({ rss: 500, heapUsed: 700 }))).toBe(0.7);
  expect(usedShare(reading({ rss: 900, heapUsed: 700 }))).toBe(0.9);
});

test('knows no limit where none is set', () => {
  expect(usedShare(reading({ rss: 500, limit: 0 }))).toBe(0);
  expect(usedShare(reading({ rss: 500, limit: 2 ** 63 }))).toBe(0);
});

test('is short above 90 %, and until it has fallen to 80 %', () => {
  let rss = 0;
  const guard = new MemoryGuard(() => reading({ rss }));
  const states = [890, 900, 901, 850, 801, 800, 899].map((used) => {
    rss = used;
    guard.look();
    return guard.isShort;
  });
  expect(states).toEqual([false, false, true, true, true, false, false]);
});

test('says nothing before it has looked, and reads the real process', () => {
  const guard = new MemoryGuard();
  expect(guard.isShort).toBe(false);
  guard.look();
  expect(guard.isShort).toBe(false);
});
