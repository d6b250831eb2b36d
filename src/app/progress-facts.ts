import type { Ports } from '../core/ports.ts';
import { hostProgress, type ProgressFacts } from '../report/progress.ts';
import type { Composition } from './compose.ts';
import type { RunMonitor } from './run-monitor.ts';
import { waitingFor } from './waiting-for.ts';

const HOSTS_SHOWN = 8;

/** What the progress lines show. */
export function progressFacts(facts: {
  monitor: Pick<RunMonitor, 'counts' | 'snapshots' | 'pending'>;
  composition: Composition;
  clock: Ports['clock'];
}): ProgressFacts {
  const { monitor, composition, clock } = facts;
  const { total, succeeded, failed, skipped } = monitor.counts;
  const { crawler, queue, recorder, missingRobots } = composition;
  const hosts = hostProgress(recorder, monitor.snapshots, HOSTS_SHOWN);
  const waiting = waitingFor({
    nowMs: clock.nowMs(),
    wallMs: clock.wallMs(),
    inFlight: crawler.inFlight,
    pending: monitor.pending,
    leased: queue.leased,
    snapshots: monitor.snapshots,
    missingRobots,
    storeWaitMs: queue.storeWaitMs,
    nextReadyAtMs: queue.nextReadyAtMs,
  });
  return { total, succeeded, failed, skipped, hosts, waiting };
}
