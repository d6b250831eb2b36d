import { describe, expect, test } from 'vitest';
import { reckonCompleteness } from '../../src/api/completeness.ts';
import {
  hash48,
  listingOf,
  type PageFacts,
  packKeys,
  pageFactsKey,
  pageFactsPrefixes,
} from '../../src/api/page-facts.ts';
import type { ApiDocument } from '../../src/config/api-schema.ts';
import { memoryValues, playCrawl } from './play-crawl.ts';

const ids = (...list: number[]) => packKeys(list.map((id) => hash48(String(id))));
const facts = (page: number, rest: Partial<PageFacts>): PageFacts => ({
  page,
  offset: null,
  count: 0,
  outside: 0,
  discarded: 0,
  drifted: 0,
  declared: null,
  cursor: null,
  keys: '',
  repeated: '',
  ...rest,
});

async function reckon(pages: { listing?: string; facts: PageFacts }[]) {
  const values = memoryValues();
  for (const { listing = '', facts: value } of pages) await values.set(pageFactsKey('r', listing, value.page), value);
  return reckonCompleteness('r', values);
}

describe('page facts', () => {
  test.each(['', 'mark', 'mark~2'])('of listing "%s" are found again under one of the prefixes', (listing) => {
    const key = pageFactsKey('my/resource', listing, 12);
    expect(pageFactsPrefixes('my/resource').filter((prefix) => key.startsWith(prefix))).toHaveLength(1);
    expect(listingOf(pageFactsKey('r', listing, 12))).toBe(listing);
  });
});

describe('completeness', () => {
  test('of one listing: the last declared total against what came', async () => {
    const totals = await reckon([
      { facts: facts(1, { count: 2, declared: 5, keys: ids(1, 2) }) },
      { facts: facts(2, { count: 2, declared: 4, keys: ids(3, 4) }) },
    ]);
    expect(totals).toMatchObject({ declared: 4, fetched: 4, duplicates: 0, gaps: 0, suspectedShifts: 0, pages: 2 });
  });

  test('of many listings adds up, and a surplus of one does not hide the gap of another', async () => {
    const totals = await reckon([
      { listing: 'a', facts: facts(1, { count: 3, declared: 2, keys: ids(1, 2, 3) }) },
      { listing: 'b', facts: facts(1, { count: 1, declared: 2, keys: ids(4) }) },
      { listing: 'c', facts: facts(1, { count: 1, keys: ids(5) }) },
    ]);
    expect(totals).toMatchObject({ declared: 4, fetched: 5, gaps: 1 });
  });

  test('counts a record that came on two pages once: the total is reached, yet one is missing', async () => {
    const totals = await reckon([
      { facts: facts(1, { offset: 0, count: 2, declared: 4, keys: ids(1, 2) }) },
      { facts: facts(2, { offset: 2, count: 2, declared: 4, keys: ids(2, 3) }) },
    ]);
    expect(totals).toMatchObject({ declared: 4, fetched: 4, duplicates: 1, gaps: 1, suspectedShifts: 1 });
  });

  test('suspects a shift where the total changed between two pages, not where pages are named by cursors', async () => {
    const pages = (offset: (at: number) => number | null) =>
      [7, 7, 6, 6].map((declared, at) => ({ facts: facts(at + 1, { offset: offset(at), count: 1, declared }) }));
    expect((await reckon(pages((at) => at))).suspectedShifts).toBe(1);
    expect((await reckon(pages(() => null))).suspectedShifts).toBe(0);
  });

  test('passes over what came before a listing was started again', async () => {
    const totals = await reckon([
      { listing: 'a', facts: facts(1, { count: 9, declared: 9, keys: ids(1, 2) }) },
      { listing: 'a~1', facts: facts(1, { count: 2, declared: 2, keys: ids(1, 2) }) },
    ]);
    expect(totals).toMatchObject({ declared: 2, fetched: 2, duplicates: 0 });
  });

  test('of nothing declares nothing', async () => {
    expect(await reckon([])).toMatchObject({ declared: null, fetched: 0, duplicates: 0, gaps: 0 });
  });

  test('of 100,000 records counts every duplicate and none too many', async () => {
    const list = Array.from({ length: 100 }, (_, page) => ({
      facts: facts(page + 1, { count: 1000, keys: ids(...Array.from({ length: 1000 }, (__, at) => page * 999 + at)) }),
    }));
    expect((await reckon(list)).duplicates).toBe(99);
  });
});

describe('a list that shifts while it is read', () => {
  const document: ApiDocument = {
    baseUrl: 'https://api.test',
    resources: [
      {
        name: 'items',
        primaryKey: 'id',
        endpoint: {
          path: '/items',
          parallelPages: 'off',
          paginator: { type: 'offset', limit: 10, totalPath: '$.total' },
        },
      },
    ],
  };
  function shifting(change: (list: { id: number }[]) => void) {
    const list = Array.from({ length: 40 }, (_, at) => ({ id: at }));
    let asked = 0;
    return ({ url }: { url: string }) => {
      const offset = Number(new URL(url).searchParams.get('offset'));
      if (++asked === 3) change(list);
      return { body: { total: list.length, items: list.slice(offset, offset + 10) } };
    };
  }

  test('by records put in front gives duplicates, kept once', async () => {
    const played = await playCrawl(document, { answer: shifting((list) => list.unshift({ id: 100 }, { id: 101 })) });
    expect(played.records.items).toHaveLength(40);
    expect(played.finished[0]!.completeness).toEqual({
      resource: 'items',
      declared: 42,
      fetched: 42,
      duplicates: 2,
      gaps: 2,
      suspectedShifts: 1,
    });
  });

  test('by records taken away leaves a gap that is suspected', async () => {
    const played = await playCrawl(document, { answer: shifting((list) => list.splice(0, 3)) });
    expect(played.finished[0]!.completeness).toMatchObject({ declared: 37, fetched: 37, suspectedShifts: 1 });
  });
});
