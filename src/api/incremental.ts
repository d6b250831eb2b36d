import type { IncrementalConfig } from '../config/api-schema.ts';
import { numberIn, scalarText, valueAt } from './json-value.ts';
import { compileSelector } from './selector.ts';

/** A cursor value as it is stored: text, or a number where it is one. */
export type CursorValue = string | number;

/** Where a resource's last finished run ended. */
export type IncrementalState = { value: CursorValue };

/** One run's window over a resource: from where the last one ended. */
export type IncrementalWindow = {
  startValue: CursorValue;
  /** @returns whether a record is in [startValue, endValue): older ones come where a server ignores the parameter */
  includes(record: unknown): boolean;
  /** @returns the larger of a value and that of a record; null = none yet */
  advance(value: CursorValue | null, record: unknown): CursorValue | null;
  /** A window with an end is a backfill: the state stays where it is. */
  readonly movesState: boolean;
};

/**
 * Opens a run's window. The start is included: a record with the very value the last run ended at may come again
 * (at least once), none is missed.
 * @param state null = no run before
 * @throws SelectorSyntaxError
 */
export function openWindow(config: IncrementalConfig, state: IncrementalState | null): IncrementalWindow {
  const read = fieldReader(config.cursorPath);
  const startValue = state?.value ?? config.initialValue;
  return {
    startValue,
    includes(record) {
      const value = read(record);
      if (value === null) return true;
      if (compareCursors(value, startValue) < 0) return false;
      return config.endValue === undefined || compareCursors(value, config.endValue) < 0;
    },
    advance: (value, record) => laterCursor(value, read(record)),
    movesState: config.endValue === undefined,
  };
}

/** A record without the value is kept: leaving it out would lose it for good. */
function fieldReader(path: string): (record: unknown) => CursorValue | null {
  const selector = path.startsWith('$') ? compileSelector(path) : null;
  return (record) => {
    const value = selector === null ? valueAt(record, path) : selector.first(record);
    if (typeof value === 'boolean') return null;
    return typeof value === 'number' ? value : (scalarText(value) ?? null);
  };
}

/** @returns the later of two; null = none */
export function laterCursor(a: CursorValue | null, b: CursorValue | null): CursorValue | null {
  if (a === null || b === null) return a ?? b;
  return compareCursors(a, b) >= 0 ? a : b;
}

/**
 * Compares numbers as numbers, times of any offset as instants, all else as text.
 * @returns < 0, 0 or > 0
 */
export function compareCursors(a: CursorValue, b: CursorValue): number {
  return compareNumbers(a, b) ?? compareInstants(a, b) ?? compareTexts(String(a), String(b));
}

function compareNumbers(a: CursorValue, b: CursorValue): number | null {
  const [left, right] = [numberIn(a), numberIn(b)];
  if (left === undefined || right === undefined) return null;
  const areExact = Number.isSafeInteger(left) && Number.isSafeInteger(right);
  return areExact || !isDigits(a) || !isDigits(b) ? left - right : Number(BigInt(a) - BigInt(b));
}

function isDigits(value: CursorValue): boolean {
  return /^-?\d+$/.test(String(value));
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

function compareInstants(a: CursorValue, b: CursorValue): number | null {
  const [left, right] = [String(a), String(b)];
  if (!ISO_TIME.test(left) || !ISO_TIME.test(right)) return null;
  const difference = Date.parse(left) - Date.parse(right);
  // Equal to the millisecond: microseconds, where written the same way, decide.
  return difference === 0 && left.length === right.length ? compareTexts(left, right) : difference;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
