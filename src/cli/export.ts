import { shownPath } from '../config/read-document.ts';
import type { ExportJob } from '../config/run-jobs.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import { outputsOf } from './outputs.ts';
import type { Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

/** `millrace export`: writes a run's datasets to files and names them. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = exportJob(args, edge);
  const { exportRun } = await loadApp();
  const { files } = await exportRun(job, await contextOf(args, edge));
  if (job.json) edge.stdout.write(`${JSON.stringify({ files })}\n`);
  else if (!args.has('--quiet')) for (const file of files) edge.stdout.write(`${shownPath(file, edge.cwd)}\n`);
  return 0;
}

/** @throws UsageError when an option's value is not usable */
export function exportJob(args: Arguments, edge: Pick<Edge, 'cwd' | 'env'>): ExportJob {
  const datasets = args.list('--dataset');
  return Object.freeze({
    ...runPlaceOf(args, edge),
    datasets: datasets.length > 0 ? datasets : null,
    outputs: outputsOf(args.list('--output'), edge.cwd),
    force: args.has('--force'),
    json: args.has('--json'),
  });
}
