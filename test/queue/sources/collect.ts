import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { SourceSpec } from '../../../src/config/crawl-job.ts';
import { listFileSpec } from '../../../src/config/source-specs.ts';
import { openSource } from '../../../src/queue/sources/open-source.ts';
import type { MalformedLine, ReadOptions, RequestDefaults, SourceBatch } from '../../../src/queue/sources/types.ts';

export type Collected = {
  /** `line url` of every request. */
  urls: string[];
  /** `line reason` of every malformed entry. */
  malformed: string[];
  batches: SourceBatch[];
};

export type CollectOptions = ReadOptions & { defaults?: RequestDefaults; stdin?: Readable };

/** Reads a source to its end. */
export async function collect(spec: SourceSpec, options: CollectOptions = {}): Promise<Collected> {
  const malformed: MalformedLine[] = [];
  const source = openSource(spec, {
    defaults: options.defaults ?? { method: 'GET', body: null },
    stdin: options.stdin ?? Readable.from([]),
    onMalformed: (line) => malformed.push(line),
  });
  const batches: SourceBatch[] = [];
  for await (const batch of source.batches(options)) batches.push(batch);
  return {
    urls: batches.flatMap(({ items }) => items.map(({ line, request }) => `${line} ${request.url}`)),
    malformed: malformed.map(({ line, reason }) => `${line} ${reason}`),
    batches,
  };
}

/** A file in a folder of its own, gone after the test. @returns its path */
export function temporaryFile(name: string, content: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-sources-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The spec of such a file. */
export function fileSpec(name: string, content: string | Buffer, urlColumn: string | null = null): SourceSpec {
  return listFileSpec({ path: temporaryFile(name, content), name, urlColumn });
}
