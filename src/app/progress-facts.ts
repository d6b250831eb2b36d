import type { KeySnapshot } from '../core/key-snapshot.ts';
import { hostProgress, type ProgressFacts } from '../report/progress.ts';
import type { QueueCounts } from '../storage/store.ts';
import type { Composition } from './compose.ts';

const HOSTS_SHOWN = 8;

/** What the progress lines show. */
export function progressFacts(facts: {
  counts: QueueCounts;
  snapshots: readonly KeySnapshot[];
  composition: Composition;
}): ProgressFacts {
  const { total, succeeded, failed, skipped } = facts.counts;
  const hosts = hostProgress(facts.composition.recorder, facts.snapshots, HOSTS_SHOWN);
  return { total, succeeded, failed, skipped, hosts };
}
