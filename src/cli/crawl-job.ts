import { dirname, resolve } from 'node:path';
import type { CrawlJob, SourceSpec } from '../config/crawl-job.ts';
import { deepFreeze } from '../config/deep-freeze.ts';
import type { Input } from '../config/input-schema.ts';
import type { Setting } from '../config/lay-over.ts';
import { loadInput } from '../config/load-input.ts';
import { emptyDocument } from '../config/parse-settings.ts';
import { readDocument, shownPath } from '../config/read-document.ts';
import { documentSources, listFileSpec } from '../config/source-specs.ts';
import { UsageError } from '../core/errors.ts';
import { allUsable, later } from './all-usable.ts';
import { refuseApiProblems } from './api-problems.ts';
import type { Arguments } from './arguments.ts';
import { type CrawlInput, decideInput, type Given, givenInputs } from './crawl-input.ts';
import { csvOf, outputsOf } from './outputs.ts';
import { overridesOf } from './overrides.ts';
import type { Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

type Surroundings = Pick<Edge, 'cwd' | 'env'>;

/**
 * The job that the arguments of `crawl`, the input document and the environment make together.
 * @throws UsageError with every problem found
 */
export async function crawlJob(args: Arguments, edge: Surroundings): Promise<CrawlJob> {
  const [place, outputs, csv, overrides, given] = await allUsable([
    later(() => ({ ...runPlaceOf(args, edge), runGiven: args.has('--run') })),
    later(() => outputsOf(args.list('--output'), edge.cwd)),
    later(() => csvOf(args)),
    later(() => overridesOf(args)),
    givenInputs(args, edge.cwd),
  ]);
  const samplePages = samplePagesOf(args);
  const crawlInput = await decideInput(given, place, edge.env);
  const parts = await inputParts(crawlInput, overrides, edge);
  refuseContradictions(args, parts.input, crawlInput.source);
  return deepFreeze({
    ...parts,
    ...place,
    ...(samplePages === null || place.runGiven ? {} : { run: SAMPLE_RUN }),
    samplePages,
    source: crawlInput.source,
    outputs,
    csv,
    fresh: args.has('--fresh'),
    refresh: args.has('--refresh'),
    join: args.has('--join'),
    exportAtEnd: !args.has('--no-export'),
    report: reportOf(args, edge.cwd),
    force: args.has('--force'),
    json: args.has('--json'),
    progress: args.has('--quiet') ? 'off' : 'auto',
    quiet: args.has('--quiet'),
    ...metricsPortOf(args, edge.env),
    ...uiOf(args),
  });
}

/** A sample does not take the place of what was crawled before. */
const SAMPLE_RUN = 'sample';

function samplePagesOf(args: Arguments): number | null {
  const text = args.text('--sample');
  if (text === undefined) return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`--sample must be a whole number of pages, 1 or more, not "${text}".`);
}

/** @throws UsageError when it is no port */
export function metricsPortOf(args: Arguments, env: Surroundings['env']): Pick<CrawlJob, 'metricsPort'> {
  const text = args.text('--metrics-port');
  if (text !== undefined) return { metricsPort: portOf('--metrics-port', text) };
  const byEnvironment = env.MILLRACE_METRICS_PORT;
  return byEnvironment ? { metricsPort: portOf('MILLRACE_METRICS_PORT', byEnvironment) } : {};
}

/** Loopback, unless an address is given. */
function uiOf(args: Arguments): Pick<CrawlJob, 'ui'> {
  if (!args.has('--ui')) return {};
  const text = args.text('--ui') ?? '';
  const [, address = '127.0.0.1', port = text] = /^(?:\[?([^\s[\]]+)\]?:)(\d+)$/.exec(text) ?? [];
  return { ui: { address, port: port === '' ? 0 : portOf('--ui', port) } };
}

function portOf(option: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MOST_PORT) return Number(text);
  throw new UsageError(`${option} must be a whole number from 0 to ${MOST_PORT}, not "${text}".`);
}

const MOST_PORT = 65_535;

function reportOf(args: Arguments, cwd: string): string | null {
  const file = args.text('--report');
  return file === undefined ? null : resolve(cwd, file);
}

type InputParts = Pick<CrawlJob, 'input' | 'document' | 'overrides' | 'baseDir' | 'inputs'>;

async function inputParts(
  from: CrawlInput,
  overrides: readonly Setting[],
  { cwd, env }: Surroundings,
): Promise<InputParts> {
  const source = from.document === null ? emptyDocument() : await readDocument(from.document, cwd);
  const loaded = loadInput(source, overrides);
  const baseDir = from.document === null || from.documentIsDefault ? cwd : dirname(from.document);
  const name = from.document === null ? 'the command line' : shownPath(from.document, cwd);
  await refuseApiProblems(loaded.input, { source, settings: overrides, baseDir, env });
  const inputs = [
    ...operandSources(from.operands, loaded.input, cwd),
    ...documentSources(loaded.input, { name, baseDir }),
  ];
  if (from.source === 'given' && inputs.length === 0 && !namesMore(loaded.input)) {
    throw new UsageError(`${name} names nothing to crawl: add startUrls, urlsFile, api, or routes: true.`);
  }
  return { ...loaded, baseDir, inputs };
}

function namesMore(input: Input): boolean {
  return input.api !== undefined || input.routes;
}

function operandSources(operands: readonly Given[], { urlColumn }: Input, cwd: string): SourceSpec[] {
  const urls = operands.flatMap((operand) => (operand.kind === 'url' ? [{ url: operand.url }] : []));
  const others = operands.flatMap((operand): SourceSpec[] => {
    if (operand.kind === 'list')
      return [listFileSpec({ path: operand.path, name: shownPath(operand.path, cwd), urlColumn })];
    return operand.kind === 'stdin' ? [{ kind: 'stdin', format: 'auto', urlColumn }] : [];
  });
  return urls.length > 0 ? [{ kind: 'requests', name: 'the command line', requests: urls }, ...others] : others;
}

function refuseContradictions(args: Arguments, input: Input, source: CrawlInput['source']): void {
  const problems: string[] = [];
  if (args.has('--no-export') && args.has('--output')) problems.push('--no-export and --output: give one of them.');
  if (args.has('--quiet') && args.has('--verbose')) problems.push('--quiet and --verbose: give one of them.');
  if (args.has('--sample') && args.has('--join')) problems.push('--sample and --join: give one of them.');
  if (args.has('--sample') && (input.api === undefined || source === 'resume'))
    problems.push(
      '--sample takes pages of the resources of an api: name its input document. Of a list or of routes, --max-requests N takes the first N requests; --run trial keeps them apart from the real run.',
    );
  if (input.body !== null && ['GET', 'HEAD'].includes(input.method.toUpperCase())) {
    const name = args.has('--body') ? '--body' : 'body';
    problems.push(`${name}: a ${input.method.toUpperCase()} request carries none. Add --method POST.`);
  }
  if (problems.length > 0) throw new UsageError(problems);
}
