import type { CrawlJob } from '../config/crawl-job.ts';
import { UsageError } from '../core/errors.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { exitCodeOf } from './crawl.ts';
import { metricsPortOf } from './crawl-job.ts';
import { loadApp } from './load-app.ts';
import { resumingJob } from './resuming-job.ts';
import type { Edge } from './run-cli.ts';

/** `millrace worker`: works on a shared run until it is done. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = workerJob(args, edge);
  const { crawl } = await loadApp();
  const { summary, exitCode } = await crawl(job, await contextOf(args, edge));
  if (job.json) edge.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  return exitCodeOf(summary, exitCode, edge);
}

/** @throws UsageError without a database or a run: there would be nothing to share */
export function workerJob(args: Arguments, edge: Pick<Edge, 'cwd' | 'env'>): CrawlJob {
  const job = { ...resumingJob(args, edge), ...metricsPortOf(args, edge.env), workOnly: true, exportAtEnd: false };
  const problems: string[] = [];
  if (!args.has('--run')) problems.push('worker: --run names the run to work on.');
  if (!job.database)
    problems.push('worker: --database, or MILLRACE_DATABASE_URL, names the PostgreSQL that holds the run.');
  if (problems.length > 0) throw new UsageError(problems);
  return job;
}
