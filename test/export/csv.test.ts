import { describe, expect, test } from 'vitest';
import { CSV_DEFAULTS, type CsvOptions, csvChunks } from '../../src/export/csv.ts';
import { ColumnTracker } from '../../src/export/flatten.ts';
import { DamagedRecordError } from '../../src/export/rows.ts';
import { UnknownColumnsError } from '../../src/export/unknown-columns.ts';
import { columnsOfAll, rowsOf, textOf } from './support/rows.ts';

function csvOf(jsons: readonly string[], options: Partial<CsvOptions> = {}, columns = columnsOfAll(jsons)) {
  return textOf(csvChunks(rowsOf(jsons), columns, { ...CSV_DEFAULTS, ...options }));
}

describe('values', () => {
  test.each([
    ['null is empty', '{"a":null,"b":1}', ',1'],
    ['an empty text is told from null by its quotes', '{"a":"","b":1}', '"",1'],
    ['booleans are words', '{"a":true,"b":false}', 'true,false'],
    ['2^63 keeps its digits', '{"a":9223372036854775808,"b":1}', '9223372036854775808,1'],
    ['0.1 + 0.2 keeps its digits', '{"a":0.30000000000000004,"b":1}', '0.30000000000000004,1'],
    ['1e400 stays text', '{"a":1e400,"b":1}', '1e400,1'],
    ['1.10 keeps its zero', '{"a":1.10,"b":1}', '1.10,1'],
    ['a date stays as it was sent', '{"a":"2026-01-02T03:04:05.000Z","b":1}', '2026-01-02T03:04:05.000Z,1'],
    ['an array is JSON text', '{"a":[1,"x"],"b":1}', '"[1,""x""]",1'],
    ['an empty object is JSON text', '{"a":{},"b":1}', '{},1'],
    ['quotes are doubled', '{"a":"say \\"hi\\"","b":1}', '"say ""hi""",1'],
    ['line breaks are kept within quotes', '{"a":"x\\r\\ny","b":1}', '"x\r\ny",1'],
    ['NUL is kept', '{"a":"x\\u0000y","b":1}', 'x\u0000y,1'],
    ['escapes are decoded', '{"a":"\\u00e9\\ud83d\\ude00\\/","b":1}', 'é😀/,1'],
  ])('%s', async (_, json, line) => {
    expect((await csvOf([json])).split('a,b\n')[1]).toBe(`${line}\n`);
  });

  test('half a character, which UTF-8 does not know, becomes U+FFFD on the disk', async () => {
    expect(Buffer.from(await csvOf(['{"a":"x\\ud800y"}'])).toString()).toBe('a\nx\ufffdy\n');
  });
});

