import type { CrawlJob } from './crawl-job.ts';
import { inputSchema } from './input-schema.ts';
import type { Setting } from './lay-over.ts';
import { emptyDocument, parseSettings, type SourceDocument } from './parse-settings.ts';

/** The parts of a job that come from the document and the command line together. */
export type LoadedInput = Pick<CrawlJob, 'input' | 'document' | 'overrides'>;

/**
 * Parses an input document with the command line laid over it. References stay as they are written: they are resolved
 * where they are used, by `resolveReferences`, and so never stored.
 * @throws UsageError with every problem
 */
export function loadInput(source: SourceDocument, settings: readonly Setting[]): LoadedInput {
  const { settings: input, document } = parseSettings(inputSchema, source, settings);
  return { input, document, overrides: settings };
}

/**
 * Parses the document a run has stored, with what the command line sets now laid over it.
 * @throws UsageError with every problem: the document may be from another version
 */
export function resumeInput(stored: unknown, settings: readonly Setting[]): LoadedInput {
  return loadInput({ ...emptyDocument(), value: stored, placeOf: () => 'the stored input of the run' }, settings);
}
