import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { SECOND_MS } from '../core/units.ts';
import type { Composition } from './compose.ts';
import { type FeedState, loadFeed } from './run-meta.ts';
import { LEAD_LOST, type SharedSeat } from './shared-seat.ts';

export type SharedFeed = {
  seat: SharedSeat;
  composition: Composition;
  /** Kept as it is stored: whoever leads moves it on. */
  feed: FeedState;
  origins: Set<string>;
  /** Reads the sources on from where `feed` says. */
  feedOnce: (signal: AbortSignal) => Promise<void>;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
};

const LOOK_EVERY_MS = 500;
// Longer than a lead is waited for, and than a worker may be unheard of.
const LONGEST_WITHOUT_LEAD_MS = 120 * SECOND_MS;

/** Reads the input while this worker leads, and else waits until others have: the queue is not finished before. */
export async function feedShared(shared: SharedFeed): Promise<void> {
  const { seat, composition, feed, clock, signal } = shared;
  const close = composition.queue.openSource();
  seat.store.expectMore(true);
  let ledAtMs = clock.nowMs();
  try {
    while (!(await isFed(shared))) {
      signal.throwIfAborted();
      if (seat.isLead) await feedAsLead(shared);
      else await clock.sleep(LOOK_EVERY_MS, signal);
      if (seat.isLead || feed.isDone || (await seat.store.hasOtherWorkers())) ledAtMs = clock.nowMs();
      if (clock.nowMs() - ledAtMs > LONGEST_WITHOUT_LEAD_MS) return leaveUnfed(shared);
    }
  } finally {
    seat.store.expectMore(false);
    close();
  }
}

async function feedAsLead({ seat, feedOnce, signal }: SharedFeed): Promise<void> {
  try {
    await feedOnce(AbortSignal.any([signal, seat.leadSignal]));
  } catch (error) {
    if (error !== LEAD_LOST) throw error;
  }
}

async function isFed({ seat, feed, origins }: SharedFeed): Promise<boolean> {
  Object.assign(feed, await loadFeed(seat.store.values));
  for (const origin of feed.origins) origins.add(origin);
  return feed.isDone;
}

function leaveUnfed({ log }: SharedFeed): void {
  log.warn('The input was not read to its end, and nobody is there who reads it: run the crawl with its INPUT again.');
}
