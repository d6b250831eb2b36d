import type { Revalidated } from '../app-commands.ts';
import { loadInput } from '../config/load-input.ts';
import { readDocument } from '../config/read-document.ts';
import type { RevalidateJob } from '../config/run-jobs.ts';
import { runCommand } from '../core/run-command.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import type { Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

/** `millrace revalidate`: records that fit by now go where they belong. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job: RevalidateJob = {
    ...runPlaceOf(args, edge),
    document: await documentOf(args, edge.cwd),
    json: args.has('--json'),
  };
  const { revalidate } = await loadApp();
  const done = await revalidate(job, await contextOf(args, edge));
  if (job.json) edge.stdout.write(`${JSON.stringify(done, null, 2)}\n`);
  else if (!args.has('--quiet')) edge.stdout.write(textOf(done, job));
  return 0;
}

async function documentOf(args: Arguments, cwd: string): Promise<RevalidateJob['document']> {
  const file = args.text('--input');
  if (file === undefined) return null;
  const source = await readDocument(file, cwd);
  return { input: loadInput(source, []).input, baseDir: source.folder };
}

const MOST_REASONS = 5;

function textOf({ moved, left, requests, reasons }: Revalidated, job: RevalidateJob): string {
  const lines = [
    `${moved} of ${moved + left} rows of dataset "invalid" fit by now and are where they belong.`,
    ...reasons.slice(0, MOST_REASONS).map(({ reason, count }) => `  ${count} are left: ${reason}`),
    ...(moved > 0 ? [`Files: ${runCommand('export', job)}`] : []),
    ...(requests > 0 ? [`${requests} requests were found on them. Go on: ${runCommand('crawl', job)}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}
