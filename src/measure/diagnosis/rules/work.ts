import { failureAdvice } from '../../../core/failure-advice.ts';
import { formatNumber, formatShare } from '../../../report/format.ts';
import { highestRps } from '../../../report/timeline.ts';
import type { HostFacts } from '../facts.ts';
import { NOTABLE_SHARE, type Rule, setting } from '../rule.ts';

const LEAST_RETRIES = 5;
// One at a time, give or take what starts and ends.
const ONE_AT_A_TIME = 1.3;
// A server that fails more often is not to be asked faster.
const HEALTHY_SHARE = 0.98;
const LEAST_LISTED = 30;

/** Attempts that failed, and the waits after them. */
export const retries: Rule = ({ host, part }) => {
  if (host === null || part.share < NOTABLE_SHARE || host.retries < LEAST_RETRIES) return null;
  const [code, count] = mostFrequentFailure(host) ?? [];
  if (code === undefined || count === undefined) return null;
  return {
    bottleneck: 'retries',
    evidence: `${host.retries} retries for ${host.attempts} attempts at ${host.host}, most often after ${code} (${count}).`,
    advice: failureAdvice(code),
  };
};

function mostFrequentFailure({ failures, statuses }: HostFacts): [string, number] | undefined {
  const refused = Object.entries(statuses).filter(([status]) => Number(status) >= 400 && Number(status) !== 429);
  const codes = [...Object.entries(failures), ...refused.map(([status, count]) => [`HTTP_${status}`, count] as const)];
  return codes.map(([code, count]): [string, number] => [code, count]).sort(([, a], [, b]) => b - a)[0];
}

/** The crawl was over before the host's limit was known. */
export const discovery: Rule = ({ host, part, facts }) => {
  if (host === null || part.share < NOTABLE_SHARE || host.limited > 0) return null;
  if (host.answered < host.attempts * HEALTHY_SHARE) return null;
  const reachedRps = Math.max(highestRps(facts.recorder.timeline, host.host), host.requestsPerSecond);
  return {
    bottleneck: 'search for the limit',
    evidence: `For ${formatShare(part.share)} of the slot-time it was still being found out what ${host.host} takes; it refused nothing up to ${formatNumber(reachedRps)}/s.`,
    advice: `If you know what it allows, set ${setting(host, 'requestsPerSecond')}; with --no-discovery a crawl starts at full speed.`,
  };
};

/** Each response names the next request, and nothing else was there to send. */
export const emptyQueue: Rule = ({ part, split }) => {
  const { slots, hosts } = split;
  const inFlight = slots.weighedMs > 0 ? slots.wireMs / slots.weighedMs : 0;
  const host = hosts[0];
  if (host === undefined || part.share < 0.5 || inFlight > ONE_AT_A_TIME || inFlight < 1 / ONE_AT_A_TIME) return null;
  if (host.answered < LEAST_LISTED) return null;
  return {
    bottleneck: 'empty queue',
    evidence: `One request at a time was known: each response of ${host.host} led to the next.`,
    advice:
      'With parallelPages in the input document the pages of a list are fetched side by side, where it can be split.',
  };
};
