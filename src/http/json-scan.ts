import { isExact } from '../core/exact-json.ts';

/** What there is to know of JSON text before it is parsed. */
export type JsonScan = {
  /** Deepest nesting of arrays and objects. */
  depth: number;
  /** Has a number that a double cannot hold. */
  hasInexactNumber: boolean;
};

const PLAIN = 0;
const QUOTE = 1;
const OPEN = 2;
const CLOSE = 3;
const DIGIT = 4;
const NUMBER_PART = 5;
const BACKSLASH = 0x5c;
const QUOTE_MARK = 0x22;

/** What each byte is, outside of strings. */
const KINDS = kindsOfBytes();

function kindsOfBytes(): Uint8Array {
  const kinds = new Uint8Array(256);
  const classes = { '"': QUOTE, '[{': OPEN, ']}': CLOSE, '0123456789': DIGIT, '.eE+-': NUMBER_PART };
  for (const [characters, kind] of Object.entries(classes)) {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  }
  return kinds;
}

/**
 * One pass over JSON in UTF-8, outside of its strings: about a quarter of what parsing it takes. Never throws: what is
 * not JSON gives some answer, and its error when it is parsed.
 */
export function scanJson(json: Buffer): JsonScan {
  const { length } = json;
  let depth = 0;
  let deepest = 0;
  let hasInexactNumber = false;
  for (let index = 0; index < length; index += 1) {
    const kind = KINDS[json[index]!]!;
    if (kind === PLAIN || kind === NUMBER_PART) continue;
    if (kind === QUOTE) {
      index = endOfString(json, index);
    } else if (kind === OPEN) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (kind === CLOSE) {
      depth -= 1;
    } else {
      const end = endOfNumber(json, index);
      hasInexactNumber ||= mayBeInexact(json, index, end) && isInexact(json, index, end);
      index = end - 1;
    }
  }
  return { depth: deepest, hasInexactNumber };
}

/** @returns the index of the closing quote, or the end */
function endOfString(json: Buffer, start: number): number {
  const { length } = json;
  for (let index = start + 1; index < length; index += 1) {
    const byte = json[index];
    if (byte === QUOTE_MARK) return index;
    if (byte === BACKSLASH) index += 1;
  }
  return length;
}

function endOfNumber(json: Buffer, start: number): number {
  let index = start + 1;
  while (index < json.length && KINDS[json[index]!]! >= DIGIT) index += 1;
  return index;
}

// A decimal of at most 15 significant digits survives a double (IEEE 754: DBL_DIG), unless its power has three digits.
const LONGEST_SAFE_TOKEN = 15;
const LOWER_E = 0x65;
// ASCII upper and lower case differ in this bit.
const CASE_BIT = 0x20;

function mayBeInexact(json: Buffer, start: number, end: number): boolean {
  if (end - start > LONGEST_SAFE_TOKEN) return true;
  for (let index = end - 4; index > start; index -= 1) if ((json[index]! | CASE_BIT) === LOWER_E) return true;
  return false;
}

function isInexact(json: Buffer, start: number, end: number): boolean {
  const token = json.toString('latin1', start, end);
  const value = Number(token);
  return !Number.isNaN(value) && !isExact(token, value);
}
