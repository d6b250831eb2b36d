import { z } from 'zod';
import type { BenchJob, BenchVariant } from '../config/measure-jobs.ts';
import { benchSchema } from '../config/measure-schema.ts';
import { emptyDocument, parseSettings } from '../config/parse-settings.ts';
import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest-name.ts';
import { wantsColor } from '../report/terminal.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import { measuredUrls } from './measured-url.ts';
import { overridesOf } from './overrides.ts';
import type { Edge } from './run-cli.ts';

/** `millrace bench URL`: a load, and what came of it. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = benchJob(args);
  const { bench } = await loadApp();
  const context = { ...(await contextOf(args, edge)), color: wantsColor(edge.env, edge.stdout) };
  const { text, exitCode } = await bench(job, context);
  edge.stdout.write(`${text}\n`);
  return exitCode;
}

/** @throws UsageError when the URL or an option is not usable */
export function benchJob(args: Arguments): BenchJob {
  const { settings } = parseSettings(benchDocument, emptyDocument(), overridesOf(args));
  const [url] = measuredUrls(args.operands);
  const compare = args.text('--compare');
  return {
    url: url!,
    settings: settings.bench,
    compare: compare === undefined ? null : variantOf(compare),
    json: args.has('--json'),
  };
}

// The options' paths start with the name of their document, as help texts are looked up by path alone.
const benchDocument = z.strictObject({ bench: benchSchema.prefault({}) });

const NUMBER = z.string().transform(Number);
const VALUES = {
  concurrency: NUMBER.pipe(benchSchema.shape.concurrency.unwrap()),
  rate: NUMBER.pipe(z.number().positive().max(1_000_000)),
  http2: z.enum(['auto', 'off']),
  client: z.enum(['undici', 'got-scraping']),
};

/**
 * Reads `concurrency=50,http2=off`.
 * @throws UsageError listing every name there is not, and every value that is none
 */
export function variantOf(text: string): BenchVariant {
  const problems: string[] = [];
  const variant: Record<string, unknown> = {};
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=', 2).map((piece) => piece.trim());
    const schema = Object.hasOwn(VALUES, name) ? VALUES[name as keyof typeof VALUES] : undefined;
    const parsed = schema?.safeParse(value);
    if (schema === undefined) problems.push(unknownName(name));
    else if (!parsed?.success)
      problems.push(`--compare: ${part} is not possible: ${parsed?.error.issues[0]?.message}.`);
    else variant[name === 'client' ? 'httpClient' : name] = parsed.data;
  }
  if (problems.length > 0) throw new UsageError(problems);
  return variant;
}

function unknownName(name: string): string {
  const known = Object.keys(VALUES);
  return `--compare: there is no setting "${name}".${didYouMean(name, known)} There are ${known.join(', ')}.`;
}
