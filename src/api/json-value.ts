/** Reading parsed JSON of unknown shape. Exact numbers arrive as BigInt or as JSON.rawJSON objects. */

export type JsonObject = Record<string, unknown>;

/** @returns whether it is a JSON object: no array, no null, no exact number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** A number whose digits do not fit a double, kept as JSON.rawJSON keeps them. */
function isRawNumber(value: object): value is { rawJSON: string } {
  return Object.getPrototypeOf(value) === null && typeof (value as { rawJSON?: unknown }).rawJSON === 'string';
}

/**
 * @returns the text of a scalar as it would stand in a URL, exact numbers digit by digit; undefined for null, absent,
 *   objects and arrays
 */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'object' && value !== null && isRawNumber(value)) return value.rawJSON;
  return undefined;
}

/** @returns a count or number told as number, BigInt or digits in a string; undefined when it is none. */
export function numberIn(value: unknown): number | undefined {
  const text = scalarText(value);
  if (text === undefined || typeof value === 'boolean' || text.trim() === '') return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** @returns the own property at a dotted path ("a.b.0.c"); undefined when there is none. */
export function valueAt(value: unknown, path: string): unknown {
  if (isJsonObject(value) && Object.hasOwn(value, path)) return value[path];
  let current = value;
  for (const key of path.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as JsonObject)[key];
  }
  return current;
}

/** @returns a copy with the value set at a dotted path; objects are made where there are none. */
export function withValueAt(target: unknown, path: string, value: unknown): JsonObject {
  const [key = '', ...rest] = path.split('.');
  const copy: JsonObject = isJsonObject(target) ? { ...target } : {};
  copy[key] = rest.length === 0 ? value : withValueAt(copy[key], rest.join('.'), value);
  return copy;
}

/** @returns false for what a condition counts as no: undefined, null, false, 0, "" and an empty list or object. */
export function isTruthyJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** @returns JSON text of any parsed body, exact numbers included. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    // A BigInt is in it. A replacer costs five times as much, so only then.
    return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? rawJson(String(inner)) : inner));
  }
}

/** Parses JSON whose numbers are kept digit by digit where a double would change them, to be written out again. */
export function parseExactJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    const source = context?.source;
    return typeof value === 'number' && source !== undefined && String(value) !== source ? rawJson(source) : value;
  };
  return JSON.parse(text, keepDigits);
}

/** An exact number on its way through storage as plain JSON. */
type StoredNumber = { $exact: string };

/** @returns the value as plain JSON: exact numbers become `{$exact: "digits"}` */
export function toStored(value: unknown): unknown {
  if (typeof value === 'bigint') return { $exact: String(value) } satisfies StoredNumber;
  if (Array.isArray(value)) return value.map(toStored);
  if (typeof value !== 'object' || value === null) return value;
  if (isRawNumber(value)) return { $exact: value.rawJSON } satisfies StoredNumber;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toStored(inner)]));
}

/** Undoes toStored. */
export function fromStored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromStored);
  if (!isJsonObject(value)) return value;
  if (typeof value.$exact === 'string' && Object.keys(value).length === 1)
    return /^-?\d+$/.test(value.$exact) ? BigInt(value.$exact) : rawJson(value.$exact);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fromStored(inner)]));
}

// Part of the language since Node 22 (V8 11.4), not yet of the type library.
const rawJson = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;
