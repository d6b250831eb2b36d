import { describe, expect, test } from 'vitest';
import { KeepOnce } from '../../src/api/keep-once.ts';
import { hash48, keyReader, type PageFacts, packKeys, pageFactsKey, unpackKeys } from '../../src/api/page-facts.ts';
import { PrimaryKeys } from '../../src/api/primary-keys.ts';
import { memoryValues } from './play-crawl.ts';

const records = (...ids: (number | null)[]) => ids.map((id) => ({ id }));
const page = (number: number) => ({ resource: 'r', listing: '', page: number });
const keeper = () => new KeepOnce(keyReader(['id']));

describe('keeping records once', () => {
  test('takes the first page that has one, whatever its number, and within a page the first', () => {
    const own = keeper();
    expect(own.sift(records(1, 2, 2), page(2)).records).toEqual(records(1, 2));
    expect(own.sift(records(2, 3), page(1)).records).toEqual(records(3));
  });

  test('keeps what has no key', () => {
    const own = keeper();
    expect(own.sift(records(null, null), page(1)).records).toEqual(records(null, null));
  });

  test('lets a page that is handled again keep what it kept', () => {
    const own = keeper();
    own.sift(records(1, 2), page(1));
    own.sift(records(2, 3), page(2));
    expect(own.sift(records(1, 2), page(1)).records).toEqual(records(1, 2));
    expect(own.sift(records(2, 3), page(2)).records).toEqual(records(3));
  });

  test('after a crash goes by what was committed: nothing doubled, nothing lost', async () => {
    const before = keeper();
    before.sift(records(1, 2), page(1)); // Not committed: the process died.
    const second = before.sift(records(2, 3), page(2));
    const values = memoryValues();
    const facts = { page: 2, keys: second.keys, repeated: second.repeated } as PageFacts;
    await values.set(pageFactsKey('r', '', 2), facts);
    const after = keeper();
    await after.learn('r', values);
    expect(after.sift(records(1, 2, 3), page(1)).records).toEqual(records(1, 2));
  });

  test('tells many apart', () => {
    const own = keeper();
    const all = records(...Array.from({ length: 50_000 }, (_, id) => id));
    expect(own.sift(all, page(1)).records).toHaveLength(50_000);
    expect(own.sift(all, page(2)).records).toHaveLength(0);
  });
});

test('a table of keys grows without forgetting, and holds keys that fall into one slot', () => {
  const keys = new PrimaryKeys();
  const same = Array.from({ length: 3000 }, (_, at) => at * 2 ** 20);
  for (const key of same) expect(keys.claim(key, key % 97)).toBe(true);
  expect(keys.size).toBe(3000);
  for (const key of same) expect(keys.claim(key, key % 97)).toBe(true);
  for (const key of same) expect(keys.claim(key, 98)).toBe(false);
});

describe('the hash of a key', () => {
  test('has no collision among 300,000 ids, short texts and UUIDs', () => {
    const texts = Array.from({ length: 100_000 }, (_, at) => [
      `${at},`,
      `"item-${at}",`,
      `"${at.toString(16).padStart(8, '0')}-e29b-41d4-a716-446655440000",`,
    ]).flat();
    const hashes = texts.map(hash48);
    expect(new Set(hashes).size).toBe(texts.length);
    expect(hashes.every((hash) => Number.isInteger(hash) && hash >= 0 && hash < 2 ** 48)).toBe(true);
  });

  test('tells a number from its text, and fields from one another', () => {
    const key = (...values: unknown[]) => keyReader(['a', 'b'])({ a: values[0], b: values[1] });
    expect(new Set([key(1, 2), key('1', 2), key('1,', 2), key(12, ''), key(1, '2'), key(1n, 3)]).size).toBe(6);
    expect(key(9007199254740993n, 1)).not.toBe(key(9007199254740992n, 1));
    expect(key(1, null)).toBeNull();
  });

  test('is packed and unpacked', () => {
    const keys = [0, 1, 2 ** 48 - 1, hash48('x')];
    expect(unpackKeys(packKeys(keys))).toEqual(keys);
    expect(unpackKeys(packKeys(keys) + packKeys([7]))).toEqual([...keys, 7]);
  });
});
