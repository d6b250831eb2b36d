import type { CompletenessSummary, Summary } from '../core/summary.ts';
import { diagnose } from '../measure/diagnosis/diagnose.ts';
import type { RecorderState } from '../report/recorder.ts';
import { buildSummary, type SummaryFacts } from '../report/summary.ts';
import type { CrawlEnd } from './crawl-run.ts';
import { failureGroupsOf } from './failures-of.ts';
import { hostConfigs } from './host-configs.ts';
import type { PreparedRun } from './prepare-run.ts';

/** A crawl at one moment. */
export type CrawlMoment = Pick<CrawlEnd, 'composition' | 'counts' | 'snapshots' | 'feed'>;

/** The summary of a crawl that has ended. */
export async function summaryOf(facts: {
  prepared: PreparedRun;
  end: CrawlEnd;
  exports: readonly string[];
  completeness: CompletenessSummary[] | null;
  drift: Summary['drift'];
}): Promise<Summary> {
  const { prepared, end } = facts;
  const { queue, datasets } = prepared.run.store;
  // Failures from their rows: one that a retry has mended is none any more.
  const recorder = { ...end.composition.recorder.toState(), failures: await failureGroupsOf(datasets) };
  return buildSummary({
    ...(await factsOf(prepared, end, recorder)),
    state: stateOf(end),
    skipReasons: await queue.skipReasons(),
    completeness: facts.completeness,
    drift: facts.drift,
    exports: facts.exports,
  });
}

/** The summary so far, from counters alone: it reads no row, so that it may be asked for every second. */
export async function runningSummaryOf(
  prepared: PreparedRun,
  moment: CrawlMoment,
): Promise<{ summary: Summary; recorder: RecorderState }> {
  const recorder = moment.composition.recorder.toState();
  const summary = buildSummary({ ...(await factsOf(prepared, moment, recorder)), state: 'running' });
  return { summary, recorder };
}

async function factsOf(
  { job, run }: PreparedRun,
  { composition, counts, snapshots, feed }: CrawlMoment,
  recorder: RecorderState,
): Promise<Omit<SummaryFacts, 'state'>> {
  const hostConfig = hostConfigs(job.input.hosts);
  const { maxConcurrency, maxRequestsPerMinute, durability } = job.input;
  const slots = composition.slots.toState();
  return {
    recorder,
    typedPlace: job.typedPlace,
    queue: counts,
    datasets: await run.store.datasets.list(),
    workers: (await run.store.workerShares?.()) ?? null,
    snapshots,
    maxConcurrency,
    hostConcurrency: (host) => hostConfig(host).maxConcurrency,
    input: { lines: feed.lines, malformed: feed.malformed, duplicates: feed.duplicates },
    diagnosis: diagnose({ recorder, slots, maxConcurrency, maxRequestsPerMinute, durability, hostConfig }),
  };
}

function stateOf({ wasInterrupted, counts, feed }: CrawlEnd): Summary['state'] {
  if (counts.pending === 0 && feed.isDone) return 'finished';
  return wasInterrupted ? 'interrupted' : 'incomplete';
}
