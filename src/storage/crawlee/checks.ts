/** Checks of arguments: Crawlee's callers may be plain JavaScript. All throw TypeError. */

export function checkText(value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a non-empty string`);
}

export function checkOptionalCount(value: unknown, name: string, least = 0): asserts value is number | undefined {
  const isFine = value === undefined || (Number.isInteger(value) && (value as number) >= least);
  if (!isFine) throw new TypeError(`${name} must be an integer of at least ${least}`);
}

export function checkSeconds(value: unknown, name: string): asserts value is number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError(`${name} must be a number of seconds`);
}
