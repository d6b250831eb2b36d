import type { Readable, Writable } from 'node:stream';
import type { CrawlJob } from './config/crawl-job.ts';
import type { BenchJob, ProbeJob, RampJob } from './config/measure-jobs.ts';
import type { PracticeApiJob } from './config/practice-api-schema.ts';
import type { ExportJob, FailuresJob, RecoverJob, RetryJob, RevalidateJob, StatusJob } from './config/run-jobs.ts';
import type { Ports } from './core/ports.ts';
import type { Summary } from './core/summary.ts';
import type { LiveArea } from './report/terminal.ts';
import type { RecoveredRun } from './storage/recover-run.ts';
import type { RunStore } from './storage/store.ts';

/** What a command of the app is handed besides its job. */
export type CommandContext = {
  ports: Ports;
  /** Aborted with a StopSignal on SIGINT or SIGTERM. */
  signal: AbortSignal;
  /** For answers only: the caller writes them. */
  stdout: Writable;
  stdin: Readable;
  /** stderr: everything people read along. The log prints through it too. */
  area: LiveArea;
  color: boolean;
  /** For `${env:NAME}` references alone. */
  env: Readonly<Record<string, string | undefined>>;
  /** Left out = nobody works beside the crawl. */
  companion?: CrawlCompanion;
};

/** What a companion is told of the run. */
export type AccompaniedRun = {
  store: RunStore;
  /** The dataset that records without a dataset of their own go to. */
  mainDataset: string;
  /** Ends the crawl with this error. */
  fail: (error: unknown) => void;
};

/** Works beside a crawl on what it stores: on a platform, hands it over. */
export type CrawlCompanion = {
  /** Called when the run is open, before anything is sent. @returns the store that the crawl is to use */
  begin(run: AccompaniedRun): Promise<RunStore>;
  /** Called when the crawl stores nothing more and the run is still open. */
  end(): Promise<void>;
  /** Called instead of `end` when the crawl has failed. */
  abandon(): Promise<void>;
};

/** What became of the rows of dataset `invalid`. */
export type Revalidated = {
  /** Rows whose records are where they belong now. */
  moved: number;
  left: number;
  /** Requests found on bodies that fit by now: they wait for the run to be continued. */
  requests: number;
  /** Why rows were left, with how many; the most frequent first. */
  reasons: readonly { reason: string; count: number }[];
};

/** A request as it is shown before it is sent: references are not filled in, other secrets hidden. */
export type PlannedRequest = {
  method: string;
  url: string;
  label: string | null;
  headers: Readonly<Record<string, string>>;
  payload: string | null;
};

/**
 * What src/app.ts exports and the command line calls. All throw UsageError (exit 2) or EnvironmentError (exit 1); when
 * the signal aborts they save what there is and return, or throw the signal's reason.
 */
export type AppCommands = {
  /**
   * Shows progress and the readable summary on `area`, as the job's progress, quiet and json say.
   * @returns exitCode 0 or 3; a summary of state `interrupted` ends with the signal's code instead
   */
  crawl(job: CrawlJob, context: CommandContext): Promise<{ summary: Summary; exitCode: 0 | 3 }>;
  /** @returns the first requests of a crawl: all of an api, a few of the routes and of each list. Nothing is sent. */
  dryRun(job: CrawlJob, context: CommandContext): Promise<{ requests: readonly PlannedRequest[]; hasMore: boolean }>;
  /** Puts failed requests back, then as `crawl`. */
  retryFailed(job: RetryJob, context: CommandContext): Promise<{ summary: Summary; exitCode: 0 | 3 }>;
  /** Writes failed requests as a JSON Lines list; a run in use can be asked too. @returns how many there are */
  writeFailures(job: FailuresJob, context: CommandContext): Promise<{ count: number }>;
  /** Moves records that fit by now out of dataset `invalid`, without a request. */
  revalidate(job: RevalidateJob, context: CommandContext): Promise<Revalidated>;
  /** Makes a new run of what can be read of a damaged one. @returns what came over */
  recover(job: RecoverJob, context: CommandContext): Promise<RecoveredRun>;
  /** @returns absolute paths of the files written */
  exportRun(job: ExportJob, context: CommandContext): Promise<{ files: readonly string[] }>;
  /** @returns what the run has done and has left, from the store alone; a run in use can be asked too */
  runStatus(job: StatusJob, context: CommandContext): Promise<Summary>;
  /** @returns what to say on stdout, and the exit code: 3 when a URL gave no answer, 1 when the set-up is not right */
  probe(job: ProbeJob, context: CommandContext): Promise<{ text: string; exitCode: 0 | 1 | 3 }>;
  /** @returns what to say on stdout; exit code 3 when nothing was answered */
  bench(job: BenchJob, context: CommandContext): Promise<{ text: string; exitCode: 0 | 3 }>;
  /**
   * Finds a host's limit. `confirm` is told what will be sent, and says whether to go on; null = nobody can be asked.
   * @returns what to say on stdout; exit code 3 when nothing was answered
   */
  ramp(
    job: RampJob,
    context: CommandContext,
    confirm: (announcement: string) => Promise<boolean | null>,
  ): Promise<{ text: string; exitCode: 0 | 3 }>;
  /** Serves until the signal aborts, then closes. `onListening` is told the base URL. */
  servePracticeApi(job: PracticeApiJob, context: CommandContext, onListening: (baseUrl: string) => void): Promise<void>;
};
