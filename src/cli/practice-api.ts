import { z } from 'zod';
import { emptyDocument, parseSettings } from '../config/parse-settings.ts';
import { type PracticeApiJob, practiceApiSchema } from '../config/practice-api-schema.ts';
import type { Arguments } from './arguments.ts';
import { contextOf } from './context.ts';
import { loadApp } from './load-app.ts';
import { overridesOf } from './overrides.ts';
import type { Edge } from './run-cli.ts';

/** `millrace practice-api`: serves until a signal, which is its normal end. */
export async function run(args: Arguments, edge: Edge): Promise<number> {
  const job = practiceApiJob(args);
  const { servePracticeApi } = await loadApp();
  await servePracticeApi(job, await contextOf(args, edge), (baseUrl) => {
    edge.stderr.write(`The practice API answers at ${baseUrl}, until Ctrl-C.\n`);
  });
  return 0;
}

/** @throws UsageError listing every value out of its range */
export function practiceApiJob(args: Arguments): PracticeApiJob {
  const { settings } = parseSettings(practiceApiDocument, emptyDocument(), overridesOf(args));
  return settings.practiceApi;
}

// The options' paths start with the name of their document, as help texts are looked up by path alone.
const practiceApiDocument = z.strictObject({ practiceApi: practiceApiSchema.prefault({}) });
