import type { CrawlJob } from '../config/crawl-job.ts';
import { resumeInput } from '../config/load-input.ts';
import { secretsStillMissing, storableDocument } from '../config/storable-document.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { runCommand } from '../core/run-command.ts';
import { moveToPrevious, type OpenRun, openRun, runExists } from '../storage/runs.ts';
import { carriedOver } from './carried-over.ts';
import { outputsOfResumed, outputsToRemember, withOutputsOf } from './remembered-outputs.ts';
import type { WorkRun } from './run-access.ts';
import { loadMeta, type RunMeta, saveMeta } from './run-meta.ts';
import type { SharedSeat } from './shared-seat.ts';

/** A run that is locked and open, and the job as it is to be done: a resumed one is what the run has stored. */
export type PreparedRun = {
  run: WorkRun;
  meta: RunMeta;
  job: CrawlJob;
  isResumed: boolean;
  /** Of a run that several workers share; null or left out = the run is this machine's. */
  seat?: SharedSeat | null;
};

/** @returns whether this process is the run's own: it reads the sources, keeps the record and writes the files */
export function isOwnProcess({ job, seat }: PreparedRun): boolean {
  return seat ? seat.isLead : !job.join;
}

/**
 * Opens the run a job asks for: continues an unfinished one of the same input, keeps a finished one as previous and
 * begins anew.
 * @param fingerprint of the job's input; not asked for when the run alone is resumed
 * @throws UsageError for another input over an unfinished run, or a run to resume that is not there
 * @throws EnvironmentError when the run is in use or cannot be written
 */
export async function prepareRun(
  job: CrawlJob,
  fingerprint: () => Promise<string>,
  ports: Ports,
): Promise<PreparedRun> {
  if (job.source === 'resume' && !(await runExists(job.storageDir, job.run))) throw noSuchRun(job);
  const wanted = job.source === 'resume' ? null : await fingerprint();
  const run = await open(job, ports);
  try {
    const stored = await loadMeta(run.store.values);
    if (stored === null || mustBeginAnew(job, stored)) return await beginAnew(job, { run, stored, wanted, ports });
    if (wanted !== null && wanted !== stored.fingerprint) throw otherInput(job);
    const meta = job.join ? stored : withOutputsOf(job, stored);
    if (meta !== stored) await saveMeta(run.store.values, meta);
    return { run, meta, job: resumedJob(job, stored), isResumed: true };
  } catch (error) {
    await run.close();
    throw error;
  }
}

function open(job: CrawlJob, ports: Ports): Promise<OpenRun> {
  const { storageDir, run: name, join } = job;
  return openRun({ storageDir, name, durability: job.input.durability, ports, access: join ? 'join' : 'own' });
}

function mustBeginAnew(job: CrawlJob, stored: RunMeta): boolean {
  return !job.join && (job.fresh || stored.isFinished || stored.samplePages !== undefined);
}

type Beginning = { run: OpenRun; stored: RunMeta | null; wanted: string | null; ports: Ports };

async function beginAnew(job: CrawlJob, { run, stored, wanted, ports }: Beginning): Promise<PreparedRun> {
  const asked = stored !== null && job.source === 'resume' ? resumedJob(job, stored) : job;
  const meta = metaOf(asked, { fingerprint: wanted ?? stored?.fingerprint ?? '', exports: stored?.exports ?? [] });
  if (stored === null) {
    await saveMeta(run.store.values, meta);
    return { run, meta, job: asked, isResumed: false };
  }
  const carried = await carriedOver(run.store.values);
  await run.close();
  await moveToPrevious({ storageDir: job.storageDir, name: job.run, clock: ports.clock });
  const fresh = await open(job, ports);
  for (const [key, value] of carried) await fresh.store.values.set(key, value);
  await saveMeta(fresh.store.values, meta);
  return { run: fresh, meta, job: asked, isResumed: false };
}

/** What a run remembers of the job it is begun with. */
export function metaOf(job: CrawlJob, { fingerprint, exports }: Pick<RunMeta, 'fingerprint' | 'exports'>): RunMeta {
  const { baseDir, inputs } = job;
  const source = job.source === 'routes' ? 'routes' : 'given';
  return {
    version: 1,
    fingerprint,
    isFinished: false,
    source,
    ...storableDocument(job.document),
    baseDir,
    inputs,
    exports,
    ...outputsToRemember(job),
    ...(job.refresh ? { refresh: true as const } : {}),
    ...(job.samplePages === null ? {} : { samplePages: job.samplePages }),
  };
}

/**
 * The job as stored, with what the command line sets now laid over it.
 * @throws UsageError when a secret is missing that was given when it was begun
 */
export function resumedJob(job: CrawlJob, stored: RunMeta): CrawlJob {
  // A job that names its input anew brings its secrets along.
  const kept = { refresh: job.refresh || stored.refresh === true, ...outputsOfResumed(job, stored) };
  if (job.source !== 'resume') return { ...job, source: stored.source, ...kept };
  const missing = secretsStillMissing(stored.missingSecrets, job.overrides);
  if (missing.length > 0) throw new UsageError(missing.map((path) => secretMissing(job.run, path)));
  const loaded = resumeInput(stored.document, job.overrides);
  const { source, baseDir, inputs, samplePages = null } = stored;
  return { ...job, ...loaded, source, baseDir, inputs, samplePages, ...kept };
}

function secretMissing(run: string, path: string): string {
  return `Run "${run}" was begun with ${path}, which is not stored, as it may be a secret: give it again (--header 'Name: value'), or write it as \${env:NAME} in an input document.`;
}

function noSuchRun({ run, storageDir }: CrawlJob): UsageError {
  return new UsageError(
    `There is no run "${run}" in ${storageDir} to resume: name what to crawl, for example \`millrace urls.txt --run ${run}\`.`,
  );
}

export function otherInput(job: CrawlJob): UsageError {
  const { run } = job;
  return new UsageError(
    `Run "${run}" is unfinished and was begun with another input. Resume it (\`${runCommand('crawl', job)}\`), give this one a name of its own (--run NAME), or begin anew (--fresh; the unfinished one is kept as ${run}.previous).`,
  );
}
