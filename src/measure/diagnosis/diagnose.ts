import type { Summary } from '../../core/summary.ts';
import { describe } from './describe.ts';
import type { DiagnosisFacts } from './facts.ts';
import type { Rule } from './rule.ts';
import { fewStreams, freshHandshakes, httpVersion, rotatingProxies } from './rules/connections.ts';
import { handler, ownProcess, storage } from './rules/own.ts';
import { politeness } from './rules/politeness.ts';
import { concurrency, distance, download, slowServer } from './rules/wire.ts';
import { discovery, emptyQueue, retries } from './rules/work.ts';
import { type Category, type Part, type Split, splitTime } from './split.ts';

export type Diagnosis = NonNullable<Summary['diagnosis']>;

// A crawl of a moment is over before anything about it can be said.
const LEAST_WEIGHED_MS = 1_000;
const LEAST_ATTEMPTS = 20;
// Smaller parts are put together, so that the list stays readable.
const LEAST_SHARE = 0.005;

/** What each part of the slot-time is asked: the first rule that applies names the bottleneck. */
const RULES: Record<Category, readonly Rule[]> = {
  server: [slowServer, concurrency],
  'round-trips': [distance, concurrency],
  download: [download],
  handshakes: [rotatingProxies, httpVersion, freshHandshakes],
  'connection-wait': [fewStreams],
  politeness: [politeness],
  discovery: [discovery],
  knee: [],
  retries: [retries],
  'own-process': [ownProcess],
  storage: [storage],
  handler: [handler],
  empty: [emptyQueue],
};

/**
 * Tells where a crawl's time went, and what would make it faster. A pure function.
 * @returns the parts of the slot-time that the configuration allows, the largest first: shares from 0 to 1 that add up
 *   to 1, each with its evidence, and with advice where a rule is sure of it ("" elsewhere); null when the crawl was
 *   too short to say
 */
export function diagnose(facts: DiagnosisFacts): Diagnosis | null {
  if (facts.slots.weighedMs < LEAST_WEIGHED_MS) return null;
  const split = splitTime(facts);
  if (split === null || split.hosts.reduce((sum, { attempts }) => sum + attempts, 0) < LEAST_ATTEMPTS) return null;
  const findings = split.parts.map((part) => findingOf(part, split, facts)).sort((a, b) => b.share - a.share);
  return foldSmall(findings);
}

function findingOf(part: Part, split: Split, facts: DiagnosisFacts): Diagnosis[number] {
  const host = split.hosts.find((candidate) => candidate.host === part.host) ?? null;
  for (const rule of RULES[part.category]) {
    const advice = rule({ part, host, split, facts });
    if (advice !== null) return { ...advice, share: part.share };
  }
  return { ...describe(part, host), advice: '', share: part.share };
}

/** The small ones become one, so that the shares still add up. */
function foldSmall(findings: Diagnosis): Diagnosis {
  const large = findings.filter(({ share, advice }) => share >= LEAST_SHARE || advice !== '');
  const small = findings.filter((finding) => !large.includes(finding));
  if (small.length === 0) return large;
  const share = small.reduce((sum, finding) => sum + finding.share, 0);
  const names = [...new Set(small.map(({ bottleneck }) => bottleneck))].join(', ');
  return [...large, { bottleneck: 'other', share, evidence: `All below half a percent: ${names}.`, advice: '' }];
}
