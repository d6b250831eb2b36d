import { DamagedRecordError } from './rows.ts';

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const BACKSLASH = 0x5c;

/** What the bytes of a string are to whoever scans it; all others are plain (0). */
export const ENDS = 1;
export const ESCAPES = 2;
const FORBIDDEN = 4;
/** Free for the scanner's own use. */
export const NOTED = 8;

/** @returns a table of what every byte is within a JSON string. @param noted bytes to be told of */
export function stringMarks(noted: readonly number[] = []): Uint8Array {
  const marks = new Uint8Array(256);
  for (const byte of noted) marks[byte] = NOTED;
  // Control characters are escaped in JSON; 0 also stands after the last byte of a text.
  marks.fill(FORBIDDEN, 0, 0x20);
  marks[QUOTE] = ENDS;
  marks[BACKSLASH] = ESCAPES;
  return marks;
}

const PLAIN_MARKS = stringMarks();

/**
 * One JSON text at a time as UTF-8 in a buffer that is used again, with a 0 after its end so that scanning needs no
 * bounds. Bytes are several times faster to look at than a string's characters.
 */
export class JsonBytes {
  bytes: Buffer = Buffer.allocUnsafe(16 * 1024);
  length = 0;
  /** Of the last string scanned: which marks its bytes had. */
  marksSeen = 0;

  load(json: string): void {
    // A UTF-16 unit takes at most three bytes.
    const most = json.length * 3 + 2;
    if (most > this.bytes.length) this.bytes = Buffer.allocUnsafe(2 * most);
    this.length = this.bytes.write(json, 0);
    // Two of them: a text cut off after a backslash would step over one.
    this.bytes[this.length] = 0;
    this.bytes[this.length + 1] = 0;
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
  endOfString(at: number, marks: Uint8Array = PLAIN_MARKS): number {
    const { bytes } = this;
    let place = at + 1;
    let seen = 0;
    for (;;) {
      const mark = marks[bytes[place] as number] as number;
      if (mark !== 0) {
        seen |= mark;
        if (mark === ENDS) break;
        if (mark === FORBIDDEN) throw new DamagedRecordError(place);
        if (mark === ESCAPES) place++;
      }
      place++;
    }
    this.marksSeen = seen;
    return place;
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
