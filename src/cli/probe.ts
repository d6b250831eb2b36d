import { resolve } from 'node:path';
import { z } from 'zod';
import type { ProbeJob } from '../config/measure-jobs.ts';
import { probeSchema } from '../config/measure-schema.ts';
import { emptyDocument, parseSettings } from '../config/parse-settings.ts';
import { UsageError } from '../core/errors.ts';
import { wantsColor } from '../report/terminal.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import { measuredUrls } from './measured-url.ts';
import { overridesOf } from './overrides.ts';
import type { Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

/** `millrace probe [URL...]`: what one request's time is made of; without a URL, whether the set-up is right. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = probeJob(args, edge);
  const { probe } = await loadApp();
  const context = { ...(await contextOf(args, edge)), color: wantsColor(edge.env, edge.stdout) };
  const { text, exitCode } = await probe(job, context);
  edge.stdout.write(`${text}\n`);
  return exitCode;
}

/** @throws UsageError when URLs or options are not usable, or exclude one another */
export function probeJob(args: Arguments, edge: Pick<Edge, 'cwd' | 'env'>): ProbeJob {
  const json = args.has('--json');
  const { settings } = parseSettings(probeDocument, emptyDocument(), overridesOf(args));
  const save = args.text('--save');
  if (args.has('--compare')) return compareJob(args, edge.cwd);
  const urls = measuredUrls(args.operands);
  if (urls.length === 0) {
    if (save !== undefined) throw new UsageError('--save keeps what is measured of a URL: name one.');
    const { storageDir } = runPlaceOf(args, edge);
    const databaseUrl = args.text('--database') ?? (edge.env.MILLRACE_DATABASE_URL || null);
    return { kind: 'setup', storageDir, databaseUrl, json };
  }
  return {
    kind: 'urls',
    urls,
    settings: settings.probe,
    saveTo: save === undefined ? null : resolve(edge.cwd, save),
    json,
  };
}

function compareJob(args: Arguments, cwd: string): ProbeJob {
  const files = [...args.list('--compare'), ...args.operands];
  if (files.length < 2) throw new UsageError('--compare needs two or more files that --save has written.');
  return { kind: 'compare', files: files.map((file) => resolve(cwd, file)), json: args.has('--json') };
}

// The options' paths start with the name of their document, as help texts are looked up by path alone.
const probeDocument = z.strictObject({ probe: probeSchema.prefault({}) });
