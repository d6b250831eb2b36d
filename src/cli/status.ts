import type { StatusJob } from '../config/run-jobs.ts';
import { printSummary } from '../report/print-summary.ts';
import { wantsColor } from '../report/terminal.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import { columnsOf, type Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

const DEFAULT_COLUMNS = 100;

/** `millrace status`: what a run has done and has left, on stdout. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job: StatusJob = Object.freeze({ ...runPlaceOf(args, edge), json: args.has('--json') });
  const { runStatus } = await loadApp();
  const context = await contextOf(args, edge);
  const summary = await runStatus(job, context);
  const printOptions = { color: wantsColor(edge.env, edge.stdout), columns: columnsOf(edge.stdout, DEFAULT_COLUMNS) };
  edge.stdout.write(job.json ? `${JSON.stringify(summary, null, 2)}\n` : `${printSummary(summary, printOptions)}\n`);
  return 0;
}
