import { ByteChunk } from './byte-chunk.ts';
import { closes, type JsonBytes, NOTED, opens, QUOTE } from './json-bytes.ts';
import { copyRun, endOfPlainRun, stopAt } from './plain-run.ts';
import { DamagedRecordError } from './rows.ts';

/** How text becomes a cell. */
export type CellRules = {
  delimiter: string;
  /** Text that a spreadsheet would run as a formula gets a ' before it. */
  escapeFormulas: boolean;
};

const FIRST_BYTES = 16 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const FIRST_OF_BOM = 0xef;
const NO_STOP = stopAt(null);

// What a letter after a backslash stands for; 0 = a code in digits, or damage.
const UNESCAPED = new Uint8Array(256);
for (const letter of '"\\/bfnrt') UNESCAPED[letter.charCodeAt(0)] = JSON.parse(`"\\${letter}"`).charCodeAt(0);

/** Cells that CSV writes otherwise than JSON does, one after the other; each ends at `chunk.at`. */
export class RewrittenCells {
  readonly chunk = new ByteChunk(FIRST_BYTES);
  readonly #escapeFormulas: boolean;
  readonly #delimiter: number;
  readonly #needsQuotes: RegExp;
  #stringEnd = 0;

  constructor({ delimiter, escapeFormulas }: CellRules) {
    this.#escapeFormulas = escapeFormulas;
    // Of one beyond ASCII the first byte is looked for: a few cells more are quoted than need be.
    this.#delimiter = Buffer.from(delimiter)[0] as number;
    // A file that begins with U+FEFF would seem to have a byte order mark.
    this.#needsQuotes = new RegExp(`^\\ufeff|["\\r\\n${delimiter.replace(/[\\\]^-]/, '\\$&')}]`);
  }

  /** @returns the text as a cell */
  cellOf(text: string): string {
    if (text === '') return '""';
    const safe = this.#escapeFormulas && startsFormula(text.charCodeAt(0)) ? `'${text}` : text;
    return this.#needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  /** @returns whether a text without an escape has to be rewritten all the same. @param first its first byte */
  isFormula(first: number): boolean {
    return this.#escapeFormulas && startsFormula(first);
  }

  /**
   * A string of a record that has just been scanned.
   * @param start its opening quote @param end its closing one
   * @returns where the cell begins
   */
  text(source: JsonBytes, start: number, end: number): number {
    const { chunk } = this;
    // At most every byte is doubled, and there are two quotes and a '.
    chunk.reserve(2 * (end - start) + 1);
    if (!this.#escapeFormulas && source.bytes[start + 1] !== FIRST_OF_BOM) {
      const cell = this.#unescape(source, start, end);
      if (cell >= 0) return cell;
    }
    const cell = chunk.at;
    chunk.writeText(this.cellOf(source.string(start, end)));
    return cell;
  }

  // -1: there is an escape that only a parser knows.
  #unescape({ view, bytes, marksSeen }: JsonBytes, start: number, end: number): number {
    const { chunk } = this;
    const cell = chunk.at;
    let isQuoted = (marksSeen & NOTED) !== 0;
    // The first byte is for a quote.
    let at = cell + 1;
    for (let from = start + 1; ; ) {
      const stop = endOfPlainRun(view, from, NO_STOP);
      at = copyRun(view, from, stop, chunk.view, at);
      if (stop === end) break;
      const byte = UNESCAPED[bytes[stop + 1] as number] as number;
      if (byte === 0) return -1;
      if (byte === QUOTE) chunk.bytes[at++] = QUOTE;
      chunk.bytes[at++] = byte;
      isQuoted ||= byte === QUOTE || byte === LF || byte === CR || byte === this.#delimiter;
      from = stop + 2;
    }
    if (isQuoted) {
      chunk.bytes[cell] = QUOTE;
      chunk.bytes[at++] = QUOTE;
    }
    chunk.at = at;
    return isQuoted ? cell : cell + 1;
  }

  /**
   * An array or object of a record; one that can be written as it stands is not.
   * @param start its opening bracket or brace
   * @returns the place after its end
   */
  nested(source: JsonBytes, start: number): number {
    const { chunk } = this;
    const { bytes } = source;
    chunk.reserve(2 * (source.length - start) + 2);
    let isQuoted = false;
    let depth = 0;
    let at = chunk.at;
    chunk.bytes[at++] = QUOTE;
    for (let place = start; ; place++) {
      const byte = bytes[place] as number;
      if (byte === QUOTE) {
        at = this.#doubled(source, place, at);
        place = this.#stringEnd;
        isQuoted = true;
        continue;
      }
      chunk.bytes[at++] = byte;
      if (byte === this.#delimiter || byte === LF || byte === CR) isQuoted = true;
      if (opens(byte)) depth++;
      else if (closes(byte) && --depth === 0) {
        if (isQuoted) {
          chunk.bytes[at++] = QUOTE;
          chunk.at = at;
        }
        return place + 1;
      } else if (byte === 0) throw new DamagedRecordError(start);
    }
  }

  // A string with its quotes, every quote doubled; #stringEnd is then its closing one.
  #doubled({ view, bytes }: JsonBytes, start: number, targetAt: number): number {
    const { chunk } = this;
    const target = chunk.bytes;
    let at = targetAt;
    target[at++] = QUOTE;
    target[at++] = QUOTE;
    for (let from = start + 1; ; ) {
      const stop = endOfPlainRun(view, from, NO_STOP);
      at = copyRun(view, from, stop, chunk.view, at);
      const byte = bytes[stop] as number;
      if (byte < 0x20) throw new DamagedRecordError(stop);
      target[at++] = byte;
      if (byte === QUOTE) {
        target[at++] = QUOTE;
        this.#stringEnd = stop;
        return at;
      }
      const escaped = bytes[stop + 1] as number;
      target[at++] = escaped;
      if (escaped === QUOTE) target[at++] = QUOTE;
      from = stop + 2;
    }
  }
}

/** @see OWASP, CSV injection: = + - @ tab and carriage return */
function startsFormula(code: number): boolean {
  return code === 0x3d || code === 0x2b || code === 0x2d || code === 0x40 || code === 0x09 || code === 0x0d;
}
