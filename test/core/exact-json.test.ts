import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isExact, isRawJson, parseExact, stringifyExact } from '../../src/core/exact-json.ts';
import { exactNumber } from '../../src/core/exact-number.ts';

const rawOf = (value: unknown): string | undefined => (isRawJson(value) ? value.rawJSON : undefined);

test.each([
  '0',
  '-0',
  '1.10',
  '1E2',
  '1e5',
  '0.1',
  '0.30000000000000004',
  '5e-324',
  '9007199254740991',
  '1e20',
  '0e999',
])('keeps %s as a number, for a double stands for it', (text) => {
  expect(parseExact(text)).toBe(Number(text));
});

test.each(['9007199254740993', '-9007199254740993', '12345678901234567890', '100000000000000000000'])(
  'makes a BigInt of the integer %s',
  (text) => {
    expect(parseExact(text)).toBe(BigInt(text));
  },
);

test.each(['1e400', '-1e400', '0.10000000000000000001', '1e-400', '9007199254740993.5', '123456789012345678e3'])(
  'keeps the digits of %s',
  (text) => {
    expect(rawOf(parseExact(text))).toBe(text);
  },
);

test('does not spend its time on a number of a million digits', () => {
  const text = '1'.repeat(1_000_000);
  const startedMs = performance.now();
  expect(rawOf(parseExact(text))).toBe(text);
  expect(performance.now() - startedMs).toBeLessThan(2000);
});

test('takes a key "__proto__" for data', () => {
  const value = parseExact('{"__proto__":{"polluted":12345678901234567890}}') as object;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(stringifyExact(value)).toBe('{"__proto__":{"polluted":12345678901234567890}}');
});

test('writes digits bare, and all else as JSON.stringify does', () => {
  expect(stringifyExact({ id: 12345678901234567890n, list: [1n, parseExact('1e400')], text: '1n' })).toBe(
    '{"id":12345678901234567890,"list":[1,1e400],"text":"1n"}',
  );
  expect(stringifyExact({ a: [1n] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(stringifyExact(undefined)).toBe('null');
  expect(stringifyExact({ a: undefined, b: Number.NaN, c: new Date(0) })).toBe(
    '{"b":null,"c":"1970-01-01T00:00:00.000Z"}',
  );
});

test('refuses a cycle, with BigInt in it or not', () => {
  const cycle: Record<string, unknown> = { id: 1n };
  cycle.self = cycle;
  expect(() => stringifyExact(cycle)).toThrow(TypeError);
});

test('what was read exactly is written as the same numbers, whatever they are', () => {
  const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,25})(?:\.\d{1,25})?(?:[eE][+-]?\d{1,3})?$/);
  fc.assert(
    fc.property(fc.array(digits), (numbers) => {
      const written = stringifyExact(parseExact(`[${numbers.join(',')}]`));
      const again = written.slice(1, -1).split(',').filter(Boolean);
      expect(again).toHaveLength(numbers.length);
      numbers.forEach((number, index) => {
        expect(sameDecimal(number, again[index]!)).toBe(true);
      });
    }),
  );
});

test('says of a double whether it stands for the digits', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const isBigInteger = !Number.isSafeInteger(value) && /^-?\d+$/.test(String(value));
      expect(isExact(String(value), value)).toBe(!isBigInteger);
    }),
  );
  expect(isExact('0.1000', 0.1)).toBe(true);
  expect(isExact('0.10000000000000000001', 0.1)).toBe(false);
});

test('exactNumber takes every form of a number, and nothing else', () => {
  for (const value of [1, 1n, parseExact('1e400')]) expect(exactNumber().parse(value)).toBe(value);
  for (const value of ['1', null, {}, { rawJSON: '1' }, Number.NaN])
    expect(exactNumber().safeParse(value).success).toBe(false);
});

/** An independent way to compare: both times a power of ten that makes them integers. */
function sameDecimal(one: string, other: string): boolean {
  const [a, b] = [scaled(one), scaled(other)];
  return a === b;
}

function scaled(number: string): bigint {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = 1100 - fraction.length + Number(exponent);
  return BigInt(whole + fraction) * 10n ** BigInt(shift);
}
