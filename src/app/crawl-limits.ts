import type { Input } from '../config/input-schema.ts';
import { SECOND_MS } from '../core/units.ts';
import type { RunProgress } from '../storage/store.ts';
import type { SharedSeat } from './shared-seat.ts';

/** What ends a crawl before all is done. */
export type CrawlLimits = Pick<
  Input,
  'maxRequestsPerCrawl' | 'maxDurationSecs' | 'maxFailures' | 'maxFailureShare' | 'maxWaitSecs'
>;

/** Where the workers of a shared run find the limits of the one that leads it. */
const LIMITS_KEY = 'limits';
// A share says nothing of the first few.
const LEAST_HANDLED_FOR_SHARE = 100;

export function crawlLimitsOf(input: CrawlLimits): CrawlLimits {
  const { maxRequestsPerCrawl, maxDurationSecs, maxFailures, maxFailureShare, maxWaitSecs } = input;
  return { maxRequestsPerCrawl, maxDurationSecs, maxFailures, maxFailureShare, maxWaitSecs };
}

/** Whoever leads a shared run when it begins to work says what limits it; the others go by that, whatever they know. */
export async function sayLimits({ isLead, store }: SharedSeat, own: CrawlLimits): Promise<void> {
  if (isLead) await store.values.set(LIMITS_KEY, own);
}

/** @returns the limits that hold for all workers now; the store hands out no more than they allow */
export async function heedLimits({ store }: SharedSeat, own: CrawlLimits): Promise<CrawlLimits> {
  const limits = (await store.values.get<CrawlLimits>(LIMITS_KEY)) ?? own;
  store.handleAtMost(limits.maxRequestsPerCrawl);
  return limits;
}

/**
 * @param now.failed and succeeded: since the crawl was started or continued
 * @returns why the crawl has to end before all is done; null while it has not
 */
export function limitReached(limits: CrawlLimits, now: RunProgress['spell'] & { idleForMs: number }): string | null {
  const { failed, succeeded } = now;
  const handled = failed + succeeded;
  if (limits.maxRequestsPerCrawl !== null && handled >= limits.maxRequestsPerCrawl)
    return `maxRequestsPerCrawl (${limits.maxRequestsPerCrawl}) is reached`;
  if (limits.maxDurationSecs !== null && now.elapsedMs >= limits.maxDurationSecs * SECOND_MS)
    return `maxDurationSecs (${limits.maxDurationSecs}) is reached`;
  if (limits.maxFailures !== null && failed >= limits.maxFailures)
    return `${failed} requests have failed: maxFailures is ${limits.maxFailures}`;
  if (
    limits.maxFailureShare !== null &&
    handled >= LEAST_HANDLED_FOR_SHARE &&
    failed / handled > limits.maxFailureShare
  )
    return `${failed} of ${handled} requests have failed: maxFailureShare is ${limits.maxFailureShare}`;
  if (limits.maxWaitSecs !== null && now.idleForMs > limits.maxWaitSecs * SECOND_MS)
    return `every host left is parked for ${Math.ceil(now.idleForMs / SECOND_MS)} s: maxWaitSecs is ${limits.maxWaitSecs}`;
  return null;
}
