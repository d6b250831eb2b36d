import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { guessDelimiter, splitCsvRecord } from '../../../src/queue/sources/csv-record.ts';

describe('splitCsvRecord', () => {
  test('splits as csv-parse does whatever follows RFC 4180', () => {
    const field = fc.oneof(fc.stringMatching(/^[a-z;\t é]{0,6}$/u), fc.stringMatching(/^[a-z",;\n ]{0,8}$/));
    const written = (value: string): string =>
      /[",\n]/.test(value) || value.length % 2 === 1 ? `"${value.replaceAll('"', '""')}"` : value;
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 6 }), (fields) => {
        const text = fields.map(written).join(',');
        fc.pre(text !== '');
        expect(splitCsvRecord(text, ',')).toEqual(fields);
        expect(parse(text, { record_delimiter: '\u0000' })).toEqual([fields]);
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ['a,b,', ['a', 'b', '']],
    ['', ['']],
    ['"a",', ['a', '']],
    ['5" disk,x', ['5" disk', 'x']],
    ['"a"b,c', ['ab', 'c']],
    ['"",x', ['', 'x']],
    ['"""",x', ['"', 'x']],
    ['"a', null],
    ['x,"a,b', null],
    ['"a""', null],
  ])('%s gives %j', (text, fields) => {
    expect(splitCsvRecord(text, ',')).toEqual(fields);
  });
});

test.each([
  ['id,name,url', ','],
  ['id;name, full;url', ';'],
  ['id\turl', '\t'],
  ['id|url', '|'],
  ['"a,b,c";url', ';'],
  ['url', ','],
])('the delimiter of %j is %j', (header, delimiter) => {
  expect(guessDelimiter(header)).toBe(delimiter);
});
