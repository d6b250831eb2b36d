import { ByteChunk } from './byte-chunk.ts';
import { type ColumnPath, childPath, columnNames, REST_PATH } from './column-path.ts';
import {
  type CellKind,
  type CellVisitor,
  type ColumnNode,
  columnTree,
  NESTED,
  RecordWalker,
  STRING,
} from './column-tree.ts';
import type { CsvOptions } from './csv.ts';
import { CsvLine } from './csv-line.ts';
import { OPEN_BRACKET, QUOTE } from './json-bytes.ts';
import { KnownShapes, type ValueReader } from './known-shapes.ts';
import { UnknownColumnsError } from './unknown-columns.ts';

// Records keyed by ids would fill the memory.
const MOST_UNCHOSEN = 10_000;

/** Turns records into lines, by RFC 4180: bytes go from the record's JSON to the file's without a text in between. */
export class CsvWriter implements CellVisitor, ValueReader {
  readonly chunk = new ByteChunk();
  readonly #options: CsvOptions;
  readonly #walker: RecordWalker;
  readonly #shapes: KnownShapes;
  readonly #line: CsvLine;
  readonly #lineEnding: string;
  readonly #hasRest: boolean;
  readonly #isChoice: boolean;
  #unchosenCount = 0;
  #rest: [path: ColumnPath, json: string][] = [];

  constructor(columns: readonly ColumnPath[], options: CsvOptions) {
    this.#options = options;
    this.#walker = new RecordWalker(columnTree(columns), this, Buffer.from(options.delimiter)[0]);
    this.#shapes = new KnownShapes(this.#walker.source);
    this.#line = new CsvLine(this.#walker.source, columns.length, options);
    this.#lineEnding = options.lineEnding === 'crlf' ? '\r\n' : '\n';
    this.#hasRest = columns.includes(REST_PATH);
    this.#isChoice = options.partial && !this.#hasRest;
    this.#writeHeader(columnNames(columns));
  }

  /**
   * Adds a record's line.
   * @param json its JSON text
   * @throws UnknownColumnsError when it has a column that the header has not
   */
  add(json: string): void {
    this.#walker.source.load(json);
    this.#line.clear();
    if (!this.#shapes.read(this)) this.#walk();
    const start = this.chunk.at;
    this.#line.writeTo(this.chunk);
    if (this.#rest.length > 0) this.#writeRest();
    // An empty line is no row to most readers.
    if (this.chunk.at === start) this.chunk.writeText('""');
    this.#writeLineEnding();
  }

  // A record unlike those before: key by key.
  #walk(): void {
    this.#line.clear();
    this.#shapes.beginLearning();
    this.#walker.walk();
    this.#shapes.endLearning();
  }

  value(column: number, at: number): number {
    const { source } = this.#walker;
    if (column < 0) return source.endOfValue(at);
    const byte = source.bytes[at];
    if (byte === QUOTE) {
      const end = source.endOfString(at);
      this.#line.text(column, at, end);
      return end + 1;
    }
    if (byte === OPEN_BRACKET) return this.#line.nested(column, at);
    const end = source.endOfScalar(at);
    this.#line.scalar(column, at, end);
    return end;
  }

  cell(node: ColumnNode, kind: CellKind, start: number, end: number): void {
    const { column } = node;
    if (column < 0 && !this.#isChoice) {
      this.#leaveOver(node.path, start);
      return;
    }
    this.#shapes.learn(node, start, kind === STRING ? end + 1 : end);
    if (column < 0) return;
    if (kind === STRING) this.#line.text(column, start, end);
    else if (kind === NESTED) this.#line.nested(column, start);
    else this.#line.scalar(column, start, end);
  }

  unknownKey(parent: ColumnNode, key: string, valueStart: number): ColumnNode | null {
    if (this.#isChoice) return this.#unchosenKey(parent, key);
    this.#leaveOver(childPath(parent.path, key), valueStart);
    return null;
  }

  // Known from then on, so that a shape with it can be.
  #unchosenKey(parent: ColumnNode, key: string): ColumnNode | null {
    if (this.#unchosenCount === MOST_UNCHOSEN) {
      this.#shapes.stopLearning();
      return null;
    }
    this.#unchosenCount++;
    const child = parent.addChild(key);
    child.isWhole = true;
    return child;
  }

  #leaveOver(path: ColumnPath, start: number): void {
    this.#shapes.stopLearning();
    if (!this.#hasRest) throw new UnknownColumnsError(path);
    const { source } = this.#walker;
    this.#rest.push([path, source.text(start, source.endOfValue(start))]);
  }

  // It is the last column.
  #writeRest(): void {
    const members = this.#rest.map(([path, json]) => `${JSON.stringify(path)}:${json}`);
    this.chunk.writeText(this.#line.rewritten.cellOf(`{${members.join(',')}}`));
    this.#rest = [];
  }

  #writeHeader(names: readonly string[]): void {
    const cells = names.map((name) => this.#line.rewritten.cellOf(name)).join(this.#options.delimiter);
    this.chunk.writeText((this.#options.bom ? '\ufeff' : '') + cells);
    this.#writeLineEnding();
  }

  #writeLineEnding(): void {
    this.chunk.reserve(2);
    for (let index = 0; index < this.#lineEnding.length; index++)
      this.chunk.bytes[this.chunk.at++] = this.#lineEnding.charCodeAt(index);
  }
}
