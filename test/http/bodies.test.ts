import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRawJson } from '../../src/core/exact-json.ts';
import { decodeBody, InvalidJsonError, parseJsonBody, parseJsonText, readJsonBody } from '../../src/http/bodies.ts';
import { jsonErrorPosition } from '../../src/http/json-error-position.ts';
import { scanJson } from '../../src/http/json-scan.ts';

const facts = { status: 200, url: 'https://api.test/items' };
const parse = (body: string | Buffer, contentType?: string, status = 200): unknown =>
  parseJsonBody(Buffer.from(body), contentType ? { 'content-type': contentType } : {}, { ...facts, status });

function invalid(body: string | Buffer, contentType?: string): InvalidJsonError {
  try {
    parse(body, contentType);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidJsonError);
    return error as InvalidJsonError;
  }
  return expect.fail('it should have been refused');
}

test.each(['text/plain', 'application/vnd.api+json', 'text/html', 'application/octet-stream', undefined])(
  'reads JSON whatever the content type says (%s)',
  (contentType) => {
    expect(parse('{"a":[1,null,true]}', contentType)).toEqual({ a: [1, null, true] });
  },
);

test('gives the text along with the value', () => {
  expect(readJsonBody(Buffer.from(' {"a":1}'), {}, facts)).toEqual({ text: ' {"a":1}', value: { a: 1 } });
});

test('drops a byte order mark, and decodes by it', () => {
  expect(parse('\ufeff{"a":"é"}')).toEqual({ a: 'é' });
  expect(parse(Buffer.from('\ufeff{"a":"é"}', 'utf16le'))).toEqual({ a: 'é' });
  expect(parse(Buffer.from('\ufeff{"a":"é"}', 'utf16le').swap16(), 'application/json; charset=utf-8')).toEqual({
    a: 'é',
  });
});

test.each([
  ['iso-8859-1', Buffer.from('{"a":"é"}', 'latin1')],
  ['"windows-1252"', Buffer.from('{"a":"é"}', 'latin1')],
  ['UTF-16LE', Buffer.from('{"a":"é"}', 'utf16le')],
  ['utf-8', Buffer.from('{"a":"é"}')],
  ['uft-8', Buffer.from('{"a":"é"}')],
  ['nonsense;', Buffer.from('{"a":"é"}')],
])('decodes by the charset %s, and unknown ones as UTF-8', (charset, body) => {
  expect(parse(body, `application/json; charset=${charset}`)).toEqual({ a: 'é' });
});

test('shows bytes that are not valid as U+FFFD', () => {
  expect(decodeBody(Buffer.from([0x61, 0xff]), {})).toBe('a\ufffd');
});

test.each([
  ['lines', '{"a":1}\n{"a":2}\n'],
  ['lines with CR and blank ones', '{"a":1}\r\n\r\n{"a":2}'],
  ['values side by side', '{"a":1}{"a":2}'],
  ['values over many lines', '{\n "a": 1\n}\n{\n "a": 2\n}'],
  ['record separators', '\u001e{"a":1}\n\u001e{"a":2}\n'],
])('reads %s as a list', (_name, body) => {
  expect(parse(body, 'application/json')).toEqual([{ a: 1 }, { a: 2 }]);
});

test('reads values of every kind side by side', () => {
  expect(parse('1 "a b" [2]null{"c":"}{"}')).toEqual([1, 'a b', [2], null, { c: '}{' }]);
});

test.each(['application/x-ndjson', 'application/jsonl; charset=utf-8', 'application/json-seq', 'text/x-ndjson'])(
  'makes a list of a single line of %s',
  (contentType) => {
    expect(parse('{"a":1}\n', contentType)).toEqual([{ a: 1 }]);
    expect(parse('', contentType)).toEqual([]);
  },
);

test('reads an empty body with 204 and 205 as null, and refuses it otherwise', () => {
  expect(parse('', undefined, 204)).toBeNull();
  expect(parse(' \n', undefined, 205)).toBeNull();
  expect(invalid('').message).toContain('it is empty');
});

test('keeps every digit, in single values and in lists', () => {
  expect(parse('{"id":12345678901234567890,"n":1.5}')).toEqual({ id: 12345678901234567890n, n: 1.5 });
  const [first, second] = parse('{"n":1e400}\n{"n":-9007199254740993}') as { n: unknown }[];
  expect(isRawJson(first!.n)).toBe(true);
  expect(second!.n).toBe(-9007199254740993n);
});

