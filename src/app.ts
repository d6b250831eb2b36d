import type { AppCommands } from './app-commands.ts';

/**
 * The composition root: what each command of the command line does. The parts are put together in app/; each command
 * loads what it needs.
 */
export const crawl: AppCommands['crawl'] = async (job, context) =>
  (await import('./app/crawl-command.ts')).crawl(job, context);

export const dryRun: AppCommands['dryRun'] = async (job, context) =>
  (await import('./app/dry-run.ts')).dryRun(job, context);

export const retryFailed: AppCommands['retryFailed'] = async (job, context) =>
  (await import('./app/retry-command.ts')).retryFailed(job, context);

export const writeFailures: AppCommands['writeFailures'] = async (job, context) =>
  (await import('./app/failures-file.ts')).writeFailures(job, context);

export const revalidate: AppCommands['revalidate'] = async (job, context) =>
  (await import('./app/revalidate.ts')).revalidate(job, context);

export const recover: AppCommands['recover'] = async ({ run, to, storageDir }, { ports }) =>
  (await import('./storage/recover-run.ts')).recoverRun({ storageDir, from: run, to, ports });

export const exportRun: AppCommands['exportRun'] = async (job, context) =>
  (await import('./app/look-commands.ts')).exportRun(job, context);

export const runStatus: AppCommands['runStatus'] = async (job, context) =>
  (await import('./app/look-commands.ts')).runStatus(job, context);

export const probe: AppCommands['probe'] = async (job, context) =>
  (await import('./app/measure-commands.ts')).probe(job, context);

export const bench: AppCommands['bench'] = async (job, context) =>
  (await import('./app/measure-commands.ts')).bench(job, context);

export const ramp: AppCommands['ramp'] = async (job, context, confirm) =>
  (await import('./app/measure-commands.ts')).ramp(job, context, confirm);

export const servePracticeApi: AppCommands['servePracticeApi'] = async (job, context, onListening) =>
  (await import('./app/practice-command.ts')).servePracticeApi(job, context, onListening);
