import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { shownPath } from '../config/read-document.ts';
import type { RunPlace } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Arguments } from './arguments.ts';
import { classifyDocument, classifyOperand, type Operand } from './operands.ts';
import type { Edge } from './run-cli.ts';

export type Given = Exclude<Operand, { kind: 'problem' }>;

/** Where a crawl's input comes from. `document` is an absolute path, or null. */
export type CrawlInput = {
  source: 'given' | 'routes' | 'resume';
  document: string | null;
  /** What a relative path in the document starts from: its own folder, but for INPUT.json the working directory. */
  documentIsDefault: boolean;
  operands: readonly Given[];
};

/**
 * What INPUT... and --input name.
 * @throws UsageError listing those that are neither a URL nor a file, and more than one input document
 */
export async function givenInputs(args: Arguments, cwd: string): Promise<Given[]> {
  const input = args.text('--input');
  const classified = await Promise.all([
    ...(input === undefined ? [] : [classifyDocument(input, cwd)]),
    ...args.operands.map((operand) => classifyOperand(operand, cwd)),
  ]);
  const problems = classified.flatMap((operand) => (operand.kind === 'problem' ? [operand.text] : []));
  const documents = classified.flatMap((operand) =>
    operand.kind === 'document' ? [shownPath(operand.path, cwd)] : [],
  );
  if (documents.length > 1) problems.push(`Give one input document, not ${documents.length}: ${documents.join(', ')}.`);
  if (classified.filter((operand) => operand.kind === 'stdin').length > 1) problems.push('Give - for stdin only once.');
  if (problems.length > 0) throw new UsageError(problems);
  return classified.filter((operand) => operand.kind !== 'problem');
}

/**
 * Decides what is crawled: what was given; else the run that --run names; else INPUT.json; else the routes.
 * @throws UsageError when there is no such run, or when nothing is given where a person cannot have meant the routes
 */
export async function decideInput(
  given: readonly Given[],
  place: RunPlace & { runGiven: boolean },
  env: Edge['env'],
): Promise<CrawlInput> {
  const document = given.find((operand) => operand.kind === 'document')?.path ?? null;
  const operands = given.filter((operand) => operand.kind !== 'document');
  if (given.length > 0) return { source: 'given', document, documentIsDefault: false, operands };
  const nothing = { document: null, documentIsDefault: false, operands };
  // Of a database only the app can say whether it has the run.
  if (place.runGiven && (place.database || (await exists(join(place.storageDir, 'runs', place.run)))))
    return { source: 'resume', ...nothing };
  const inputJson = join(place.storageDir, 'key_value_stores', 'default', 'INPUT.json');
  if (await exists(inputJson)) return { source: 'given', document: inputJson, documentIsDefault: true, operands };
  if (place.runGiven) throw new UsageError(noSuchRunText(place));
  if (env.APIFY_IS_AT_HOME || env.MILLRACE_CONTAINER === '1') throw new UsageError(noInputText(inputJson));
  return { source: 'routes', ...nothing };
}

function noSuchRunText({ run, storageDir }: RunPlace): string {
  const folder = join(storageDir, 'runs');
  return `--run ${run}: there is no such run in ${folder} to go on with. To start it, say what to crawl: a URL, a file, or - for stdin.`;
}

function noInputText(inputJson: string): string {
  return `There is nothing to crawl: give a URL, a file, - for stdin or --input FILE, or put the input document at ${inputJson}.`;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