test('scans numbers outside of strings only, and takes those that a double holds for exact', () => {
  const hasInexact = (text: string): boolean => scanJson(Buffer.from(text)).hasInexactNumber;
  expect(hasInexact('{"12345678901234567890":"12345678901234567890 \\" 1e400"}')).toBe(false);
  expect(hasInexact('[0.30000000000000004, 52.520008, -1e-7, 1E+20, 9007199254740991]')).toBe(false);
  expect(hasInexact('[1, -12345678901234567890]')).toBe(true);
  expect(hasInexact('{"a":[1e400]}')).toBe(true);
  expect(hasInexact('0.10000000000000000001')).toBe(true);
  expect(hasInexact('12345678901234567890')).toBe(true);
});

test('takes a key "__proto__" for data', () => {
  const value = parse('{"__proto__":{"admin":true},"id":12345678901234567890}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(['__proto__', 'id']);
  expect(value.admin).toBeUndefined();
});

test('refuses what is nested too deep, typed, and without overflowing', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(parse(nested(1000))).toBeInstanceOf(Array);
  expect(invalid(nested(1001)).reason).toBe('nested deeper than 1000 levels');
  expect(invalid(nested(2_000_000)).code).toBe('INVALID_JSON');
  expect(invalid('{"a":['.repeat(500_000)).code).toBe('INVALID_JSON');
  const bracketsInText = `{"a":"${'['.repeat(5000)}","n":${nested(999).replace('[]', '[1e400]')}}`;
  expect(parse(bracketsInText)).toHaveProperty('n');
});

test.each([
  ['{"a":1', 6, "Expected ',' or '}' after property value"],
  ['[1,2,,3]', 5, 'unexpected ","'],
  ['{"a": nope}', 6, 'unexpected "nope"'],
  ['[01]', 2, 'Unexpected number'],
  ['{"a" 1}', 5, "Expected ':' after property name"],
  ['[1 2]', 3, "Expected ',' or ']' after array element"],
  ['[}', 1, 'unexpected "}"'],
  ['["a":1]', 4, "Expected ',' or ']' after array element"],
  ['{"a":tru', 5, 'unexpected "tru"'],
  ['[1,', 3, 'it breaks off'],
  ["{'a':1}", 1, "Expected property name or '}'"],
  ['{"a":1}}', 7, 'unexpected "}"'],
  ['{"a":1}\n{"a":', 13, 'it breaks off'],
  ['oops', 0, 'unexpected "oops"'],
  ['{"a":"x\ny"}', 7, 'Bad control character in string literal'],
])('says what is wrong with %j, and where', (body, position, reason) => {
  const error = invalid(body);
  expect(error.reason).toBe(reason);
  expect(error.position).toBe(position);
  expect(error.message).toContain(facts.url);
  expect(error.recovery).toBe('skip');
});

test.each([
  ['', 'it is empty'],
  ['<!doctype html><title>Sign in</title>', 'it is an HTML page titled "Sign in"'],
])('names no place where all of %j is something else', (body, reason) => {
  const error = invalid(body);
  expect([error.reason, error.position]).toEqual([reason, null]);
  expect(error.message).toBe(`${facts.url}: the body is not JSON: ${reason}${body && `: ${body}`}`);
});

test('finds no fault in valid JSON', () => {
  fc.assert(fc.property(fc.json(), (text) => void expect(jsonErrorPosition(text)).toBe(text.length)));
});

test('finds the fault of a spoilt document at or before the place that was spoilt', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, seed) => {
      const at = seed % (text.length + 1);
      const spoilt = `${text.slice(0, at)}\u0001${text.slice(at)}`;
      expect(jsonErrorPosition(spoilt)).toBeLessThanOrEqual(spoilt.length);
      expect(() => parse(spoilt)).toThrow(InvalidJsonError);
    }),
  );
});

test('says which line of NDJSON is broken', () => {
  const error = invalid('{"a":1}\n{"a":2}\n{"a":}\n', 'application/x-ndjson');
  expect(error.position).toBe(21);
});

test('shows at most 200 characters, those around the position', () => {
  const error = invalid(`[${'1,'.repeat(1000)}x${',1'.repeat(1000)}]`);
  expect(error.excerpt).toHaveLength(200);
  expect(error.excerpt).toContain('1,x,1');
});

test.each([
  ['<!DOCTYPE html><html><head><title>Sign in</title></head></html>', 'it is an HTML page titled "Sign in"'],
  ['<!-- proxy -->\n <html><body>Not found</body></html>', 'it is an HTML page'],
])('calls an HTML page by its name (%#)', (body, reason) => {
  const error = invalid(body, 'application/json');
  expect(error.reason).toBe(reason);
  expect(error.message).toContain('HTML');
});

test('does not take XML for HTML', () => {
  expect(invalid('<?xml version="1.0"?><error/>').reason).toBe('unexpected "<"');
});

test('parses text that was decoded before', () => {
  expect(parseJsonText('{"id":12345678901234567890}', facts)).toEqual({ id: 12345678901234567890n });
  expect(parseJsonText('1', { ...facts, contentType: 'application/x-ndjson' })).toEqual([1]);
});
