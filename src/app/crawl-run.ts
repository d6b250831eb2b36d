import type { CommandContext } from '../app-commands.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import { StopSignal } from '../core/stop-signal.ts';
import { SECOND_MS } from '../core/units.ts';
import type { KeptResponses } from '../crawl/kept-responses.ts';
import type { PlainList } from '../crawl/plain-list.ts';
import type { MetricsServer } from '../measure/metrics/serve-metrics.ts';
import { MalformedReport } from '../queue/sources/malformed-report.ts';
import type { LivePage } from '../report/live/serve-live-page.ts';
import { startProgress } from '../report/progress.ts';
import type { RouteRegistry } from '../routes/registry.ts';
import type { NewRequest, QueueCounts } from '../storage/store.ts';
import { type Composition, compose } from './compose.ts';
import { feedSeeds, feedSources } from './feed.ts';
import { feedShared } from './feed-shared.ts';
import { watchCrawl } from './live-page.ts';
import { isOwnProcess, type PreparedRun } from './prepare-run.ts';
import { progressFacts } from './progress-facts.ts';
import { type FeedState, loadFeed, saveFeed } from './run-meta.ts';
import { RunMonitor } from './run-monitor.ts';
import { startMetrics } from './start-metrics.ts';

export type CrawlEnd = {
  composition: Composition;
  counts: QueueCounts;
  /** The governor's last word on each key. */
  snapshots: readonly KeySnapshot[];
  feed: FeedState;
  /** Why it ended before all was done; null when it did not. */
  endedEarly: string | null;
  wasInterrupted: boolean;
};

export type CrawlRunOptions = {
  prepared: PreparedRun;
  context: CommandContext;
  routes: RouteRegistry;
  seeds: AsyncIterable<NewRequest> | null;
  plain: PlainList | null;
  kept: KeptResponses | null;
  reveal: (text: string) => string;
  conceal: (text: string) => string;
  /** Shows the crawl while it goes on; null = nobody looks. */
  live: LivePage | null;
  /** Told of the parts once they are there, before anything is sent. */
  onComposed: (composition: Composition) => void;
};

/** Feeds and runs one crawl to its end, or to where it is stopped; everything it opened but the store is closed. */
export async function runCrawl(options: CrawlRunOptions): Promise<CrawlEnd> {
  const { prepared, context, plain, routes, reveal, conceal } = options;
  const { job, run } = prepared;
  const { ports, signal } = context;
  const feed = await loadFeed(run.store.values);
  const cutOff = new AbortController();
  const origins = new Set(feed.origins);
  const composition = await compose({
    input: job.input,
    run: job.run,
    store: run.store,
    routes,
    plain,
    isJoiner: !isOwnProcess(prepared),
    seat: prepared.seat ?? null,
    ports,
    origins,
    kept: options.kept,
    reveal,
    conceal,
    signal: cutOff.signal,
    onTick: () => {},
  });
  options.onComposed(composition);
  const { crawler } = composition;
  let endedEarly: string | null = null;
  const stopFeeding = new AbortController();
  const end = (reason: string): void => {
    endedEarly ??= reason;
    stopFeeding.abort(FEEDING_STOPPED);
    crawler.stop();
    void crawler.autoscaledPool?.notify();
  };
  const monitor = new RunMonitor({
    composition,
    store: run.store,
    input: job.input,
    ports,
    isJoiner: !isOwnProcess(prepared),
    seat: prepared.seat ?? null,
    onLimit: end,
  });
  const stopped = onceAborted(signal, () => {
    const drainMs = signal.reason instanceof StopSignal ? signal.reason.drainMs : 0;
    const drainText = `${drainMs / SECOND_MS} s`;
    ports.log.info(`Stopping: requests in flight get up to ${drainText} to end. Once more to end at once.`);
    end('stopped');
    ports.clock.schedule(drainMs, () => cutOff.abort(signal.reason));
  });
  const progress = startProgress({
    ports,
    area: context.area,
    color: context.color,
    quiet: job.progress === 'off',
    facts: () => progressFacts({ monitor, composition, clock: ports.clock }),
  });
  let metrics: MetricsServer | null = null;
  try {
    metrics = await startMetrics(job.metricsPort, {
      composition,
      monitor,
      isReady: () => !signal.aborted && endedEarly === null,
      log: ports.log,
    });
    await monitor.start();
    prepared.seat?.start((error) => crawler.fail(error));
    await watchCrawl(options.live, {
      prepared,
      ports,
      moment: () => ({ composition, counts: monitor.counts, snapshots: monitor.snapshots, feed }),
    });
    const feeding = feedAll(options, {
      composition,
      feed,
      origins,
      signal: AbortSignal.any([signal, stopFeeding.signal]),
    });
    // Its error, if any, is met below; until then it must not count as unhandled.
    feeding.catch((error: unknown) => (signal.aborted || error === FEEDING_STOPPED ? undefined : crawler.fail(error)));
    await crawler.run();
    if (crawler.hasReachedItsLimit) end(`maxRequestsPerCrawl (${job.input.maxRequestsPerCrawl}) is reached`);
    if (!signal.aborted) await unlessStopped(feeding);
    await monitor.stop();
  } finally {
    stopped();
    progress.stop();
    await metrics?.close();
    await composition.close();
  }
  const counts = await run.store.queue.counts();
  return { composition, counts, snapshots: monitor.snapshots, feed, endedEarly, wasInterrupted: signal.aborted };
}

