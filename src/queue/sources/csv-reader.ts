import { UsageError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest-name.ts';
import { guessDelimiter, splitCsvRecord } from './csv-record.ts';
import type { Emit, EntryReader } from './entry-reader.ts';
import { toRequest } from './to-request.ts';
import type { RequestDefaults } from './types.ts';

// A quote that is never closed must not swallow the rest of the file.
const MOST_LINES_OF_A_RECORD = 1_000;

/** Where the URL stands in a record. */
export type CsvLayout = {
  delimiter: string;
  column: number /** For messages. */;
  columnName: string;
  hasHeader: boolean;
};

/**
 * Finds the URL column by a file's first line.
 * @param urlColumn its name; null = the one called "url", or the only one, or the one that holds a URL already
 * @throws UsageError naming the columns there are
 */
export function csvLayout(firstLine: string, options: { urlColumn: string | null; name: string }): CsvLayout {
  const { urlColumn, name } = options;
  const delimiter = guessDelimiter(firstLine);
  const header = splitCsvRecord(firstLine, delimiter)?.map((field) => field.trim());
  if (header === undefined) throw new UsageError(`${name}:1: the line of column names has a quote that is not closed.`);
  const column = findColumn(header, urlColumn ?? 'url');
  if (column >= 0) return { delimiter, column, columnName: header[column]!, hasHeader: true };
  if (urlColumn !== null) throw new UsageError(noColumnText(name, urlColumn, header));
  const urlAt = header.findIndex((field) => /^https?:\/\//i.test(field));
  if (urlAt >= 0) return { delimiter, column: urlAt, columnName: `column ${urlAt + 1}`, hasHeader: false };
  if (header.length === 1) return { delimiter, column: 0, columnName: header[0]!, hasHeader: true };
  throw new UsageError(
    `${name}: say which column has the URL, by --url-column NAME. Its columns: ${header.join(', ')}.`,
  );
}

function findColumn(header: readonly string[], wanted: string): number {
  const exact = header.indexOf(wanted);
  return exact >= 0 ? exact : header.findIndex((field) => field.toLowerCase() === wanted.toLowerCase());
}

function noColumnText(name: string, wanted: string, header: readonly string[]): string {
  return `${name} has no column "${wanted}".${didYouMean(wanted, header)} Its columns: ${header.join(', ')}.`;
}

/** One record a line, or more lines where a quoted field has line breaks; the first has the names. */
export class CsvReader implements EntryReader {
  readonly canSkip = false;
  readonly #layout: CsvLayout;
  readonly #defaults: RequestDefaults;
  /** Lines of the record that has begun, and the number of its first one. */
  #open: string[] = [];
  #openLine = 0;
  #lastLine = 0;
  #isHeaderDue: boolean;

  constructor(layout: CsvLayout, defaults: RequestDefaults) {
    this.#layout = layout;
    this.#defaults = defaults;
    this.#isHeaderDue = layout.hasHeader;
  }

  get settledLine(): number {
    return this.#open.length > 0 ? this.#openLine - 1 : this.#lastLine;
  }

  read(text: string, line: number, emit: Emit): void {
    this.#lastLine = line;
    if (this.#open.length > 0) this.#goOn(text, emit);
    else if (text.trim() !== '') this.#begin(text, line, emit);
  }

  end(emit: Emit): void {
    while (this.#open.length > 0) this.#giveUp(emit);
  }

  #begin(text: string, line: number, emit: Emit): void {
    const fields = splitCsvRecord(text, this.#layout.delimiter);
    if (fields !== null) {
      this.#take(fields, line, emit);
      return;
    }
    this.#open = [text];
    this.#openLine = line;
  }

  #goOn(text: string, emit: Emit): void {
    this.#open.push(text);
    const mayClose = text.includes('"');
    const fields = mayClose ? splitCsvRecord(this.#open.join('\n'), this.#layout.delimiter) : null;
    if (fields !== null) {
      this.#open = [];
      this.#take(fields, this.#openLine, emit);
    } else if (this.#open.length > MOST_LINES_OF_A_RECORD) this.#giveUp(emit);
  }

  /** The line that opened a quote is malformed; those after it are read again, as if it had not. */
  #giveUp(emit: Emit): void {
    const [, ...rest] = this.#open;
    const line = this.#openLine;
    this.#open = [];
    emit(line, { reason: 'a quote that is opened here is not closed' });
    rest.forEach((text, index) => {
      this.read(text, line + 1 + index, emit);
    });
  }

  #take(fields: readonly string[], line: number, emit: Emit): void {
    if (this.#isHeaderDue) {
      this.#isHeaderDue = false;
      return;
    }
    const { column, columnName } = this.#layout;
    const url = fields[column]?.trim();
    if (url === undefined) emit(line, { reason: tooShortText(fields.length, this.#layout) });
    else if (url === '') emit(line, { reason: `its ${columnName} is empty` });
    else emit(line, toRequest({ url }, this.#defaults));
  }
}

function tooShortText(count: number, { column, columnName }: CsvLayout): string {
  return `it has ${count} ${count === 1 ? 'column' : 'columns'}, and ${columnName} would be column ${column + 1}`;
}
