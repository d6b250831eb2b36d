import { UsageError } from '../core/errors.ts';
import { ByteChunk } from './byte-chunk.ts';
import { type ColumnPath, childPath, columnNames, REST_PATH } from './column-path.ts';
import {
  type CellKind,
  type CellVisitor,
  type ColumnNode,
  columnTree,
  LITERAL,
  NESTED,
  RecordWalker,
  STRING,
} from './column-tree.ts';
import { ESCAPES, NOTED, QUOTE } from './json-bytes.ts';
import type { RowSource } from './rows.ts';
import { UnknownColumnsError } from './unknown-columns.ts';

export type CsvOptions = {
  /** One character, neither a quote nor a line break nor part of a number. */
  delimiter: string;
  /** A byte order mark first: Excel then reads UTF-8. */
  bom: boolean;
  lineEnding: 'lf' | 'crlf';
  /** Text that a spreadsheet would run as a formula gets a ' before it. */
  escapeFormulas: boolean;
  /** Columns are a choice: values of others are left out, instead of being an error. */
  partial: boolean;
};

export const CSV_DEFAULTS: CsvOptions = {
  delimiter: ',',
  bom: false,
  lineEnding: 'lf',
  escapeFormulas: false,
  partial: false,
};

/** @throws UsageError for what could not be told from a value */
export function checkDelimiter(delimiter: string): void {
  if (!/^[^\p{L}\p{N}"'\r\n.+-]$/u.test(delimiter))
    throw new UsageError(`CSV delimiter ${JSON.stringify(delimiter)}: use one character such as , ; | or a tab`);
}

/** @returns the file in pieces of about 256 KB */
export async function* csvChunks(
  rows: RowSource,
  columns: readonly ColumnPath[],
  options: CsvOptions,
): AsyncGenerator<Uint8Array> {
  const writer = new CsvWriter(columns, options);
  for await (const batch of rows()) {
    for (const row of batch) {
      writer.add(row.json);
      if (writer.chunk.isFull) yield writer.chunk.take();
    }
  }
  yield writer.chunk.take();
}

// How a cell is written. Higher ones need more care.
const ABSENT = 0;
const BARE = 1;
const TEXT = 2;
const WRAPPED = 3;
const DOUBLED = 4;
const DECODED = 5;

/** Turns records into lines, by RFC 4180: bytes go from the record's JSON to the file's without a text in between. */
export class CsvWriter implements CellVisitor {
  readonly chunk = new ByteChunk();
  readonly #options: CsvOptions;
  readonly #walker: RecordWalker;
  readonly #delimiter: Buffer;
  readonly #lineEnding: Buffer;
  readonly #needsQuotes: RegExp;
  readonly #restColumn: number;
  readonly #columnCount: number;
  // Where each column's cell is in the record, and how it is to be written.
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #modes: Uint8Array;
  #rest: [path: ColumnPath, json: string][] = [];

  constructor(columns: readonly ColumnPath[], options: CsvOptions) {
    this.#options = options;
    this.#columnCount = columns.length;
    this.#delimiter = Buffer.from(options.delimiter);
    this.#lineEnding = Buffer.from(options.lineEnding === 'crlf' ? '\r\n' : '\n');
    // Of a delimiter beyond ASCII the first byte is looked for: a few cells more are quoted than need be.
    this.#walker = new RecordWalker(columnTree(columns), this, this.#delimiter[0]);
    // A file that begins with U+FEFF would seem to have a byte order mark.
    this.#needsQuotes = new RegExp(`^\\ufeff|["\\r\\n${options.delimiter.replace(/[\\\]^-]/, '\\$&')}]`);
    this.#restColumn = columns.indexOf(REST_PATH);
    this.#starts = new Int32Array(columns.length);
    this.#ends = new Int32Array(columns.length);
    this.#modes = new Uint8Array(columns.length);
    this.#writeHeader(columnNames(columns));
  }

  /**
   * Adds a record's line.
   * @param json its JSON text
   * @throws UnknownColumnsError when it has a column that the header has not
   */
  add(json: string): void {
    this.#modes.fill(ABSENT);
    this.#walker.walk(json);
    // At most every byte is doubled, and every cell has two quotes, a ' and a delimiter.
    this.chunk.reserve(2 * this.#walker.source.length + this.#columnCount * (this.#delimiter.length + 3) + 4);
    this.#writeCells();
    this.#writeBytes(this.#lineEnding);
  }

  cell(node: ColumnNode, kind: CellKind, start: number, end: number): void {
    const { column } = node;
    if (column < 0) {
      this.#leaveOver(node.path, start);
      return;
    }
    this.#starts[column] = start;
    this.#ends[column] = end;
    this.#modes[column] = this.#modeOf(kind, start, end);
  }

  unknownKey(parent: ColumnNode, key: string, valueStart: number): null {
    this.#leaveOver(childPath(parent.path, key), valueStart);
    return null;
  }

  #modeOf(kind: CellKind, start: number, end: number): number {
    const { source } = this.#walker;
    if (kind === STRING) {
      if (source.marksSeen & ESCAPES || (this.#options.escapeFormulas && startsFormula(source.bytes[start + 1])))
        return DECODED;
      // An empty text is written as "" so that it can be told from null. Without an escape there is neither a quote nor
      // a line break in a text: as it stands in JSON it is a quoted cell.
      return source.marksSeen & NOTED || end === start + 1 ? WRAPPED : TEXT;
    }
    if (kind === NESTED) return this.#hasSpecial(start, end) ? DOUBLED : BARE;
    return kind === LITERAL && source.bytes[start] === LETTER_N ? ABSENT : BARE;
  }

  #hasSpecial(start: number, end: number): boolean {
    const { bytes } = this.#walker.source;
    for (let place = start; place < end; place++)
      if (bytes[place] === QUOTE || bytes[place] === this.#delimiter[0]) return true;
    return false;
  }

  #writeCells(): void {
    const modes = this.#modes;
    // An empty line is no row to most readers.
    if (modes.length === 1 && modes[0] === ABSENT) this.chunk.writeText('""');
    for (let column = 0; column < modes.length; column++) {
      const mode = modes[column] as number;
      const start = this.#starts[column] as number;
      const end = this.#ends[column] as number;
      if (column > 0) this.#writeBytes(this.#delimiter);
      if (mode === BARE) this.#copy(start, end);
      else if (mode === TEXT) this.#copy(start + 1, end);
      else if (mode === WRAPPED) this.#copy(start, end + 1);
      else if (mode === DOUBLED) this.#copyDoubled(start, end);
      else if (mode === DECODED) this.chunk.writeText(this.#cellText(this.#walker.source.string(start, end)));
    }
    if (this.#rest.length > 0) this.#writeRest();
  }

  #copy(start: number, end: number): void {
    const { bytes } = this.#walker.source;
    const { chunk } = this;
    const target = chunk.bytes;
    let { at } = chunk;
    if (end - start > LONG_CELL) at += bytes.copy(target, at, start, end);
    else for (let place = start; place < end; place++) target[at++] = bytes[place] as number;
    chunk.at = at;
  }

  // JSON text of an array.
  #copyDoubled(start: number, end: number): void {
    const { bytes } = this.#walker.source;
    const target = this.chunk.bytes;
    let { at } = this.chunk;
    target[at++] = QUOTE;
    for (let place = start; place < end; place++) {
      const byte = bytes[place] as number;
      if (byte === QUOTE) target[at++] = QUOTE;
      target[at++] = byte;
    }
    target[at++] = QUOTE;
    this.chunk.at = at;
  }

  #writeBytes(bytes: Uint8Array): void {
    const { chunk } = this;
    const target = chunk.bytes;
    let { at } = chunk;
    for (let index = 0; index < bytes.length; index++) target[at++] = bytes[index] as number;
    chunk.at = at;
  }

  #writeHeader(names: readonly string[]): void {
    const cells = names.map((name) => this.#cellText(name)).join(this.#options.delimiter);
    this.chunk.writeText((this.#options.bom ? '\ufeff' : '') + cells);
    this.chunk.writeText(this.#lineEnding.toString());
  }

  #cellText(text: string): string {
    if (text === '') return '""';
    const safe = this.#options.escapeFormulas && startsFormula(text.charCodeAt(0)) ? `'${text}` : text;
    return this.#needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  #leaveOver(path: ColumnPath, start: number): void {
    const { source } = this.#walker;
    if (this.#restColumn >= 0) this.#rest.push([path, source.text(start, source.endOfValue(start))]);
    else if (!this.#options.partial) throw new UnknownColumnsError(path);
  }

  // It is the last column.
  #writeRest(): void {
    const members = this.#rest.map(([path, json]) => `${JSON.stringify(path)}:${json}`);
    this.chunk.writeText(this.#cellText(`{${members.join(',')}}`));
    this.#rest = [];
  }
}

// From here on a native copy is faster than a loop.
const LONG_CELL = 64;
const LETTER_N = 0x6e;

/** @see OWASP, CSV injection: = + - @ tab and carriage return */
function startsFormula(code: number | undefined): boolean {
  return code === 0x3d || code === 0x2b || code === 0x2d || code === 0x40 || code === 0x09 || code === 0x0d;
}