/** Why sources are read no further: the crawl has ended before all is done. They are read on when it is continued. */
const FEEDING_STOPPED = new Error('The crawl has ended');

// The other workers of a shared run send headers to the origins of the start URLs: they learn of new ones within this.
const ORIGINS_KNOWN_AFTER_MS = SECOND_MS;

type Feeding = { composition: Composition; feed: FeedState; origins: Set<string>; signal: AbortSignal };

async function unlessStopped(feeding: Promise<void>): Promise<void> {
  try {
    await feeding;
  } catch (error) {
    if (error !== FEEDING_STOPPED) throw error;
  }
}

async function feedAll(options: CrawlRunOptions, { composition, feed, origins, signal }: Feeding): Promise<void> {
  const { prepared, context } = options;
  const { job, seat } = prepared;
  const { clock, log } = context.ports;
  if (seat) {
    const feedOnce = (until: AbortSignal) => feedAlone(options, { composition, feed, origins, signal: until });
    return feedShared({ seat, composition, feed, origins, feedOnce, clock, log, signal });
  }
  // Whoever joins works; the run's own process reads the sources.
  if (feed.isDone || job.join) return;
  await feedAlone(options, { composition, feed, origins, signal });
}

async function feedAlone(
  { prepared, context, seeds }: CrawlRunOptions,
  { composition, feed, origins, signal }: Feeding,
): Promise<void> {
  const { job, run } = prepared;
  const { queue } = composition;
  const { values } = run.store;
  const close = queue.openSource();
  const malformed = new MalformedReport(context.ports.log);
  const options = {
    queue,
    values,
    state: feed,
    origins,
    sources: job.inputs,
    input: job.input,
    stdin: context.stdin,
    onMalformed: malformed.add,
    signal,
    onNewOrigins: async () => {
      if (prepared.seat == null || Object.keys(job.input.headers).length === 0) return;
      await saveFeed(values, feed);
      await context.ports.clock.sleep(ORIGINS_KNOWN_AFTER_MS, signal);
    },
  };
  try {
    if (seeds !== null) await feedSeeds(options, seeds);
    await feedSources(options);
    malformed.end();
    feed.isDone = true;
    await saveFeed(values, feed);
  } finally {
    close();
  }
}

/** @returns stops listening */
function onceAborted(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) action();
  else signal.addEventListener('abort', action, { once: true });
  return () => signal.removeEventListener('abort', action);
}
