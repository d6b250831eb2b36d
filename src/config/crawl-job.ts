import type { Input, InputDocument, StartUrl } from './input-schema.ts';
import type { Setting } from './lay-over.ts';

/** How a list of URLs is written. auto = told from its first line: standard input has no name to go by. */
export type ListFormat = 'text' | 'csv' | 'jsonl' | 'auto';

/** Requests written out: on the command line, or as startUrls. `name` is what they are called in messages. */
export type RequestsSpec = { kind: 'requests'; name: string; requests: readonly StartUrl[] };

/** A list in a file, gzip or not. `path` is absolute; `name` is what it is called in messages. */
export type FileSpec = { kind: 'file'; path: string; name: string; format: ListFormat; urlColumn: string | null };

export type StdinSpec = { kind: 'stdin'; format: ListFormat; urlColumn: string | null };

/** One place URLs come from. Plain JSON, so that a run can remember it. Opened by `openSource` in queue/sources. */
export type SourceSpec = RequestsSpec | FileSpec | StdinSpec;

export type OutputFormat = 'json' | 'jsonl' | 'ndjson' | 'csv' | 'parquet';

/** One file to write records to. */
export type OutputSpec = { /** Absolute, or `-` for standard output. */ path: string } & OutputFormatSpec;

export type OutputFormatSpec = { format: OutputFormat; gzip: boolean };

/** How a CSV is written, where it is not as usual: docs/exports.md has the defaults. */
export type CsvSpec = {
  /** One character. */
  delimiter?: string;
  bom?: boolean;
  lineEnding?: 'lf' | 'crlf';
  escapeFormulas?: boolean;
};

/** Where the report page is served while it crawls. */
export type LivePageSpec = {
  address: string;
  /** 0 = any free one. */
  port: number;
  /** Host names besides addresses and localhost that it may be asked for by. */
  hostNames?: readonly string[];
};

/** What `crawl` is asked to do. Parsed once, frozen; no secret is in it but what was typed literally. */
export type CrawlJob = {
  /** The input document with the command line laid over it, defaults filled in. References `${env:}` are unresolved. */
  input: Input;
  /** The same as written, without defaults: what a run stores to be resumed by. */
  document: InputDocument;
  /** What the command line alone set: laid over the stored document when a run is resumed (`resumeInput`). */
  overrides: readonly Setting[];
  /** Absolute folder that relative paths in the document (`urlsFile`, `${file:}`) start from. */
  baseDir: string;
  /**
   * given = an input was named; routes = none was, so the seeds of the routes are crawled (as shipped: the practice
   * API, run `practice`, always fresh); resume = only --run was: its stored document and sources are taken again.
   */
  source: 'given' | 'routes' | 'resume';
  /** All URL sources in order, those of the document included. Empty for routes, an api, or a resumed run. */
  inputs: readonly SourceSpec[];
  run: string;
  /** Whether --run named it. */
  runGiven: boolean;
  /** Absolute. */
  storageDir: string;
  /** As in RunPlace. */
  database?: string | null;
  /** As in RunPlace. */
  typedPlace?: string;
  /** Only works on a shared run: adds nothing, writes no files. */
  workOnly?: boolean;
  fresh: boolean;
  /** Keep responses that have validators, and ask only for what has changed since the finished run before. */
  refresh: boolean;
  /** Only so many pages of each resource of the api; null = all. A sample is begun anew each time. */
  samplePages: number | null;
  join: boolean;
  /**
   * Files named by --output, or those that a resumed run remembers; empty = the run's own exports folder, in the
   * document's formats.
   */
  outputs: readonly OutputSpec[];
  csv: CsvSpec;
  exportAtEnd: boolean;
  /** A further place for the report page, absolute; null = the run's folder only. */
  report: string | null;
  /** Replace an output file that is not the run's. */
  force: boolean;
  /** The summary goes to stdout as one JSON document. */
  json: boolean;
  /** Where metrics and health are served while it crawls; 0 = any free port; left out = nowhere. */
  metricsPort?: number;
  /** Left out = nowhere. */
  ui?: LivePageSpec;
  /** auto = a status line on a terminal, a log line every 10 s elsewhere. */
  progress: 'auto' | 'off';
  /** Only warnings and errors: no readable summary. */
  quiet: boolean;
};
