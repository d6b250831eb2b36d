import type { CrawlJob } from '../config/crawl-job.ts';
import type { Ports } from '../core/ports.ts';
import { KeptResponses } from '../crawl/kept-responses.ts';
import { PREVIOUS_SUFFIX } from '../storage/runs.ts';
import { readRunAt } from './run-access.ts';
import { loadMeta, type RunMeta } from './run-meta.ts';

/** What a run with --refresh asks by; to be closed after it. */
export type KeptOfRun = { responses: KeptResponses | null; close(): Promise<void> };

const NOTHING: KeptOfRun = { responses: null, close: async () => {} };

/** Opens what the finished run before, of the same input, has kept; nothing without --refresh. */
export async function openKept(
  { refresh, ...place }: Pick<CrawlJob, 'refresh' | 'storageDir' | 'run' | 'database'>,
  { fingerprint }: Pick<RunMeta, 'fingerprint'>,
  ports: Ports,
): Promise<KeptOfRun> {
  if (!refresh) return NOTHING;
  const store = await readRunAt({ ...place, run: place.run + PREVIOUS_SUFFIX }, ports);
  const meta = store === null ? null : await loadMeta(store.values);
  const isUsable = meta?.isFinished === true && meta.fingerprint === fingerprint;
  const close = async (): Promise<void> => store?.close();
  return { responses: new KeptResponses(isUsable ? store!.values : null), close };
}
