import type { CrawlJob, CsvSpec, OutputFormatSpec, OutputSpec } from './crawl-job.ts';
import type { Input } from './input-schema.ts';

/** A run, in a storage folder or on a PostgreSQL. */
export type RunPlace = {
  run: string;
  /** Absolute. */
  storageDir: string;
  /** URL of the PostgreSQL that holds the run, perhaps with a password: never shown. null or left out = the folder. */
  database?: string | null;
  /**
   * What was typed to name the place, as advised commands repeat it: ` --storage-dir data`. Of a database no URL is in it.
   * Left out = nothing was.
   */
  typedPlace?: string;
};

/** What `export` is asked to do. */
export type ExportJob = RunPlace & {
  /** Only these; null = all of the run. */
  datasets: readonly string[] | null;
  /** Files named by --output; empty = the run's own exports folder. */
  outputs: readonly OutputSpec[];
  /** What the files of that folder are written as; null = the document's formats. */
  format: OutputFormatSpec | null;
  /** Columns by name, or objects for all below them; null = all. */
  fields: readonly string[] | null;
  /** Most rows of each dataset; null = all. */
  limit: number | null;
  csv: CsvSpec;
  force: boolean;
  json: boolean;
  /** auto = a progress line on a terminal, a log line every 10 s elsewhere. */
  progress: 'auto' | 'off';
};

/** What `retry-failed` is asked to do. */
export type RetryJob = {
  /** All criteria given must hold; none = every failed request. */
  selection: { reasons?: readonly string[]; hosts?: readonly string[] /** Epoch ms. */; handledSinceMs?: number };
  /** The crawl that follows: of source `resume`. */
  crawl: CrawlJob;
};

/** What `retry-failed --failures` is asked to do. */
export type FailuresJob = RunPlace &
  Pick<RetryJob, 'selection'> & { /** Absolute, or `-`. */ file: string; force: boolean };

/** What `revalidate` is asked to do. */
export type RevalidateJob = RunPlace & {
  /** An input document whose api takes the place of the one the run has stored; null = that one. */
  document: { input: Input; baseDir: string } | null;
  json: boolean;
};

/** What `recover` is asked to do: `to` is the run to make. */
export type RecoverJob = { run: string; to: string; storageDir: string };

/** What `status` is asked to do. */
export type StatusJob = RunPlace & { json: boolean };
