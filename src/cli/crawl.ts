import { StopSignal } from '../core/stop-signal.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { crawlJob } from './crawl-job.ts';
import { loadApp } from './load-app.ts';
import type { Edge } from './run-cli.ts';

/** `millrace crawl`: the exit code is the app's, or the signal's that interrupted it. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = await crawlJob(args, edge);
  const { crawl } = await loadApp();
  const { summary, exitCode } = await crawl(job, await contextOf(args, edge));
  if (job.json) edge.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  const reason: unknown = edge.signal.reason;
  return summary.state === 'interrupted' && reason instanceof StopSignal ? reason.exitCode : exitCode;
}
