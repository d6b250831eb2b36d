import type { OutputSpec } from './crawl-job.ts';

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

/** What `status` is asked to do. */
export type StatusJob = RunPlace & { json: boolean };
