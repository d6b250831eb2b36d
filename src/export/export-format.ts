import { UsageError } from '../core/errors.ts';

const FORMATS = ['json', 'jsonl', 'ndjson', 'csv', 'parquet'] as const;
export type ExportFormat = (typeof FORMATS)[number];

/** What a file is written as. */
export type FileFormat = { format: ExportFormat; gzip: boolean };

/** Where `-` stands for a file, it is standard output. */
export const STDOUT = '-';

/**
 * @param path the file, or `-`
 * @param wanted `--format`: over the extension; with `.gz` ("csv.gz") compressed, as is a path that ends so
 * @throws UsageError when neither tells the format, or a .parquet is to be compressed once more
 */
export function formatOf(path: string, wanted: string | null = null): FileFormat {
  const named = wanted === null ? null : formatNamed(wanted);
  if (wanted !== null && named === null) throw new UsageError(`Unknown format "${wanted}": use ${listed()}`);
  const extension = formatNamed(/\.([^/]*)$/.exec(path)?.[1] ?? '');
  const format = named?.format ?? extension?.format;
  if (format === undefined)
    throw new UsageError(`Cannot tell the format of "${path}": give it an extension or --format: ${listed()}`);
  const gzip = named?.gzip === true || path.toLowerCase().endsWith('.gz');
  if (format === 'parquet' && gzip) throw new UsageError(`"${path}": Parquet is compressed within; name it .parquet`);
  return { format, gzip };
}

/** @param name "csv", "csv.gz", or a file name's end such as "2026.csv.gz" */
function formatNamed(name: string): FileFormat | null {
  const parts = name.toLowerCase().split('.');
  const gzip = parts.at(-1) === 'gz';
  const format = FORMATS.find((known) => known === parts.at(gzip ? -2 : -1));
  return format === undefined ? null : { format, gzip };
}

function listed(): string {
  return FORMATS.join(', ');
}
