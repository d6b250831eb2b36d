import { type ColumnPath, childPath, columnNames, REST_PATH } from './column-path.ts';
import {
  type CellKind,
  type CellVisitor,
  type ColumnNode,
  columnTree,
  LITERAL,
  NUMBER,
  RecordWalker,
  STRING,
} from './column-tree.ts';
import { endOfValue, stringAt } from './json-text.ts';
import type { RowSource } from './rows.ts';
import { UnknownColumnsError } from './unknown-columns.ts';

export type CsvOptions = {
  /** One character, neither a quote nor a line break. */
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

// Pieces this large keep the cost of a write small, and memory too.
const CHUNK_CHARACTERS = 256 * 1024;

/** @returns the file in pieces of about 256 KB */
export async function* csvChunks(
  rows: RowSource,
  columns: readonly ColumnPath[],
  options: CsvOptions,
): AsyncGenerator<string> {
  const writer = new CsvWriter(columns, options);
  let chunk = (options.bom ? '\ufeff' : '') + writer.header();
  for await (const batch of rows()) {
    for (const row of batch) {
      chunk += writer.row(row.json);
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}

/** Turns records into lines, by RFC 4180. */
export class CsvWriter implements CellVisitor {
  readonly #columns: readonly ColumnPath[];
  readonly #options: CsvOptions;
  readonly #lineEnding: string;
  readonly #cells: string[];
  readonly #walker: RecordWalker;
  readonly #needsQuotes: RegExp;
  readonly #restColumn: number;
  #json = '';
  // The next backslash in it: most records have none, and then one look is enough for all strings.
  #backslash = -1;
  #rest: [path: ColumnPath, json: string][] = [];

  constructor(columns: readonly ColumnPath[], options: CsvOptions) {
    this.#columns = columns;
    this.#options = options;
    this.#lineEnding = options.lineEnding === 'crlf' ? '\r\n' : '\n';
    this.#cells = columns.map(() => '');
    this.#walker = new RecordWalker(columnTree(columns), this);
    // A file that begins with U+FEFF would seem to have a byte order mark.
    this.#needsQuotes = new RegExp(`^\\ufeff|["\\r\\n${options.delimiter.replace(/[\\\]^-]/, '\\$&')}]`);
    this.#restColumn = columns.indexOf(REST_PATH);
  }

  header(): string {
    return this.#line(columnNames(this.#columns).map((name) => this.#text(name)));
  }

  /**
   * @param json a record's JSON text
   * @returns its line, with the line ending
   * @throws UnknownColumnsError when it has a column that the header has not
   */
  row(json: string): string {
    this.#json = json;
    this.#backslash = -1;
    this.#cells.fill('');
    this.#walker.walk(json);
    if (this.#rest.length > 0) this.#writeRest();
    return this.#line(this.#cells);
  }

  cell(node: ColumnNode, kind: CellKind, start: number, end: number): void {
    if (node.column < 0) this.#leaveOver(node.path, start);
    else this.#cells[node.column] = this.#cellText(kind, start, end);
  }

  unknownKey(parent: ColumnNode, key: string, valueStart: number): null {
    this.#leaveOver(childPath(parent.path, key), valueStart);
    return null;
  }

  #cellText(kind: CellKind, start: number, end: number): string {
    if (kind === STRING) return this.#stringText(start, end);
    const raw = this.#json.slice(start, end);
    if (kind === LITERAL) return raw === 'null' ? '' : raw;
    return kind === NUMBER ? raw : this.#text(raw);
  }

  #stringText(start: number, end: number): string {
    const json = this.#json;
    if (this.#backslash < start) this.#backslash = placeOf(json, '\\', start);
    if (this.#backslash < end || end === start + 1 || this.#options.escapeFormulas)
      return this.#text(stringAt(json, start, end));
    // Without a backslash there is neither a quote nor a line break in it: as it stands it is a quoted cell.
    const text = json.slice(start + 1, end);
    return text.includes(this.#options.delimiter) ? json.slice(start, end + 1) : text;
  }

  // An empty text is written as "" so that it can be told from null.
  #text(text: string): string {
    if (text === '') return '""';
    return this.#quoted(this.#options.escapeFormulas && startsFormula(text) ? `'${text}` : text);
  }

  #quoted(text: string): string {
    return this.#needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  #line(cells: readonly string[]): string {
    // An empty line is no row to most readers.
    if (cells.length === 1 && cells[0] === '') return `""${this.#lineEnding}`;
    return cells.join(this.#options.delimiter) + this.#lineEnding;
  }

  #leaveOver(path: ColumnPath, start: number): void {
    if (this.#restColumn >= 0) this.#rest.push([path, this.#json.slice(start, endOfValue(this.#json, start))]);
    else if (!this.#options.partial) throw new UnknownColumnsError(path);
  }

  #writeRest(): void {
    const members = this.#rest.map(([path, json]) => `${JSON.stringify(path)}:${json}`);
    this.#cells[this.#restColumn] = this.#text(`{${members.join(',')}}`);
    this.#rest = [];
  }
}

function placeOf(text: string, what: string, from: number): number {
  const place = text.indexOf(what, from);
  return place < 0 ? Number.POSITIVE_INFINITY : place;
}

/** @see OWASP, CSV injection */
function startsFormula(text: string): boolean {
  const code = text.charCodeAt(0);
  return code === 0x3d || code === 0x2b || code === 0x2d || code === 0x40 || code === 0x09 || code === 0x0d;
}
