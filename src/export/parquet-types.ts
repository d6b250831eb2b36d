import { isExact } from '../core/exact-json.ts';
import { type CellKind, LITERAL, NESTED, NUMBER, STRING } from './column-tree.ts';

/**
 * text = UTF-8 as sent, or the digits of numbers that no 64-bit type holds; json = JSON text: objects, arrays, and
 * columns whose values are of several kinds.
 */
export type ParquetType = 'boolean' | 'int64' | 'double' | 'text' | 'json';

/** The kinds of values a column has had; decides its type when all have been seen. */
export class TypeGuess {
  #booleans = false;
  #texts = false;
  #nested = false;
  #numbers = false;
  #allInt64 = true;
  #allDouble = true;

  /** @param raw the value as it is written in JSON; not looked at for texts */
  see(kind: CellKind, raw: string): void {
    if (kind === STRING) this.#texts = true;
    else if (kind === NESTED) this.#nested = true;
    else if (kind === LITERAL) this.#booleans ||= raw !== 'null';
    else if (kind === NUMBER) this.#seeNumber(raw);
  }

  get type(): ParquetType {
    const kinds = [this.#booleans, this.#texts, this.#nested, this.#numbers].filter(Boolean).length;
    if (this.#nested || kinds > 1) return 'json';
    if (this.#booleans) return 'boolean';
    if (!this.#numbers) return 'text';
    if (this.#allInt64) return 'int64';
    return this.#allDouble ? 'double' : 'text';
  }

  #seeNumber(digits: string): void {
    this.#numbers = true;
    if (this.#allInt64) this.#allInt64 = fitsInt64(digits);
    if (this.#allDouble) this.#allDouble = fitsDouble(digits);
  }
}

const INT64_MAX = 2n ** 63n - 1n;

// -0 and 1.0 are none.
function fitsInt64(digits: string): boolean {
  if (!/^-?\d{1,19}$/.test(digits) || digits === '-0') return false;
  if (digits.length <= 18) return true;
  const value = BigInt(digits);
  return value <= INT64_MAX && value >= -INT64_MAX - 1n;
}

function fitsDouble(digits: string): boolean {
  // 15 digits always survive; most numbers have fewer.
  return (digits.length <= 15 && !/[eE]/.test(digits)) || isExact(digits, Number(digits));
}
