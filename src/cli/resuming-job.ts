import type { CrawlJob } from '../config/crawl-job.ts';
import { loadInput } from '../config/load-input.ts';
import { emptyDocument } from '../config/parse-settings.ts';
import type { Arguments } from './arguments.ts';
import { csvOf, outputsOf } from './outputs.ts';
import { overridesOf } from './overrides.ts';
import type { Edge } from './run-cli.ts';
import { runPlaceOf } from './run-place.ts';

/**
 * The job that goes on with the run which the arguments name, by the input it has stored.
 * @throws UsageError when an option's value is not usable
 */
export function resumingJob(args: Arguments, edge: Pick<Edge, 'cwd' | 'env'>): CrawlJob {
  const isQuiet = args.has('--quiet');
  return {
    ...loadInput(emptyDocument(), overridesOf(args)),
    ...runPlaceOf(args, edge),
    runGiven: true,
    baseDir: edge.cwd,
    source: 'resume',
    inputs: [],
    outputs: outputsOf(args.list('--output'), edge.cwd),
    csv: csvOf(args),
    fresh: false,
    refresh: false,
    samplePages: null,
    join: false,
    exportAtEnd: !args.has('--no-export'),
    report: null,
    force: args.has('--force'),
    json: args.has('--json'),
    progress: isQuiet ? 'off' : 'auto',
    quiet: isQuiet,
  };
}
