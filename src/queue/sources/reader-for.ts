import type { ListFormat } from '../../config/crawl-job.ts';
import { CsvReader, csvLayout } from './csv-reader.ts';
import { guessDelimiter, splitCsvRecord } from './csv-record.ts';
import type { EntryReader } from './entry-reader.ts';
import { JsonlReader } from './jsonl-reader.ts';
import { TextReader } from './text-reader.ts';
import type { RequestDefaults } from './types.ts';

export type ListOptions = { format: ListFormat; urlColumn: string | null; name: string; defaults: RequestDefaults };

/**
 * The reader of a list.
 * @param firstLine its first line that is not blank
 * @throws UsageError when it is a CSV in which the URL column cannot be found
 */
export function readerFor(firstLine: string, options: ListOptions): EntryReader {
  const { urlColumn, name, defaults } = options;
  const format = options.format === 'auto' ? guessFormat(firstLine, urlColumn) : options.format;
  if (format === 'text') return new TextReader(defaults);
  if (format === 'jsonl') return new JsonlReader(defaults, urlColumn);
  return new CsvReader(csvLayout(firstLine, { urlColumn, name }), defaults);
}

/** How a list is written whose name does not say: standard input, say. */
function guessFormat(firstLine: string, urlColumn: string | null): Exclude<ListFormat, 'auto'> {
  const line = firstLine.trim();
  if (line.startsWith('{') || /^"(?:[^"\\]|\\.)*"$/.test(line)) return 'jsonl';
  if (urlColumn !== null) return 'csv';
  const header = splitCsvRecord(line, guessDelimiter(line)) ?? [];
  return header.length > 1 && header.some((field) => field.trim().toLowerCase() === 'url') ? 'csv' : 'text';
}
