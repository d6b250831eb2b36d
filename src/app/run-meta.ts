import { createHash } from 'node:crypto';
import type { CrawlJob, CsvSpec, OutputSpec, SourceSpec } from '../config/crawl-job.ts';
import type { InputDocument } from '../config/input-schema.ts';
import type { ValueStore } from '../storage/store.ts';

/** What a run remembers of itself, in its store's values. */
export type RunMeta = {
  version: 1;
  /** Of what is crawled; how fast is not part of it. */
  fingerprint: string;
  isFinished: boolean;
  source: 'given' | 'routes';
  /** To resume by `--run` alone; secrets written into it are left out. */
  document: InputDocument;
  /** Where those secrets stood: they have to be given again. */
  missingSecrets: readonly string[];
  baseDir: string;
  inputs: readonly SourceSpec[];
  /** Whether it was begun with --refresh. */
  refresh?: true;
  /** Pages of each resource, of a run that is a sample. */
  samplePages?: number;
  /** Absolute paths of files that are the run's own: they may be replaced. */
  exports: string[];
  /** Files asked for by --output, with the options they are written by; left out = those of the run's own folder. */
  outputs?: { files: readonly OutputSpec[]; csv: CsvSpec; force: boolean };
};

/** How far the sources have been read; kept apart, as it changes with every batch. */
export type FeedState = {
  /** All read to their end, and all seeds added. */
  isDone: boolean;
  /** The source being read, and its last line that is stored. */
  source: number;
  line: number;
  lines: number;
  malformed: number;
  duplicates: number;
  /** Origins of the start URLs: where `headers` are sent to. */
  origins: string[];
};

const META_KEY = 'run';
const FEED_KEY = 'feed';

export function loadMeta(values: ValueStore): Promise<RunMeta | null> {
  return values.get<RunMeta>(META_KEY);
}

export function saveMeta(values: ValueStore, meta: RunMeta): Promise<void> {
  return values.set(META_KEY, meta);
}

export async function loadFeed(values: ValueStore): Promise<FeedState> {
  const none = { isDone: false, source: 0, line: 0, lines: 0, malformed: 0, duplicates: 0, origins: [] };
  return (await values.get<FeedState>(FEED_KEY)) ?? none;
}

export function saveFeed(values: ValueStore, feed: FeedState): Promise<void> {
  return values.set(FEED_KEY, feed);
}

// Settings that say how to crawl, not what: a run may be resumed with others.
const TUNING: ReadonlySet<string> = new Set([
  'maxConcurrency',
  'maxRequestsPerMinute',
  'hosts',
  'headers',
  'contact',
  'userAgent',
  'productToken',
  'httpClient',
  'durability',
  'maxRequestsPerCrawl',
  'maxDurationSecs',
  'maxFailures',
  'maxFailureShare',
  'maxWaitSecs',
  'maxBodyBytes',
  'blockPrivateAddresses',
  'queue',
  'failOnErrors',
  'export',
]);

/**
 * What is crawled, as a hash: the same input again continues a run.
 * @param sources what tells the URL sources apart, contents included
 */
export function fingerprintOf(
  job: Pick<CrawlJob, 'source' | 'document' | 'samplePages'>,
  { sources, labels }: { sources: string; labels: readonly string[] },
): string {
  const what = Object.entries(job.document)
    .filter(([key]) => !TUNING.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const usesRoutes = job.source === 'routes' || job.document.routes === true;
  const sample = job.samplePages === null ? [] : [job.samplePages];
  return createHash('sha256')
    .update(JSON.stringify([job.source, what, sources, usesRoutes ? labels : [], ...sample]))
    .digest('hex');
}
