import { resolve } from 'node:path';
import type { OutputFormat, OutputSpec } from '../config/crawl-job.ts';
import { UsageError } from '../core/errors.ts';

const TEXT_FORMATS: readonly string[] = ['json', 'jsonl', 'ndjson', 'csv'] satisfies OutputFormat[];

/**
 * The files that --output names; the format is told by the name.
 * @throws UsageError listing every name that tells none, and every file named twice
 */
export function outputsOf(files: readonly string[], cwd: string): OutputSpec[] {
  const outputs = files.map((file) => ({ file, spec: outputSpec(file, cwd) }));
  const problems = outputs.flatMap(({ file, spec }, index) => {
    if (spec === null) return [`--output: ${file} must end in .json, .jsonl, .ndjson or .csv, each also with .gz.`];
    const isRepeated = outputs.findIndex((other) => other.spec?.path === spec.path) !== index;
    return isRepeated ? [`--output: ${file} is named twice.`] : [];
  });
  if (problems.length > 0) throw new UsageError(problems);
  return outputs.flatMap(({ spec }) => spec ?? []);
}

function outputSpec(file: string, cwd: string): OutputSpec | null {
  const match = /\.([a-z]+)(\.gz)?$/i.exec(file);
  const format = match?.[1]?.toLowerCase();
  if (match === null || format === undefined || !TEXT_FORMATS.includes(format)) return null;
  return { path: resolve(cwd, file), format: format as OutputFormat, gzip: match[2] !== undefined };
}
