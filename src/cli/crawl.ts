import { StopSignal } from '../core/stop-signal.ts';
import type { Summary } from '../core/summary.ts';
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
  return exitCodeOf(summary, exitCode, edge);
}

/** @returns the app's exit code, or that of the signal which interrupted it */
export function exitCodeOf(summary: Summary, exitCode: number, { signal }: Pick<Edge, 'signal'>): number {
  const reason: unknown = signal.reason;
  return summary.state === 'interrupted' && reason instanceof StopSignal ? reason.exitCode : exitCode;
}
