import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import type { RampJob } from '../config/measure-jobs.ts';
import { rampSchema } from '../config/measure-schema.ts';
import { emptyDocument, parseSettings } from '../config/parse-settings.ts';
import { wantsColor } from '../report/terminal.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import { measuredUrls } from './measured-url.ts';
import { overridesOf } from './overrides.ts';
import type { Edge } from './run-cli.ts';

/** `millrace ramp URL`: finds a host's limit, once the user agrees to what that takes. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = rampJob(args);
  const { ramp } = await loadApp();
  const context = { ...(await contextOf(args, edge)), color: wantsColor(edge.env, edge.stdout) };
  const { text, exitCode } = await ramp(job, context, (announcement) => confirm(announcement, job, edge));
  edge.stdout.write(text === '' ? '' : `${text}\n`);
  return exitCode;
}

/** @throws UsageError when the URL or an option is not usable */
export function rampJob(args: Arguments): RampJob {
  const { settings } = parseSettings(rampDocument, emptyDocument(), overridesOf(args));
  const [url] = measuredUrls(args.operands);
  return { url: url!, settings: settings.ramp, isConfirmed: args.has('--yes'), json: args.has('--json') };
}

// The options' paths start with the name of their document, as help texts are looked up by path alone.
const rampDocument = z.strictObject({ ramp: rampSchema.prefault({}) });

/** @returns whether to go on; null = nobody can be asked */
async function confirm(announcement: string, { isConfirmed }: RampJob, edge: Edge): Promise<boolean | null> {
  edge.stderr.write(`${announcement}\n`);
  if (isConfirmed) return true;
  const { stdin } = edge;
  if (!('isTTY' in stdin && stdin.isTTY === true) || edge.stderr.isTTY !== true) return null;
  const lines = createInterface({ input: stdin });
  try {
    edge.stderr.write('Go on? [y/N] ');
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}
