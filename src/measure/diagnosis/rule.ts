import type { DiagnosisFacts, HostFacts } from './facts.ts';
import type { Category, Part, Split } from './split.ts';

/** What a rule looks at. */
export type Case = {
  part: Part;
  /** The host with most of the part's time; null when it belongs to none. */
  host: HostFacts | null;
  split: Split;
  facts: DiagnosisFacts;
};

/** What a rule found: it names the bottleneck, and says what to do. */
export type Advice = { bottleneck: string; evidence: string; advice: string };

/** @returns null where it does not apply: wrong advice is worse than none */
export type Rule = (found: Case) => Advice | null;

// A few requests say nothing of what thousands would do.
const LEAST_ATTEMPTS = 50;
/** A part worth doing something about. */
export const NOTABLE_SHARE = 0.15;
// Idle slots up to this share come from filling and draining.
const MOST_IDLE_SHARE = 0.2;
// Answers slower than this many times the least at the median: the server is at its own limit.
const SLOWED_FACTOR = 1.6;
const HELD_SHARE = 0.7;

/** @returns whether there is enough to judge the host by */
export function isWellKnown(host: HostFacts): boolean {
  return host.answered >= LEAST_ATTEMPTS;
}

/** @returns whether a rate limit decides how fast the host is crawled: nothing else would then speed it up */
export function isHeldByLimit({ limits, limited, attempts, requestsPerSecond }: HostFacts): boolean {
  if (limited > attempts * 0.001) return true;
  const limitRps = limits?.limitRps ?? null;
  return limitRps !== null && requestsPerSecond >= HELD_SHARE * limitRps;
}

/** @returns share of the slot-time that went to these */
export function shareOf({ parts }: Split, ...categories: Category[]): number {
  return parts.filter(({ category }) => categories.includes(category)).reduce((sum, { share }) => sum + share, 0);
}

/** @returns whether, while there was work, practically every slot was on the wire or in a handler */
export function areSlotsFull(split: Split): boolean {
  const empty = shareOf(split, 'empty');
  const idle = shareOf(split, 'politeness', 'discovery', 'knee', 'own-process', 'storage');
  return empty <= 0.5 && idle <= MOST_IDLE_SHARE * (1 - empty);
}

/** @returns whether the server answers slower the more it is asked, so that more in flight would only wait */
export function hasSlowed(host: HostFacts): boolean {
  const bestMs = atBestMs(host);
  return bestMs === null || host.medianMs === null || host.medianMs > SLOWED_FACTOR * bestMs;
}

/** @returns what it takes when it is not asked for much: under a steady load the least of its answers is slow too */
export function atBestMs({ baseMs, unloadedMs }: HostFacts): number | null {
  return baseMs === null ? null : Math.min(baseMs, unloadedMs ?? baseMs);
}

/** @returns the key of a host's setting, as it is written in a document: `hosts."api.example.com".maxConcurrency` */
export function setting({ host }: HostFacts, key: string): string {
  return `hosts."${host}".${key}`;
}

/** @returns share of the time in which the event loop was busy */
export function busyShare({ slots }: Split): number {
  return slots.weighedMs > 0 ? slots.busyMs / slots.weighedMs : 0;
}
