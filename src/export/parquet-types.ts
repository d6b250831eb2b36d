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

/** @returns whether a 64-bit integer holds it; -0 and 1.0 are none */
export function fitsInt64(digits: string): boolean {
  if (!/^-?\d{1,19}$/.test(digits) || digits === '-0') return false;
  if (digits.length <= 18) return true;
  const value = BigInt(digits);
  return value <= INT64_MAX && value >= -INT64_MAX - 1n;
}

/** @returns whether a double says the same number: its shortest form has the same digits */
export function fitsDouble(digits: string): boolean {
  // 15 digits always survive.
  if (digits.length <= 15 && !/[eE]/.test(digits)) return true;
  const value = Number(digits);
  return Number.isFinite(value) && plainForm(String(value)) === plainForm(digits);
}

/** Sign, digits without zeros around them, and the power of ten: equal for equal numbers. */
function plainForm(digits: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(digits) ?? [];
  const significant = (whole + fraction).replace(/^0+/, '');
  const trimmed = significant.replace(/0+$/, '');
  if (trimmed === '') return `${sign}0`;
  const power = Number(exponent) - fraction.length + significant.length - trimmed.length;
  return `${sign}${trimmed}e${power}`;
}
