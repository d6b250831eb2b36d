import type { CompletenessSummary, Summary } from '../core/summary.ts';
import { diagnose } from '../measure/diagnosis/diagnose.ts';
import { buildSummary } from '../report/summary.ts';
import type { CrawlEnd } from './crawl-run.ts';
import { failureGroupsOf } from './failures-of.ts';
import { hostConfigs } from './host-configs.ts';
import type { PreparedRun } from './prepare-run.ts';

/** The summary of a crawl that has ended. */
export async function summaryOf(facts: {
  prepared: PreparedRun;
  end: CrawlEnd;
  exports: readonly string[];
  completeness: CompletenessSummary[] | null;
}): Promise<Summary> {
  const { prepared, end } = facts;
  const { job, run } = prepared;
  const { queue, datasets } = run.store;
  const hostConfig = hostConfigs(job.input.hosts);
  const { lines, malformed, duplicates } = end.feed;
  const { maxConcurrency, maxRequestsPerMinute, durability } = job.input;
  // Failures from their rows: one that a retry has mended is none any more.
  const recorder = { ...end.composition.recorder.toState(), failures: await failureGroupsOf(datasets) };
  const slots = end.composition.slots.toState();
  return buildSummary({
    recorder,
    state: stateOf(end),
    queue: end.counts,
    datasets: await datasets.list(),
    snapshots: end.snapshots,
    maxConcurrency,
    hostConcurrency: (host) => hostConfig(host).maxConcurrency,
    input: { lines, malformed, duplicates },
    skipReasons: await queue.skipReasons(),
    completeness: facts.completeness,
    diagnosis: diagnose({ recorder, slots, maxConcurrency, maxRequestsPerMinute, durability, hostConfig }),
    exports: facts.exports,
  });
}

function stateOf({ wasInterrupted, counts, feed }: CrawlEnd): Summary['state'] {
  if (counts.pending === 0 && feed.isDone) return 'finished';
  return wasInterrupted ? 'interrupted' : 'incomplete';
}
