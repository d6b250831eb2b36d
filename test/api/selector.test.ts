import { describe, expect, test } from 'vitest';
import { compileRecordSelector, guessRecordPath, keysThere } from '../../src/api/record-selector.ts';
import { compileSelector } from '../../src/api/selector.ts';

const body = {
  data: {
    items: [
      { id: 1, tags: ['a'] },
      { id: 2, tags: [] },
    ],
    'odd key': [{ id: 3 }],
  },
  next: null,
  count: 2,
};

describe('a selector', () => {
  test.each([
    ['$', [body]],
    ['$.data.items[*]', body.data.items],
    ['$.data.items[*].id', [1, 2]],
    ['$.data.items[-1].id', [2]],
    ["$['data']['odd key'][0]", [{ id: 3 }]],
    ['$.next', [null]],
    ['$.none', []],
    ['$.data[*][*].id', [1, 2, 3]],
    ['$..id', [1, 2, 3]],
    ['$.data.items[?@.id > 1].id', [2]],
    ['$.data.items[0:1].id', [1]],
    ['$.data.items[0,1].id', [1, 2]],
    ['$.count.x', []],
    ['$.data.items.length', []],
    ['$.constructor', []],
    ['$.data.items[5]', []],
  ])('%s', (text, expected) => {
    const selector = compileSelector(text);
    expect(selector.all(body)).toEqual(expected);
    expect(selector.first(body)).toEqual(expected[0]);
  });

  test.each([
    ['data.items', '"data.items" is no JSONPath (RFC 9535): it starts with $, as in $.data.items'],
    ['$.a[', '"$.a[" is no JSONPath (RFC 9535): unclosed bracketed selection'],
    ['$.a[?@.b ==]', '"$.a[?@.b ==]" is no JSONPath (RFC 9535): unexpected end of expression'],
  ])('%s is refused, with what is wrong', (text, message) => {
    expect(() => compileSelector(text)).toThrow(message);
  });

  test('takes exact numbers for values, not for objects', () => {
    const exact = { list: [{ id: 9007199254740993n }] };
    expect(compileSelector('$.list[*].id').all(exact)).toEqual([9007199254740993n]);
    expect(compileSelector('$.list[0].id.length').all(exact)).toEqual([]);
  });
});

describe('the records of a page', () => {
  const select = (text: string | null, page: unknown, isFirst = true) =>
    compileRecordSelector(text)(page, { isFirst, guessedPath: null });

  test.each([
    ['$.data.items[*]', body, body.data.items, 2],
    ['$.data.items', body, body.data.items, 2],
    ['$.data.items[?@.id > 1]', body, [{ id: 2, tags: [] }], 2],
    ['$.data', { data: null }, [], 0],
    ['$.data[*]', { data: null }, [], 0],
    ['$.data[*]', { data: [] }, [], 0],
    ['$.data', { data: { id: 1 } }, [{ id: 1 }], 1],
    ['$[*]', [1, 2], [{ value: 1 }, { value: 2 }], 2],
    ['$.groups[*].items', { groups: [{ items: [{ id: 1 }] }, { items: [{ id: 2 }] }] }, [{ id: 1 }, { id: 2 }], 2],
    ['$.data[?@.id > 5]', { data: [{ id: 1 }] }, [], 1],
    [null, [{ id: 1 }], [{ id: 1 }], 1],
    [null, { total: 3, results: [{ id: 1 }] }, [{ id: 1 }], 1],
    [null, { id: 7, name: 'x' }, [{ id: 7, name: 'x' }], 1],
    [null, { things: [{ id: 1 }], total: 1 }, [{ id: 1 }], 1],
    [null, { results: [] }, [], 0],
  ])('%s of %j', (text, page, records, listLength) => {
    expect(select(text, page)).toMatchObject({ records, listLength });
  });

  test('that are not there on the first page are an error that says what is there', () => {
    expect(() => select('$.item[*]', { items: [{ id: 1 }], next: 'x' })).toThrow(
      'dataSelector $.item[*] matches nothing on the first page. Lists there: $.items[*]',
    );
    expect(() => select('$.item[*]', { id: 1, next: 'x' })).toThrow('Keys there: id, next');
  });

  test('that are not there on a later page are none', () => {
    expect(select('$.item[*]', {}, false).records).toEqual([]);
  });

  test('that are one value are an error', () => {
    expect(() => select('$.next', { next: 'x' })).toThrow(
      'dataSelector $.next yields a string, not records. Keys there: next',
    );
    const envelope = { data: { rows: [{ id: 1 }], total: 20 } };
    expect(() => select('$.data[*]', envelope)).toThrow(
      'dataSelector $.data[*] yields the members of an object (rows, total), not records. Lists there: $.data.rows[*]',
    );
    const byId = { data: { a: { id: 'a' }, b: { id: 'b' } } };
    expect(select('$.data[*]', byId).records).toEqual([{ id: 'a' }, { id: 'b' }]);
  });
});

describe('guessing where the records are', () => {
  test.each([
    [[], '$[*]'],
    [{ meta: {}, data: [{}] }, '$.data[*]'],
    [{ data: { items: [{}], other: [{}] } }, '$.data.items[*]'],
    [{ errors: [{}], results: [{}] }, '$.results[*]'],
    [{ 'my list': [{}] }, "$['my list'][*]"],
    [{ tags: ['a', 'b'] }, '$'],
    [{ a: [{}], b: [{}] }, '$'],
    [{ id: 1, items: [{}] }, '$'],
    [{ name: 'x', parts: [] }, '$'],
    [{ parts: [], total: 0 }, '$.parts[*]'],
    [{ parts: [{}], name: 'x' }, '$.parts[*]'],
    ['text', '$'],
  ])('%j: %s', (page, path) => {
    expect(guessRecordPath(page)).toBe(path);
    compileSelector(path);
  });

  test('says what a body is', () => {
    expect(keysThere([])).toBe('The body is a list: $[*]');
    expect(keysThere('x')).toBe('The body is a string');
    expect(keysThere(null)).toBe('The body is null');
  });
});
