import type { Summary } from '../core/summary.ts';
import type { CommandContext } from './command-context.ts';
import type { CrawlJob } from './crawl-job.ts';
import type { ExportJob, PracticeApiJob, StatusJob } from './run-jobs.ts';

/**
 * What src/app.ts exports and the command line calls. All throw UsageError (exit 2) or EnvironmentError (exit 1); when
 * the signal aborts they save what there is and return, or throw the signal's reason.
 */
export type AppCommands = {
  /**
   * Shows progress and the readable summary through `ui`, unless `job.json`; the caller prints the JSON.
   * @returns exitCode 0 or 3; a summary of state `interrupted` ends with the signal's code instead
   */
  crawl(job: CrawlJob, context: CommandContext): Promise<{ summary: Summary; exitCode: 0 | 3 }>;
  /** @returns absolute paths of the files written */
  exportRun(job: ExportJob, context: CommandContext): Promise<{ files: readonly string[] }>;
  /** @returns what the run has done and has left, from the store alone; a run in use can be asked too */
  runStatus(job: StatusJob, context: CommandContext): Promise<Summary>;
  /** Serves until the signal aborts, then closes. `onListening` is told the base URL. */
  servePracticeApi(job: PracticeApiJob, context: CommandContext, onListening: (baseUrl: string) => void): Promise<void>;
};
