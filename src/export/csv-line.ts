import type { ByteChunk } from './byte-chunk.ts';
import { type CellRules, RewrittenCells } from './csv-rewrite.ts';
import { ESCAPES, type JsonBytes, NOTED } from './json-bytes.ts';
import { copyRun } from './plain-run.ts';

const LETTER_N = 0x6e;
// From here on a native copy is faster than a loop.
const LONG_CELL = 256;

/**
 * The cells of one record, in whatever order they come, until its line is written. Most are bytes of the record's JSON as
 * they stand there; those that CSV writes otherwise are rewritten. Of a column that comes twice the last one counts.
 */
export class CsvLine {
  readonly rewritten: RewrittenCells;
  readonly #source: JsonBytes;
  readonly #delimiter: Buffer;
  // Where each column's cell is in the record, or, as ~place, among the rewritten. Both 0: it is empty.
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  /** @param source the record; it notes the delimiter's first byte */
  constructor(source: JsonBytes, columnCount: number, rules: CellRules) {
    this.rewritten = new RewrittenCells(rules);
    this.#source = source;
    this.#delimiter = Buffer.from(rules.delimiter);
    this.#starts = new Int32Array(columnCount);
    this.#ends = new Int32Array(columnCount);
  }

  clear(): void {
    this.#starts.fill(0);
    this.#ends.fill(0);
    this.rewritten.chunk.at = 0;
  }

  /** A string that has just been scanned. @param start its opening quote @param end its closing one */
  text(column: number, start: number, end: number): void {
    const { marksSeen, bytes } = this.#source;
    if (marksSeen & ESCAPES || this.rewritten.isFormula(bytes[start + 1] as number))
      this.#placeRewritten(column, this.rewritten.text(this.#source, start, end));
    // An empty text is written as "" so that it can be told from null. Without an escape there is neither a quote nor a
    // line break in a text: as it stands in JSON it is a quoted cell.
    else if (marksSeen & NOTED || end === start + 1) this.#place(column, start, end + 1);
    else this.#place(column, start + 1, end);
  }

  /** A number, true, false or null. @param end exclusive, as below */
  scalar(column: number, start: number, end: number): void {
    if (this.#source.bytes[start] === LETTER_N) this.#place(column, 0, 0);
    else this.#place(column, start, end);
  }

  /** An array or object. @returns the place after it */
  nested(column: number, start: number): number {
    const cell = this.rewritten.chunk.at;
    const end = this.rewritten.nested(this.#source, start);
    if (this.rewritten.chunk.at === cell) this.#place(column, start, end);
    else this.#placeRewritten(column, cell);
    return end;
  }

  /** Writes the cells with delimiters between them. */
  writeTo(chunk: ByteChunk): void {
    const starts = this.#starts;
    const ends = this.#ends;
    const source = this.#source;
    const rewritten = this.rewritten.chunk;
    chunk.reserve(source.length + rewritten.at + starts.length * this.#delimiter.length);
    let { at } = chunk;
    for (let column = 0; column < starts.length; column++) {
      if (column > 0) at = this.#writeDelimiter(chunk.bytes, at);
      const start = starts[column] as number;
      const end = ends[column] as number;
      if (start < 0) at = copyCell(rewritten, ~start, end, chunk, at);
      else if (end > 0) at = copyCell(source, start, end, chunk, at);
    }
    chunk.at = at;
  }

  #writeDelimiter(target: Buffer, at: number): number {
    const delimiter = this.#delimiter;
    let to = at;
    for (let index = 0; index < delimiter.length; index++) target[to++] = delimiter[index] as number;
    return to;
  }

  #place(column: number, start: number, end: number): void {
    this.#starts[column] = start;
    this.#ends[column] = end;
  }

  #placeRewritten(column: number, start: number): void {
    this.#place(column, ~start, this.rewritten.chunk.at);
  }
}

type Bytes = { readonly bytes: Buffer; readonly view: DataView };

function copyCell(from: Bytes, start: number, end: number, to: Bytes, at: number): number {
  if (end - start > LONG_CELL) return at + from.bytes.copy(to.bytes, at, start, end);
  return copyRun(from.view, start, end, to.view, at);
}
