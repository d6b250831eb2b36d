/** A number that a double cannot hold, as its digits: what `JSON.rawJSON` makes. */
export type RawJson = { readonly rawJSON: string };

type ReviverContext = { source?: string };
type ExactJson = {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
  parse(text: string, reviver: (key: string, value: unknown, context: ReviverContext) => unknown): unknown;
  stringify(value: unknown, replacer: (key: string, value: unknown) => unknown, indent?: number): string;
};

// In Node 24, but not yet in TypeScript's library: https://github.com/tc39/proposal-json-parse-with-source
const exactJson = JSON as unknown as ExactJson;

/** @returns whether it is a number kept as its digits */
export function isRawJson(value: unknown): value is RawJson {
  return exactJson.isRawJSON(value);
}

/**
 * `JSON.parse` that keeps every digit: integers beyond 2^53 come as BigInt, other numbers that a double cannot hold
 * (1e400, 0.10000000000000000001) as `JSON.rawJSON` objects. Several times slower than plain `JSON.parse`, and
 * recursive: bound the depth of foreign text first.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  return exactJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exactNumberOf(source, value) : value,
  );
}

function exactNumberOf(source: string, value: number): number | bigint | RawJson {
  if (isExact(source, value)) return value;
  return isDigits(source) && source.length <= MOST_DIGITS ? BigInt(source) : exactJson.rawJSON(source);
}

// No measure or id has more; arithmetic on millions of digits would be an attack.
const MOST_DIGITS = 1000;

function isDigits(source: string): boolean {
  return /^-?\d+$/.test(source);
}

/**
 * @param source a JSON number
 * @param value what `Number(source)` gives
 * @returns whether the double stands for these digits: the number it is written as is the same decimal
 */
export function isExact(source: string, value: number): boolean {
  if (Number.isSafeInteger(value)) return isDigits(source) || isSameDecimal(source, String(value));
  if (!Number.isFinite(value) || isDigits(source)) return false;
  // Most programs write the shortest digits that give the double back, as String does.
  const shortest = String(value);
  return shortest === source || isSameDecimal(source, shortest);
}

function isSameDecimal(one: string, other: string): boolean {
  return one.length <= MOST_DIGITS && canonical(one) === canonical(other);
}

/** @returns sign, significant digits and power of ten: equal for equal decimals */
function canonical(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  // Zero is zero, whatever its sign and power.
  if (significant === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

/**
 * `JSON.stringify` that writes BigInt and `JSON.rawJSON` digits bare: 12345678901234567890, not "12345678901234567890".
 * As fast as `JSON.stringify` where there is no BigInt.
 * @param indent spaces a level; none when left out
 * @returns "null" for what JSON cannot say at the top (undefined, a function)
 * @throws TypeError for a cycle; RangeError when nested deeper than the stack
 */
export function stringifyExact(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? 'null';
  } catch (error) {
    // A cycle throws again below.
    if (!(error instanceof TypeError)) throw error;
    return exactJson.stringify(value, bigIntAsDigits, indent) ?? 'null';
  }
}

function bigIntAsDigits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? exactJson.rawJSON(String(value)) : value;
}
