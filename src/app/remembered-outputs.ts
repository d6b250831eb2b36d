import type { CrawlJob } from '../config/crawl-job.ts';
import type { RunMeta } from './run-meta.ts';

type Outputs = Pick<CrawlJob, 'outputs' | 'csv' | 'force'>;

/** @returns what a run remembers of the files it is asked to write; nothing where they are those of its own folder */
export function outputsToRemember({ outputs: files, csv, force }: Outputs): Pick<RunMeta, 'outputs'> {
  if (files.length === 0 && Object.keys(csv).length === 0) return {};
  return { outputs: { files, csv, force } };
}

/** What a run remembers when it goes on: files that are named anew take the place of those before. */
export function withOutputsOf(job: Outputs, meta: RunMeta): RunMeta {
  return job.outputs.length === 0 ? meta : { ...meta, ...outputsToRemember(job) };
}

/** @returns the files a run that goes on is to write: those named now, else those it was begun with */
export function outputsOfResumed(job: Outputs, { outputs: remembered }: Pick<RunMeta, 'outputs'>): Outputs {
  const { outputs, csv, force } = job;
  if (outputs.length > 0 || remembered === undefined) return { outputs, csv, force };
  return { outputs: remembered.files, csv: { ...remembered.csv, ...csv }, force: force || remembered.force };
}
