import type { Readable } from 'node:stream';
import type { SourceSpec } from '../../config/crawl-job.ts';
import { openFile, unpackedBytes } from './bytes.ts';
import { ListSource } from './list-source.ts';
import { RequestsSource } from './requests-source.ts';
import type { MalformedLine, RequestDefaults, UrlSource } from './types.ts';

export type OpenSourceOptions = {
  defaults: RequestDefaults;
  stdin: Readable;
  /** Told of every entry that is not usable, in order: see MalformedReport. */
  onMalformed: (malformed: MalformedLine) => void;
};

/** @returns the source; nothing is read before its batches are asked for */
export function openSource(spec: SourceSpec, options: OpenSourceOptions): UrlSource {
  const { defaults, onMalformed, stdin } = options;
  if (spec.kind === 'requests') return new RequestsSource({ ...spec, defaults, onMalformed });
  const name = sourceName(spec);
  const open = (signal?: AbortSignal) =>
    unpackedBytes(spec.kind === 'stdin' ? stdin : openFile(spec.path), name, signal);
  return new ListSource({ ...spec, name, defaults, onMalformed, open });
}

/** @returns what a source is called in messages */
export function sourceName(spec: SourceSpec): string {
  return spec.kind === 'stdin' ? 'stdin' : spec.name;
}
