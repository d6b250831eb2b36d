import { resolve } from 'node:path';
import type { RetryJob } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/units.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { exitCodeOf } from './crawl.ts';
import { loadApp } from './load-app.ts';
import { resumingJob } from './resuming-job.ts';
import type { Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

/** `millrace retry-failed`: failed requests once more, then as crawl. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const file = args.text('--failures');
  if (file !== undefined) return exportFailures(file, args, edge);
  const job = retryJob(args, edge);
  const { retryFailed } = await loadApp();
  const { summary, exitCode } = await retryFailed(job, await contextOf(args, edge));
  if (job.crawl.json) edge.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  return exitCodeOf(summary, exitCode, edge);
}

/** With --failures: the failed requests as a list; nothing is tried again. */
async function exportFailures(file: string, args: Arguments, edge: Edge): Promise<number> {
  const { writeFailures } = await loadApp();
  const path = file === '-' ? file : resolve(edge.cwd, file);
  const job = { ...runPlaceOf(args, edge), selection: selectionOf(args, edge), file: path, force: args.has('--force') };
  const { count } = await writeFailures(job, await contextOf(args, edge));
  if (!args.has('--quiet') && file !== '-')
    edge.stderr.write(`${file} has ${count} failed requests: millrace ${file} --run NAME crawls them.\n`);
  return 0;
}

function selectionOf(args: Arguments, { ports }: Pick<Edge, 'ports'>): RetryJob['selection'] {
  const since = args.text('--since');
  return {
    ...(args.has('--code') ? { reasons: args.list('--code') } : {}),
    ...(args.has('--host') ? { hosts: args.list('--host').map((host) => host.toLowerCase()) } : {}),
    ...(since === undefined ? {} : { handledSinceMs: timeOf(since, ports.clock.wallMs()) }),
  };
}

/** @throws UsageError when an option's value is not usable */
export function retryJob(args: Arguments, edge: Pick<Edge, 'cwd' | 'env' | 'ports'>): RetryJob {
  return { selection: selectionOf(args, edge), crawl: resumingJob(args, edge) };
}

const UNITS_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/**
 * @param text "90m", "2h", "1d" (that long ago) or an ISO 8601 time
 * @returns epoch ms
 * @throws UsageError for anything else
 */
export function timeOf(text: string, nowMs: number): number {
  const ago = /^(\d+)([smhd])$/.exec(text);
  if (ago !== null) return nowMs - Number(ago[1]) * UNITS_MS[ago[2]!]!;
  const atMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(atMs)) return atMs;
  throw new UsageError(
    `--since: "${text}" is no time. Write how long ago (30m, 2h, 1d), or an ISO 8601 time (2026-01-31T12:00:00Z).`,
  );
}