describe('columns', () => {
  test('nested objects are a.b columns, in first-seen order over all rows', async () => {
    expect(await csvOf(['{"id":1,"b":{"y":2}}', '{"b":{"x":3,"y":4},"id":5}'])).toBe('id,b.y,b.x\n1,2,\n5,4,3\n');
  });

  test('a key with a dot and a nested key are two columns', async () => {
    expect(await csvOf(['{"a.b":1,"a":{"b":2}}'])).toBe('a.b,a.b_2\n1,2\n');
  });

  test('a key with a comma or a quote is quoted in the header', async () => {
    expect(await csvOf(['{"x,y":1,"q\\"":2}'])).toBe('"x,y","q"""\n1,2\n');
  });

  test('a value that is an object here and a scalar there has both columns', async () => {
    expect(await csvOf(['{"a":1}', '{"a":{"b":2}}', '{"a":null}'])).toBe('a,a.b\n1,\n,2\n,\n');
  });

  test('records that are no objects have the column "value"', async () => {
    expect(await csvOf(['1', '"x"', '[2]', '{}', '{"value":3}'])).toBe('value,value_2\n1,\nx,\n[2],\n{},\n,3\n');
  });

  test('a null in a table of one column is "", since an empty line is no row', async () => {
    expect(await csvOf(['{"a":null}', '{"a":1}'])).toBe('a\n""\n1\n');
  });

  test('white space between tokens, and keys written with escapes, make no difference', async () => {
    expect(await csvOf(['{"a":1,"b":{"c":"x"}}', ' {\n"\\u0061" : 2 , "b" : { "c" : "y" } } '])).toBe(
      'a,b.c\n1,x\n2,y\n',
    );
  });

  test('5,000 columns keep their places', async () => {
    const members = (from: number) => Array.from({ length: 5_000 }, (_, i) => `"k${(i + from) % 5_000}":${i}`);
    const csv = await csvOf([`{${members(0).join(',')}}`, `{${members(1).join(',')}}`]);
    const [header, first, second] = csv.split('\n');
    expect(header?.split(',')).toEqual(Array.from({ length: 5_000 }, (_, i) => `k${i}`));
    expect(first?.split(',')).toEqual(Array.from({ length: 5_000 }, (_, i) => String(i)));
    expect(second?.split(',')).toEqual(Array.from({ length: 5_000 }, (_, i) => String((i + 4_999) % 5_000)));
  });

  test('beyond 16,384 columns, the last one takes the rest as JSON: nothing is lost', async () => {
    const jsons = Array.from({ length: 20 }, (_, row) => {
      const members = Array.from({ length: 1_000 }, (_, i) => `"k${row * 1_000 + i}":{"x":${i}}`);
      return `{${members.join(',')}}`;
    });
    const tracker = new ColumnTracker();
    for (const json of jsons) tracker.add(json);
    expect(tracker.columns).toHaveLength(16_384);
    const lines = (await csvOf(jsons, { delimiter: ';' }, tracker.columns)).trimEnd().split('\n');
    expect(lines[0]?.endsWith(';k16382.x;_rest')).toBe(true);
    const rest = lines[20]?.split(';').at(-1) ?? '';
    expect(Object.keys(JSON.parse(rest.slice(1, -1).replaceAll('""', '"')))).toHaveLength(1_000);
  });

  test('an object deeper than 32 levels stays JSON text', async () => {
    const json = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
    const [header, row] = (await csvOf([json])).split('\n');
    expect(header).toBe(Array(32).fill('a').join('.'));
    expect(row).toBe(`"${`${'{"a":'.repeat(68)}1${'}'.repeat(68)}`.replaceAll('"', '""')}"`);
  });

  test('a row with a column the header lacks is an error, never a value left out in silence', async () => {
    await expect(csvOf(['{"a":1}', '{"b":2}'], {}, ['a'])).rejects.toThrow(UnknownColumnsError);
    await expect(csvOf(['{"a":{"b":1}}'], {}, ['a'])).rejects.toThrow('a.b');
  });

  test('columns that were chosen leave the others out', async () => {
    expect(await csvOf(['{"a":1,"b":{"c":2}}', '{"b":3}'], { partial: true }, ['b.c'])).toBe('b.c\n2\n""\n');
  });
});

describe('options', () => {
  test('a BOM, CRLF and another delimiter', async () => {
    expect(await csvOf(['{"a":"1;2","b":"1,2"}'], { bom: true, lineEnding: 'crlf', delimiter: ';' })).toBe(
      '\ufeffa;b\r\n"1;2";1,2\r\n',
    );
  });

  test('text that a spreadsheet would run is disarmed, numbers are not touched', async () => {
    const json = '{"=a":"=1+1","b":"-5","c":-5,"d":"@x","e":"+1","f":"\\tx","g":"a=1"}';
    expect(await csvOf([json], { escapeFormulas: true })).toBe("'=a,b,c,d,e,f,g\n'=1+1,'-5,-5,'@x,'+1,'\tx,a=1\n");
  });
});

test.each([
  '',
  '{',
  '{"a":"x\\',
  '{"a\\',
  '{"a":"x\ny"}',
  '["x\\',
  '{"b":1,',
  '{"a"}',
  '{"a":}',
  '{"a":1',
  '{"a":1,}',
  '{"a":1}x',
  '{"a":"x',
  '[1',
  '{a:1}',
  '{"a":1 "b":2}',
])('damaged record %s is an error, not a wrong row', async (json) => {
  await expect(csvOf([json], { partial: true }, ['a', 'b'])).rejects.toThrow(DamagedRecordError);
});
