import { resolve } from 'node:path';
import type { FileSpec, ListFormat, SourceSpec } from './crawl-job.ts';
import type { Input, StartUrl } from './input-schema.ts';

const LIST_FORMATS: Record<string, ListFormat> = {
  txt: 'text',
  csv: 'csv',
  tsv: 'csv',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
};

/** A file of URLs, told by its name; one without a known ending is told by its first line. */
export function listFileSpec(file: Pick<FileSpec, 'path' | 'name' | 'urlColumn'>): FileSpec {
  const ending = /\.([a-z]+)(?:\.gz)?$/i.exec(file.path)?.[1]?.toLowerCase() ?? '';
  return { kind: 'file', ...file, format: LIST_FORMATS[ending] ?? 'auto' };
}

/** Whether a file's name says that it is an input document. */
export function isDocumentName(path: string): boolean {
  return /\.(json|ya?ml)$/i.test(path);
}

/**
 * The URL sources that an input document names: startUrls, then urlsFile.
 * @param place.name how the document is called in messages
 * @param place.baseDir absolute folder that urlsFile is relative to
 */
export function documentSources(input: Input, place: { name: string; baseDir: string }): SourceSpec[] {
  const sources: SourceSpec[] = [];
  if (input.startUrls.length > 0) {
    sources.push({ kind: 'requests', name: `startUrls of ${place.name}`, requests: input.startUrls.map(asStartUrl) });
  }
  const { urlsFile, urlColumn } = input;
  if (urlsFile !== null)
    sources.push(listFileSpec({ path: resolve(place.baseDir, urlsFile), name: urlsFile, urlColumn }));
  return sources;
}

function asStartUrl(entry: string | StartUrl): StartUrl {
  return typeof entry === 'string' ? { url: entry } : entry;
}
