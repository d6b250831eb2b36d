import { resolve } from 'node:path';
import type { CsvSpec, OutputFormatSpec, OutputSpec } from '../config/crawl-job.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import { checkDelimiter } from '../export/csv.ts';
import { formatOf, STDOUT } from '../export/export-format.ts';
import type { Arguments } from './arguments.ts';

export type OutputRules = {
  /** `--format`: over what the names say; null = it was not given. */
  format?: string | null;
  /** Whether `-` may stand for standard output. */
  mayBeStdout?: boolean;
};

/**
 * The files that --output names; the format is told by the name.
 * @throws UsageError listing every name that tells none, and every file named twice
 */
export function outputsOf(files: readonly string[], cwd: string, rules: OutputRules = {}): OutputSpec[] {
  const outputs = files.map((file) => ({ file, path: file === STDOUT ? file : resolve(cwd, file) }));
  const problems: string[] = [];
  const specs = outputs.flatMap(({ file, path }, index): OutputSpec[] => {
    const spec = outputSpec(file, rules);
    if (typeof spec === 'string') problems.push(`--output: ${spec}`);
    else if (outputs.findIndex((other) => other.path === path) !== index)
      problems.push(`--output: ${file} is named twice.`);
    else return [{ path, ...spec }];
    return [];
  });
  if (problems.length > 0) throw new UsageError(problems);
  return specs;
}

/** @returns how the file is written, or what is wrong with it */
function outputSpec(file: string, { format = null, mayBeStdout = false }: OutputRules): OutputFormatSpec | string {
  if (file === STDOUT && !mayBeStdout)
    return '- is not possible here: name a file, and see millrace export for standard output.';
  if (file === STDOUT && format === null) return '- has no name that tells the format: add --format, csv for example.';
  try {
    return formatOf(file, format);
  } catch (error) {
    if (format !== null || /\.parquet\.gz$/i.test(file)) return `${messageOf(error)}.`;
    return `${file} must end in .json, .jsonl, .ndjson, .csv (each also with .gz) or .parquet.`;
  }
}

/**
 * What --csv-delimiter, --csv-bom, --csv-line-ending and --csv-escape-formulas say.
 * @throws UsageError when the delimiter is not possible
 */
export function csvOf(args: Arguments): CsvSpec {
  const typed = args.text('--csv-delimiter');
  // A tab is hard to type.
  const delimiter = typed === '\\t' ? '\t' : typed;
  if (delimiter !== undefined) checkDelimiter(delimiter);
  return {
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(args.has('--csv-bom') ? { bom: true } : {}),
    ...(args.has('--csv-line-ending') ? { lineEnding: args.text('--csv-line-ending') === 'crlf' ? 'crlf' : 'lf' } : {}),
    ...(args.has('--csv-escape-formulas') ? { escapeFormulas: true } : {}),
  };
}
