import type { CrawlJob, OutputSpec } from './crawl-job.ts';

/** A run in a storage folder. */
export type RunPlace = { run: string /** Absolute. */; storageDir: string };

/** What `export` is asked to do. */
export type ExportJob = RunPlace & {
  /** Only these; null = all of the run. */
  datasets: readonly string[] | null;
  /** Files named by --output; empty = the run's own exports folder. */
  outputs: readonly OutputSpec[];
  force: boolean;
  json: boolean;
};

/** What `retry-failed` is asked to do. */
export type RetryJob = {
  /** All criteria given must hold; none = every failed request. */
  selection: { reasons?: readonly string[]; hosts?: readonly string[] /** Epoch ms. */; handledSinceMs?: number };
  /** The crawl that follows: of source `resume`. */
  crawl: CrawlJob;
};

/** What `retry-failed --failures` is asked to do. */
export type FailuresJob = RunPlace & Pick<RetryJob, 'selection'> & { /** Absolute, or `-`. */ file: string; force: boolean };

/** What `status` is asked to do. */
export type StatusJob = RunPlace & { json: boolean };
