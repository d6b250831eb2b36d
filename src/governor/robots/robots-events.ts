import type { CrawlEvent } from '../../core/events.ts';
import { HOUR_MS, SECOND_MS } from '../../core/units.ts';
import type { FetchOutcome, OriginState, Outage } from './origin-state.ts';

/** What is said of a change; the host is said before the reason. */
export type Explanation = Pick<CrawlEvent, 'kind' | 'reason' | 'facts'>;

/** Puts into words what a fetch of a robots.txt came to. */
export function explainFetch(
  outcome: FetchOutcome,
  { before, after, nowMs }: { before: OriginState; after: OriginState; nowMs: number },
): Explanation {
  if (outcome.kind === 'unreachable') return explainOutage(after, nowMs);
  const { count, crawlDelayMs } = outcome.rules;
  const again = before.outage === null ? '' : 'back in reach; ';
  const delay = crawlDelayMs === 0 ? '' : `, and asks for ${crawlDelayMs / SECOND_MS} s between requests`;
  return {
    kind: 'robots',
    reason: `${again}${describeSource(outcome)}${describeCount(count)}${delay}`,
    facts: { rules: count, crawlDelayMs },
  };
}

/** @returns why a host whose robots.txt stayed out of reach is given up */
export function describeGivenUp({ reason }: Outage): string {
  return `its robots.txt stayed out of reach: ${reason}`;
}

function explainOutage({ rules, outage }: OriginState, nowMs: number): Explanation {
  const { reason, isGivenUp, nextFetchAtMs } = outage as Outage;
  if (isGivenUp) return { kind: 'given-up', reason: describeGivenUp(outage as Outage) };
  const consequence = rules === null ? 'nothing is sent meanwhile' : 'the rules last known hold';
  const waitSecs = Math.round((nextFetchAtMs - nowMs) / SECOND_MS);
  return {
    kind: 'robots',
    reason: `robots.txt is out of reach (${reason}); ${consequence}, next try in ${waitSecs} s`,
    facts: { waitMs: nextFetchAtMs - nowMs },
  };
}

type Known = Extract<FetchOutcome, { kind: 'rules' }>;

function describeSource({ source, ageMs }: Known): string {
  if (source === 'absent') return 'there is no robots.txt; it ';
  return source === 'file' ? 'robots.txt ' : `robots.txt, fetched ${(ageMs / HOUR_MS).toFixed(1)} h ago, `;
}

function describeCount(count: number): string {
  return count === 0 ? 'allows everything' : `has ${count} ${count === 1 ? 'rule' : 'rules'} for us`;
}
