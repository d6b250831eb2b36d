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

/** What `practice-api` is asked to do. */
export type PracticeApiJob = {
  /** 0 = any free one. */
  port: number;
  items: number;
  latencyMs: number;
  /** 0 to 1. */
  errorRate: number;
  /** Requests per second; null = no limit. */
  rateLimit: number | null;
};
