import { StopSignal } from '../core/stop-signal.ts';
import type { Summary } from '../core/summary.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { crawlJob } from './crawl-job.ts';
import { dryRunText } from './dry-run.ts';
import { loadApp } from './load-app.ts';
import type { Edge } from './run-cli.ts';

/** `millrace crawl`: the exit code is the app's, or the signal's that interrupted it. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = await crawlJob(args, edge);
  const { crawl, dryRun } = await loadApp();
  if (args.has('--dry-run')) {
    const plan = await dryRun(job, await contextOf(args, edge));
    edge.stdout.write(job.json ? `${JSON.stringify(plan, null, 2)}\n` : dryRunText(plan));
    return 0;
  }
  const { summary, exitCode } = await crawl(job, await contextOf(args, edge));
  if (job.json) edge.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  return exitCodeOf(summary, exitCode, edge);
}

/** @returns the app's exit code, or that of the signal which interrupted it */
export function exitCodeOf(summary: Summary, exitCode: number, { signal }: Pick<Edge, 'signal'>): number {
  const reason: unknown = signal.reason;
  return summary.state === 'interrupted' && reason instanceof StopSignal ? reason.exitCode : exitCode;
}
