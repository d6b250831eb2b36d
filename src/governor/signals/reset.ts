import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/units.ts';
import { parseHttpDate } from './http-date.ts';
import { parseCount, type ReadContext } from './stated-limit.ts';

const EPOCH_MS_FROM = 1e12;
const EPOCH_SECONDS_FROM = 1e9;
// No API counts by more than a year; a wrong unit does.
const LONGEST_RESET_MS = 400 * DAY_MS;

const GO_UNITS_MS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
};
const GO_DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h)){1,6}$/;
const GO_PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;

/** @returns ms of a Go duration ("12ms", "1s", "6m0s"); undefined when it is none */
export function parseGoDuration(text: string): number | undefined {
  if (!GO_DURATION.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(GO_PART)) totalMs += Number(amount) * (GO_UNITS_MS[unit ?? ''] ?? 0);
  return totalMs;
}

// ISO 8601 with or without seconds, as Jira and Anthropic write it.
const ISO_DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/i;
// Date.toString() of JavaScript: "Tue May 23 2023 10:00:00 GMT+0000 (Coordinated Universal Time)".
const JS_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{4} \d{2}:\d{2}:\d{2} GMT[+-]\d{4}( \([^)]{1,60}\))?$/;

/** @returns Unix epoch ms of a date in any form seen in a reset header; undefined when it is none */
export function parseDate(text: string): number | undefined {
  if (!ISO_DATE.test(text) && !JS_DATE.test(text)) return parseHttpDate(text);
  const parsed = Date.parse(text);
  return Number.isFinite(parsed) ? parsed : undefined;
}

/**
 * Reads the time until a limit is reset, in whatever unit: epoch seconds or ms, delta seconds, a Go duration, a date.
 * @returns ms from the server's clock, > 0; undefined when it is malformed, past, zero, or over 400 days away
 */
export function parseReset(text: string | undefined, context: ReadContext): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  const number = parseCount(trimmed);
  const resetMs = number === undefined ? resetFromText(trimmed, context) : resetFromNumber(number, context);
  return resetMs !== undefined && resetMs > 0 && resetMs <= LONGEST_RESET_MS ? Math.ceil(resetMs) : undefined;
}

function resetFromNumber(value: number, { serverWallMs }: ReadContext): number {
  if (value >= EPOCH_MS_FROM) return value - serverWallMs;
  if (value >= EPOCH_SECONDS_FROM) return value * SECOND_MS - serverWallMs;
  return value * SECOND_MS;
}

function resetFromText(text: string, { serverWallMs }: ReadContext): number | undefined {
  const durationMs = parseGoDuration(text);
  if (durationMs !== undefined) return durationMs;
  const dateMs = parseDate(text);
  return dateMs === undefined ? undefined : dateMs - serverWallMs;
}
