import { DamagedRecordError } from './rows.ts';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;

/** What a byte of a string is to whoever scans it; all others are plain (0). */
const ENDS = 1;
export const ESCAPES = 2;
const FORBIDDEN = 4;
/** It is the byte the scanner wants to be told of. */
export const NOTED = 8;

function stringMarks(noted: number | null): Uint8Array {
  const marks = new Uint8Array(256);
  if (noted !== null) marks[noted] = NOTED;
  // Control characters are escaped in JSON; 0 also stands after the last byte of a text.
  marks.fill(FORBIDDEN, 0, 0x20);
  marks[QUOTE] = ENDS;
  marks[BACKSLASH] = ESCAPES;
  return marks;
}

// A native search costs as much as looking at so many bytes one by one.
const SHORT_STRING = 32;
const SENTINELS = 5;

/**
 * One JSON text at a time as UTF-8, in a buffer that is used again. Bytes are several times faster to look at than a
 * string's characters. After the end of the text stand bytes that stop every search.
 */
export class JsonBytes {
  bytes: Buffer = Buffer.allocUnsafe(16 * 1024);
  length = 0;
  /** Of the last string scanned: ESCAPES when it has a backslash, NOTED when it has the noted byte. */
  marksSeen = 0;
  readonly #noted: number | null;
  readonly #marks: Uint8Array;
  #isSearchable = true;
  // The next backslash: most records have few, and then one search does for many strings.
  #backslash = -1;

  /** @param noted a byte that `endOfString` is to tell of */
  constructor(noted: number | null = null) {
    this.#noted = noted;
    this.#marks = stringMarks(noted);
  }

  load(json: string): void {
    // A UTF-16 unit takes at most three bytes.
    const most = json.length * 3 + SENTINELS;
    if (most > this.bytes.length) this.bytes = Buffer.allocUnsafe(2 * most);
    this.length = this.bytes.write(json, 0);
    // Two zeros: a text cut off after a backslash would step over one.
    this.bytes[this.length] = 0;
    this.bytes[this.length + 1] = 0;
    this.bytes[this.length + 2] = BACKSLASH;
    this.bytes[this.length + 3] = QUOTE;
    this.bytes[this.length + 4] = this.#noted ?? 0;
    this.#backslash = -1;
    // A line break is white space, or damage within a string: only looking at every byte tells.
    this.#isSearchable = !json.includes('\n') && !json.includes('\r');
  }

  /** @returns the place of the first byte at or after `at` that is no JSON white space */
  skipSpace(at: number): number {
    const { bytes } = this;
    let place = at;
    for (;;) {
      const byte = bytes[place] as number;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return place;
      place++;
    }
  }

  /** @param at the opening quote @returns the place of the closing one; sets marksSeen */
  endOfString(at: number): number {
    const { bytes } = this;
    const marks = this.#marks;
    let searchAt = this.#isSearchable ? at + SHORT_STRING : Number.POSITIVE_INFINITY;
    let place = at + 1;
    let seen = 0;
    for (;;) {
      const mark = marks[bytes[place] as number] as number;
      if (mark !== 0) {
        seen |= mark;
        if (mark === ENDS) break;
        if (mark === FORBIDDEN) throw new DamagedRecordError(place);
        if (mark === ESCAPES) place++;
      } else if (place >= searchAt) {
        const end = this.#endWithoutEscape(place);
        if (end >= 0) {
          this.marksSeen = seen | (this.#hasNoted(place, end) ? NOTED : 0);
          return end;
        }
        searchAt = Number.POSITIVE_INFINITY;
      }
      place++;
    }
    this.marksSeen = seen;
    return place;
  }

  /** @returns the place of the closing quote; -1 when a backslash stands before it, or there is none */
  #endWithoutEscape(from: number): number {
    const { bytes } = this;
    const quote = bytes.indexOf(QUOTE, from);
    if (this.#backslash < from) this.#backslash = bytes.indexOf(BACKSLASH, from);
    return quote < this.#backslash && quote < this.length ? quote : -1;
  }

  #hasNoted(from: number, end: number): boolean {
    if (this.#noted === null) return false;
    return this.bytes.indexOf(this.#noted, from) < end;
  }

  /** @param at the first byte of a number, true, false or null @returns the place after it */
  endOfScalar(at: number): number {
    const { bytes } = this;
    let end = at;
    for (;;) {
      const byte = bytes[end] as number;
      if (byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) break;
      end++;
    }
    if (end === at) throw new DamagedRecordError(at);
    return end;
  }

  /** @param at the opening bracket or brace @returns the place after the closing one, however deep it goes */
  endOfNested(at: number): number {
    const { bytes } = this;
    let depth = 0;
    for (let place = at; ; place++) {
      const byte = bytes[place] as number;
      if (byte === QUOTE) place = this.endOfString(place);
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (--depth === 0) return place + 1;
      } else if (byte === 0) throw new DamagedRecordError(at);
    }
  }

  /** @returns the place after the value that begins at `at` */
  endOfValue(at: number): number {
    const byte = this.bytes[at] as number;
    if (byte === QUOTE) return this.endOfString(at) + 1;
    return byte === OPEN_BRACE || byte === OPEN_BRACKET ? this.endOfNested(at) : this.endOfScalar(at);
  }

  /** @returns what is written from `start` to `end`, exclusive */
  text(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }

  /** @returns the text of a string, its quotes at `start` and `end` */
  string(start: number, end: number): string {
    const { bytes } = this;
    let place = start + 1;
    while (place < end && bytes[place] !== BACKSLASH) place++;
    if (place === end) return this.text(start + 1, end);
    try {
      return JSON.parse(this.text(start, end + 1)) as string;
    } catch (cause) {
      throw new DamagedRecordError(start, { cause });
    }
  }
}
