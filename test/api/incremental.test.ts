import { describe, expect, test } from 'vitest';
import { conditionalHeaders, freshenedHeaders, validatorsOf } from '../../src/api/conditional.ts';
import { compareCursors, openWindow } from '../../src/api/incremental.ts';
import type { ApiDocument } from '../../src/config/api-schema.ts';
import { memoryValues, playCrawl } from './play-crawl.ts';

describe('cursor values', () => {
  test.each([
    [1, 2, -1],
    ['9', '10', -1],
    ['2024-01-01', '2024-01-02', -1],
    ['2024-01-01T12:00:00Z', '2024-01-01T14:00:00+02:00', 0],
    ['2024-01-01T12:00:00.000001Z', '2024-01-01T12:00:00.000002Z', -1],
    ['9007199254740993', '9007199254740992', 1],
    ['b', 'a', 1],
    ['a', 'a', 0],
  ])('%s against %s: %i', (a, b, sign) => {
    expect(Math.sign(compareCursors(a, b))).toBe(sign);
    expect(Math.sign(compareCursors(b, a))).toBe(-sign + 0);
  });
});

describe('a window', () => {
  const config = { cursorPath: 'meta.at', initialValue: '2024-01-01', endValue: '2024-02-01' };
  const at = (value: unknown) => ({ meta: { at: value } });

  test.each([
    ['2023-12-31', false],
    ['2024-01-01', true],
    ['2024-01-31', true],
    ['2024-02-01', false],
    [undefined, true],
  ])('from its start on, up to its end: %s %s', (value, included) => {
    expect(openWindow(config, null).includes(at(value))).toBe(included);
  });

  test('starts where the last run ended, and one with an end moves nothing', () => {
    const window = openWindow(config, { value: '2024-01-15' });
    expect(window.startValue).toBe('2024-01-15');
    expect(window.movesState).toBe(false);
    expect(window.advance('2024-01-20', at('2024-01-18'))).toBe('2024-01-20');
    expect(window.advance(null, at('2024-01-18'))).toBe('2024-01-18');
  });
});

describe('an incremental resource', () => {
  const document: ApiDocument = {
    baseUrl: 'https://api.test',
    resources: [
      {
        name: 'changes',
        primaryKey: 'id',
        endpoint: {
          path: '/changes',
          params: { since: '{incremental.startValue}' },
          incremental: { cursorPath: 'at', initialValue: 0 },
          paginator: { type: 'pageNumber', totalPagesPath: '$.pages' },
        },
      },
    ],
  };
  function server(rows: { id: number; at: number }[], failing: number[] = []) {
    const asked: string[] = [];
    return {
      asked,
      answer({ url }: { url: string }) {
        const { searchParams } = new URL(url);
        asked.push(searchParams.get('since')!);
        const page = Number(searchParams.get('page'));
        if (failing.includes(page)) return { status: 404 };
        const list = rows.filter((row) => row.at >= Number(searchParams.get('since')));
        return { body: { pages: Math.ceil(list.length / 2), data: list.slice((page - 1) * 2, page * 2) } };
      },
    };
  }
  const rows = [1, 5, 3, 4, 2].map((at) => ({ id: at, at }));

  test('begins where the run before ended', async () => {
    const values = memoryValues();
    const first = server(rows);
    const played = await playCrawl(document, { answer: first.answer, values });
    expect(played.records.changes).toHaveLength(5);
    expect(played.finished[0]!.increment).toEqual({ from: 0, to: 5, held: null });
    const next = memoryValues();
    next.all.set('increment/changes', values.all.get('increment/changes'));
    const second = server([...rows, { id: 6, at: 7 }]);
    const again = await playCrawl(document, { answer: second.answer, values: next });
    expect(second.asked[0]).toBe('5');
    expect(again.records.changes!.map(({ id }) => id)).toEqual([5, 6]);
    expect(again.finished[0]!.increment).toEqual({ from: 5, to: 7, held: null });
  });

  test('stays where it is while one of its requests has failed', async () => {
    const values = memoryValues();
    const played = await playCrawl(document, { answer: server(rows, [2]).answer, values });
    expect(played.failures).toHaveLength(1);
    expect(played.finished[0]!.increment).toEqual({ from: 0, to: 0, held: 'requests of changes have failed' });
    expect(values.all.has('increment/changes')).toBe(false);
  });

  test('stays where it is after a sample', async () => {
    const values = memoryValues();
    await playCrawl(document, { answer: server(rows).answer, values, samplePages: 2 });
    expect(values.all.has('increment/changes')).toBe(false);
  });

  test('drops what is older, where the server ignores the parameter', async () => {
    const values = memoryValues();
    values.all.set('increment/changes', { value: 3 });
    const played = await playCrawl(document, { values, answer: () => ({ body: { pages: 1, data: rows } }) });
    expect(played.records.changes!.map(({ at }) => at)).toEqual([5, 3, 4]);
    expect(played.finished[0]!.records.outside).toBe(2);
  });
});

describe('a conditional request', () => {
  test.each([
    [200, { etag: '"a"' }, { 'if-none-match': '"a"' }],
    [200, { etag: 'W/"a"', 'last-modified': 'Mon' }, { 'if-none-match': 'W/"a"', 'if-modified-since': 'Mon' }],
    [200, { etag: 'unquoted', 'last-modified': 'Mon' }, { 'if-modified-since': 'Mon' }],
  ])('after %i with %j asks %j', (status, headers, expected) => {
    expect(conditionalHeaders(validatorsOf(status, headers)!)).toEqual(expected);
  });

  test.each([
    [200, {}],
    [201, { etag: '"a"' }],
    [200, { etag: '"a"', 'cache-control': 'private, no-store' }],
    [200, { etag: 'unquoted' }],
  ])('is not made after %i with %j', (status, headers) => {
    expect(validatorsOf(status, headers)).toBeNull();
  });

  test('is not made where the request brings its own conditions', () => {
    expect(conditionalHeaders({ etag: '"a"', lastModified: null }, { 'if-none-match': '*' })).toEqual({});
  });

  test('of a 304 freshens the kept headers, but for those that speak of the body', () => {
    const kept = { 'content-length': '10', link: '<a>; rel=next', date: 'old' };
    expect(freshenedHeaders(kept, { date: 'new', 'content-length': '0' })).toEqual({
      'content-length': '10',
      link: '<a>; rel=next',
      date: 'new',
    });
  });
});
