import { open } from 'node:fs/promises';
import type { SourceSpec } from '../../config/crawl-job.ts';
import { fileProblem } from '../../config/file-problem.ts';
import { UsageError } from '../../core/errors.ts';
import { type OpenSourceOptions, openSource, sourceName } from './open-source.ts';
import type { MalformedLine } from './types.ts';

type CheckOptions = Omit<OpenSourceOptions, 'onMalformed'> & {
  /** Whether something else is crawled as well: lists may then be empty. */
  mayBeEmpty?: boolean;
  signal?: AbortSignal;
};

/**
 * Checks before anything is started that the files can be read, that URL columns are found, and that there is a URL
 * at all. Reads no further than the first usable one of each; standard input is not touched, and so not judged.
 * @throws UsageError with every problem
 */
export async function requireUrls(specs: readonly SourceSpec[], options: CheckOptions): Promise<void> {
  const problems: string[] = [];
  const withoutUrl: string[] = [];
  const checked = specs.filter(({ kind }) => kind !== 'stdin');
  for (const spec of checked) {
    const lack = await lackOf(spec, options).catch((error: unknown) => void problems.push(...usageProblems(error)));
    if (typeof lack === 'string') withoutUrl.push(lack);
  }
  const hasNone = withoutUrl.length === specs.length && !options.mayBeEmpty;
  if (problems.length === 0 && hasNone) problems.push(...withoutUrl);
  if (problems.length > 0) throw new UsageError(problems);
}

function usageProblems(error: unknown): readonly string[] {
  if (error instanceof UsageError) return error.problems;
  throw error;
}

/** @returns null when the source has a URL; otherwise a sentence that says what it has instead */
async function lackOf(spec: SourceSpec, options: CheckOptions): Promise<string | null> {
  const name = sourceName(spec);
  if (spec.kind === 'file') await requireReadable(spec.path, name);
  let first: MalformedLine | null = null;
  let malformed = 0;
  const onMalformed = (line: MalformedLine): void => {
    first ??= line;
    malformed += 1;
  };
  for await (const batch of openSource(spec, { ...options, onMalformed }).batches({ signal: options.signal })) {
    if (batch.items.length > 0) return null;
  }
  return noUrlText(name, first, malformed);
}

function noUrlText(name: string, first: MalformedLine | null, malformed: number): string {
  if (first === null) return `${name} has no URL: nothing but blank lines and comments.`;
  const place = malformed === 1 ? `line ${first.line}` : `${malformed} lines, the first of them ${first.line}`;
  return `${name} has no URL that can be crawled. Malformed: ${place}: ${first.reason}.`;
}

async function requireReadable(path: string, name: string): Promise<void> {
  try {
    const file = await open(path, 'r');
    const isFolder = await file.stat().then((stats) => stats.isDirectory());
    await file.close();
    if (isFolder) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  } catch (error) {
    throw new UsageError(fileProblem(name, error), { cause: error });
  }
}
