import { DamagedRecordError } from './rows.ts';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;

/** @returns the place of the first character at or after `at` that is no JSON white space */
export function skipSpace(json: string, at: number): number {
  let place = at;
  for (;;) {
    const code = json.charCodeAt(place);
    if (code > 0x20) return place;
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return place;
    place++;
  }
}

/** @param at the opening quote @returns the place of the closing one */
export function endOfString(json: string, at: number): number {
  let end = json.indexOf('"', at + 1);
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  if (end < 0) throw new DamagedRecordError(at);
  return end;
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

/** @param at the first character of a number, true, false or null @returns the place after it */
export function endOfScalar(json: string, at: number): number {
  let end = at;
  for (;;) {
    const code = json.charCodeAt(end);
    // Ends at , ] } white space or the end of the text (NaN).
    if (!(code > 0x20) || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) break;
    end++;
  }
  if (end === at) throw new DamagedRecordError(at);
  return end;
}

/** @param at the opening bracket or brace @returns the place after the closing one, however deep it goes */
export function endOfNested(json: string, at: number): number {
  let depth = 0;
  for (let place = at; place < json.length; place++) {
    const code = json.charCodeAt(place);
    if (code === QUOTE) place = endOfString(json, place);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return place + 1;
  }
  throw new DamagedRecordError(at);
}

/** @returns the place after the value that begins at `at` */
export function endOfValue(json: string, at: number): number {
  const code = json.charCodeAt(at);
  if (code === QUOTE) return endOfString(json, at) + 1;
  return code === OPEN_BRACE || code === OPEN_BRACKET ? endOfNested(json, at) : endOfScalar(json, at);
}

/** @returns the text of a string, its quotes at `start` and `end` */
export function stringAt(json: string, start: number, end: number): string {
  const inner = json.slice(start + 1, end);
  if (!inner.includes('\\')) return inner;
  try {
    return JSON.parse(json.slice(start, end + 1)) as string;
  } catch (cause) {
    throw new DamagedRecordError(start, { cause });
  }
}

/** @returns the JSON on one line: white space between tokens is dropped, every value stays as it is written */
export function onOneLine(json: string): string {
  if (!json.includes('\n') && !json.includes('\r')) return json;
  let line = '';
  for (let at = skipSpace(json, 0); at < json.length; at = skipSpace(json, at)) {
    const end = json.charCodeAt(at) === QUOTE ? endOfString(json, at) + 1 : at + 1;
    line += json.slice(at, end);
    at = end;
  }
  return line;
}

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const ESCAPE = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)/g;

/** @returns the JSON with half characters (lone surrogates), which UTF-8 does not know, as U+FFFD: readers refuse them */
export function withoutLoneSurrogates(json: string): string {
  const wellFormed = json.toWellFormed();
  if (!SURROGATE_ESCAPE.test(wellFormed)) return wellFormed;
  return wellFormed.replaceAll(ESCAPE, (found) => (/^\\u[dD][89a-fA-F]..$/.test(found) ? '\ufffd' : found));
}
