import { UsageError } from '../core/errors.ts';
import type { ColumnPath } from './column-path.ts';
import { CsvWriter } from './csv-writer.ts';
import type { RowSource } from './rows.ts';

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
  yield writer.chunk.written;
}
