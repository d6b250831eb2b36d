import { endOfPlainRun, RUN_SLACK, stopAt, viewOf } from './plain-run.ts';
import { DamagedRecordError } from './rows.ts';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const BACKSLASH = 0x5c;

/** What `endOfString` met: a backslash; the byte it was to tell of. */
export const ESCAPES = 1;
export const NOTED = 2;

const NO_STOP = stopAt(null);
const SENTINEL_BYTES = 4 + RUN_SLACK;

/**
 * One JSON text at a time as UTF-8, in a buffer that is used again. Bytes are several times faster to look at than a
 * string's characters. After the end of the text stand bytes that stop every search.
 */
export class JsonBytes {
  bytes: Buffer = Buffer.allocUnsafe(0);
  /** The same bytes, for whoever looks at several at a time. */
  view: DataView = viewOf(this.bytes);
  length = 0;
  /** Of the last string scanned: ESCAPES when it has a backslash, NOTED when it has the noted byte. */
  marksSeen = 0;
  readonly #noted: number;

  /** @param noted a byte that `endOfString` is to tell of */
  constructor(noted: number | null = null) {
    this.#noted = stopAt(noted);
    this.#allocate(16 * 1024);
  }

  load(json: string): void {
    // A UTF-16 unit takes at most three bytes.
    const most = json.length * 3 + SENTINEL_BYTES;
    if (most > this.bytes.length) this.#allocate(2 * most);
    this.length = this.bytes.write(json, 0);
    // Two zeros: a text cut off after a backslash would step over one.
    this.bytes[this.length] = 0;
    this.bytes[this.length + 1] = 0;
  }

  #allocate(byteCount: number): void {
    this.bytes = Buffer.allocUnsafe(byteCount);
    this.view = viewOf(this.bytes);
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
    const { bytes, view } = this;
    let stop = this.#noted;
    let place = at + 1;
    this.marksSeen = 0;
    for (;;) {
      place = endOfPlainRun(view, place, stop);
      const byte = bytes[place] as number;
      if (byte === QUOTE) return place;
      if (byte < 0x20) throw new DamagedRecordError(place);
      if (byte === BACKSLASH) {
        this.marksSeen |= ESCAPES;
        place += 2;
      } else {
        // Once is enough.
        this.marksSeen |= NOTED;
        stop = NO_STOP;
      }
    }
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
      else if (opens(byte)) depth++;
      else if (closes(byte)) {
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

// A bracket and a brace differ in one bit.
const BRACE_BIT = OPEN_BRACE ^ OPEN_BRACKET;

/** @returns whether the byte is [ or { */
export function opens(byte: number): boolean {
  return (byte | BRACE_BIT) === OPEN_BRACE;
}

/** @returns whether the byte is ] or } */
export function closes(byte: number): boolean {
  return (byte | BRACE_BIT) === CLOSE_BRACE;
}
