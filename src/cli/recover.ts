import type { RecoverJob } from '../config/run-jobs.ts';
import type { RecoveredRun } from '../storage/recover-run.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import type { Edge } from './run-cli.ts';
import { runNameOf, runPlaceOf } from './run-place.ts';

/** `millrace recover`: a new run of what can be read of a damaged one. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const { run: from, storageDir } = runPlaceOf(args, edge);
  const job: RecoverJob = { run: from, to: runNameOf(args, '--to') ?? `${from}-recovered`, storageDir };
  const { recover } = await loadApp();
  const recovered = await recover(job, await contextOf(args, edge));
  if (args.has('--json')) edge.stdout.write(`${JSON.stringify(recovered, null, 2)}\n`);
  else if (!args.has('--quiet')) edge.stdout.write(textOf(recovered, job));
  return 0;
}

function textOf({ requests, handled, records, pending }: RecoveredRun, { run, to }: RecoverJob): string {
  const tables = Object.entries({ Requests: requests, Handled: handled, ...records });
  const width = Math.max(...tables.map(([name]) => name.length));
  const lines = tables.map(([name, { rows, gaps }]) => {
    const missing = gaps === 0 ? '' : `, with gaps in ${gaps} ${gaps === 1 ? 'place' : 'places'}`;
    return `  ${name.padEnd(width)}  ${rows.toLocaleString('en')} read${missing}`;
  });
  const next = [
    `${pending.toLocaleString('en')} requests wait to be fetched. Go on with the same input: millrace crawl INPUT --run ${to}`,
    `Run "${run}" is as it was.`,
  ];
  return [`Run "${to}" holds what could be read of "${run}":`, ...lines, ...next, ''].join('\n');
}
