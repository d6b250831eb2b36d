import { isRawJson, type RawJson } from '../../../src/core/exact-json.ts';

/** A cell as the value table has it: null = empty. Written by other means than the exporter, to check it. */
export type Cell = string | null;

type Json = null | boolean | string | object;

/** @returns the flat cells of a record, keyed by the list of keys as JSON: an unambiguous name */
export function referenceCells(json: string): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  flatten(parseKeepingDigits(json) as Json, [], cells);
  return cells;
}

function flatten(value: Json, keys: readonly string[], cells: Map<string, Cell>): void {
  const isParent = typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
  if (isParent && Object.keys(value).length > 0 && keys.length < 32) {
    for (const [key, child] of Object.entries(value)) flatten(child as Json, [...keys, key], cells);
  } else cells.set(JSON.stringify(keys), cellText(value));
}

function cellText(value: Json): Cell {
  if (value === null) return null;
  // UTF-8 has no lone surrogates.
  if (typeof value === 'string') return value.toWellFormed();
  return stringify(value);
}

type JsonWithSource = {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawJson;
};

/** Every number comes as a rawJSON object: its digits as they are written. */
export function parseKeepingDigits(json: string): unknown {
  const { parse, rawJSON } = JSON as unknown as JsonWithSource;
  return parse(json, (_key, value, { source }) => (typeof value === 'number' ? rawJSON(source ?? '') : value));
}

/** JSON text with rawJSON digits bare. */
export function stringify(value: unknown): string {
  if (isRawJson(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${stringify(item)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}
