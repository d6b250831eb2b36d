import type { OutputFormatSpec, OutputSpec } from '../config/crawl-job.ts';
import { shownPath } from '../config/read-document.ts';
import type { ExportJob } from '../config/run-jobs.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import { parseFields } from '../export/column-path.ts';
import { formatOf, STDOUT } from '../export/export-format.ts';
import { allUsable, later } from './all-usable.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import { csvOf, outputsOf } from './outputs.ts';
import type { Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

/** `millrace export`: writes a run's datasets to files and names them. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = await exportJob(args, edge);
  const { exportRun } = await loadApp();
  const { files } = await exportRun(job, await contextOf(args, edge));
  // Where the records are on standard output, nothing else is.
  const names = job.outputs.some(({ path }) => path === STDOUT) ? edge.stderr : edge.stdout;
  if (job.json) names.write(`${JSON.stringify({ files })}\n`);
  else if (!args.has('--quiet')) for (const file of files) names.write(`${shownPath(file, edge.cwd)}\n`);
  return 0;
}

/** @throws UsageError listing every option whose value is not usable */
export async function exportJob(args: Arguments, edge: Pick<Edge, 'cwd' | 'env'>): Promise<ExportJob> {
  const wanted = args.text('--format') ?? null;
  const formatGiven = later(() => (wanted === null ? null : formatNamed(wanted)));
  const files = (): OutputSpec[] => outputsOf(args.list('--output'), edge.cwd, { format: wanted, mayBeStdout: true });
  const [place, format, outputs, fields, limit, csv] = await allUsable([
    later(() => runPlaceOf(args, edge)),
    formatGiven,
    // A format that there is not is told once, and not for each file.
    formatGiven.then(files, () => []),
    later(() => fieldsOf(args)),
    later(() => limitOf(args)),
    later(() => csvOf(args)),
  ]);
  const datasets = args.list('--dataset');
  const job: ExportJob = {
    ...place,
    datasets: datasets.length > 0 ? datasets : null,
    outputs,
    format,
    fields,
    limit,
    csv,
    force: args.has('--force'),
    json: args.has('--json'),
    progress: args.has('--quiet') ? 'off' : 'auto',
  };
  refuseContradictions(job);
  return Object.freeze(job);
}

function formatNamed(wanted: string): OutputFormatSpec {
  try {
    return formatOf('', wanted);
  } catch (error) {
    throw new UsageError(`--format: ${messageOf(error)}.`);
  }
}

function fieldsOf(args: Arguments): readonly string[] | null {
  const text = args.text('--fields');
  if (text === undefined) return null;
  const fields = parseFields(text);
  if (fields.length > 0) return fields;
  throw new UsageError('--fields: name at least one column, id,brand.name for example.');
}

function limitOf(args: Arguments): number | null {
  const text = args.text('--limit');
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`--limit: must be a number of rows, not "${text}".`);
}

function refuseContradictions({ outputs, datasets, json }: ExportJob): void {
  if (!outputs.some(({ path }) => path === STDOUT)) return;
  const problems: string[] = [];
  if (json) problems.push('--json and --output -: both would write to stdout, give one of them.');
  if (datasets !== null && datasets.length > 1)
    problems.push(`--output -: one dataset fits on stdout, not ${datasets.join(' and ')}.`);
  if (problems.length > 0) throw new UsageError(problems);
}
