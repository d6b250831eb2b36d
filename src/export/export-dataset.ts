import { type ColumnPath, selectColumns } from './column-path.ts';
import { CSV_DEFAULTS, type CsvOptions, checkDelimiter, csvChunks } from './csv.ts';
import { copies, type Destination, type Written, writeWhole } from './destination.ts';
import { type FileFormat, STDOUT } from './export-format.ts';
import { jsonArrayChunks, jsonLinesChunks } from './json-lines.ts';
import { limitRows, type RowSource } from './rows.ts';
import { UnknownColumnsError } from './unknown-columns.ts';

export type ExportOptions = FileFormat & {
  rows: RowSource;
  /** The dataset's columns, as kept while crawling. Asked again when a row has one that is not among them. */
  columns: () => Promise<readonly ColumnPath[]>;
  destination: Destination;
  /** Header names or paths of columns (or of objects, for all below them); null = all. */
  fields?: readonly string[] | null;
  /** Most rows; null = all. */
  limit?: number | null;
  csv?: Partial<Omit<CsvOptions, 'partial'>>;
  /** Told after every batch: rows so far, for a progress bar. */
  onProgress?: (rows: number) => void;
  signal?: AbortSignal;
};

export type Exported = Written & { path: string; rows: number };

// Rows that come in while a file is being written can bring new columns; each try knows those of the last.
const MOST_TRIES = 5;

/**
 * Writes a dataset to a file, or to standard output, in constant memory.
 * @throws UsageError for a bad option, an unknown field or a file that is not to be replaced; EnvironmentError when the
 *   place cannot be written; DamagedRecordError when a stored record is no JSON
 */
export async function exportDataset(options: ExportOptions): Promise<Exported> {
  const csv = { ...CSV_DEFAULTS, ...options.csv };
  checkDelimiter(csv.delimiter);
  for (let tries = 1; ; tries++) {
    try {
      return await exportOnce(options, csv);
    } catch (error) {
      if (!(error instanceof UnknownColumnsError) || tries === MOST_TRIES || options.destination.path === STDOUT)
        throw error;
    }
  }
}

/**
 * The dataset's file in pieces, for whoever writes it elsewhere.
 * @throws as exportDataset, while it is read
 */
export async function* exportChunks(options: Omit<ExportOptions, 'destination' | 'gzip'>): AsyncGenerator<Uint8Array> {
  const csv = { ...CSV_DEFAULTS, ...options.csv };
  checkDelimiter(csv.delimiter);
  yield* copies(chunksOf({ ...options, rows: limitRows(options.rows, options.limit ?? null) }, csv));
}

async function exportOnce(options: ExportOptions, csv: CsvOptions): Promise<Exported> {
  let rowCount = 0;
  const rows = countRows(limitRows(options.rows, options.limit ?? null), (count) => {
    rowCount = count;
    options.onProgress?.(count);
  });
  const { gzip, signal, destination } = options;
  const written = await writeWhole(destination, chunksOf({ ...options, rows }, csv), { gzip, signal });
  return { ...written, path: destination.path, rows: rowCount };
}

async function* chunksOf(
  options: Pick<ExportOptions, 'format' | 'rows' | 'columns' | 'fields'>,
  csv: CsvOptions,
): AsyncGenerator<Uint8Array> {
  const { format, rows, fields = null } = options;
  const needsColumns = fields !== null || format === 'csv';
  const all = needsColumns ? await options.columns() : [];
  const columns = fields === null ? all : selectColumns(all, fields);
  const kept = fields === null ? null : columns;
  if (format === 'csv') yield* csvChunks(rows, columns, { ...csv, partial: fields !== null });
  else if (format === 'json') yield* jsonArrayChunks(rows, { fields: kept });
  else if (format === 'parquet') yield* (await import('./parquet.ts')).parquetChunks(rows, { fields: kept });
  else yield* jsonLinesChunks(rows, { fields: kept });
}

// Each pass counts from 0: Parquet reads twice, and only what was written last counts.
function countRows(rows: RowSource, onCount: (count: number) => void): RowSource {
  return async function* () {
    let count = 0;
    for await (const batch of rows()) {
      yield batch;
      count += batch.length;
      onCount(count);
    }
  };
}
