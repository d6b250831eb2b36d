import { formatMs, formatShare } from '../../../report/format.ts';
import {
  areSlotsFull,
  atBestMs,
  busyShare,
  type Case,
  hasSlowed,
  isHeldByLimit,
  isWellKnown,
  NOTABLE_SHARE,
  type Rule,
  setting,
  shareOf,
} from '../rule.ts';

// Nearer than this nobody moves a crawler.
const FAR_MS = 15;
// Of the time of one request: below it the server, not the way to it, is what takes long.
const LEAST_DISTANCE_SHARE = 0.4;
const BUSY_SHARE = 0.7;
// Above it requests wait within the client: more of them would wait there too.
const MOST_WAITING_SHARE = 0.1;

/** The way to the server and back takes most of a request's time. */
export const distance: Rule = (found) => {
  const { part, host } = found;
  if (host === null || !isWellKnown(host) || isHeldByLimit(host) || part.share < NOTABLE_SHARE) return null;
  const { roundTripMs, baseMs } = host;
  if (roundTripMs === null || baseMs === null) return null;
  if (roundTripMs < FAR_MS || roundTripMs < LEAST_DISTANCE_SHARE * baseMs) return null;
  const more = raise(found);
  return {
    bottleneck: 'distance',
    evidence: `${host.host} is ${formatMs(roundTripMs)} away and back, of the ${formatMs(baseMs)} that one request takes at best.`,
    advice: `Run the crawler nearer to it: probe --save there, then probe --compare, tells how much that gains.${more === null ? '' : ` Or ${more.charAt(0).toLowerCase()}${more.slice(1)}`}`,
  };
};

/** All slots are busy with a server that could take more. */
export const concurrency: Rule = (found) => {
  const { host, split } = found;
  if (host === null || !isLargestOnTheWire(found)) return null;
  const more = raise(found);
  if (more === null) return null;
  const slots = Math.round(split.slots.slotMs / split.slots.weighedMs);
  return {
    bottleneck: 'concurrency',
    evidence: `All ${slots} slots were in use while there was work, and ${host.host} answered in ${formatMs(host.medianMs ?? 0)}, hardly slower than at best.`,
    advice: more,
  };
};

/** The server itself is at its limit: more in flight would wait there. No option helps, so none is named. */
export const slowServer: Rule = ({ host, part, split }) => {
  if (host === null || !isWellKnown(host) || isHeldByLimit(host) || part.share < NOTABLE_SHARE) return null;
  const bestMs = atBestMs(host);
  if (!areSlotsFull(split) || !hasSlowed(host) || bestMs === null || host.medianMs === null) return null;
  return {
    bottleneck: 'server time',
    evidence: `${host.host} takes ${formatMs(host.medianMs)} at the median and ${formatMs(bestMs)} at best: it slows under this load, and more requests in flight would only wait there.`,
    advice: '',
  };
};

/** @returns which ceiling to raise; null when that would not help, or harm */
function raise({ host, split, facts }: Case): string | null {
  if (host === null || !isWellKnown(host) || isHeldByLimit(host) || hasSlowed(host)) return null;
  if (!areSlotsFull(split) || busyShare(split) >= BUSY_SHARE) return null;
  if (shareOf(split, 'connection-wait') > MOST_WAITING_SHARE) return null;
  const perHost = host.config.maxConcurrency;
  const overall = facts.maxConcurrency;
  const working = split.hosts.filter(({ attempts }) => attempts >= host.attempts * 0.1);
  const allowed = working.reduce((sum, { config }) => sum + config.maxConcurrency, 0);
  const raised = [
    ...(allowed <= overall * 2 && perHost <= overall
      ? [`${setting(host, 'maxConcurrency')} from ${perHost} to ${perHost * 2}`]
      : []),
    ...(allowed >= overall ? [`maxConcurrency (of all hosts) from ${overall} to ${overall * 2}`] : []),
  ];
  return raised.length === 0 ? null : `Raise ${raised.join(' and ')}: nothing was refused.`;
}

function isLargestOnTheWire({ part, split }: Case): boolean {
  const wire = (['server', 'round-trips', 'download'] as const).map((category) => shareOf(split, category));
  return part.share >= NOTABLE_SHARE && part.share >= Math.max(...wire);
}

/** Bodies take most of the time. Whether more at once would help depends on whose line is full: nobody here knows. */
export const download: Rule = ({ host, part }) => {
  if (host === null || !isWellKnown(host) || part.share < NOTABLE_SHARE) return null;
  const eachMs = host.downloadMs / host.attempts;
  return {
    bottleneck: 'download',
    evidence: `Reading a body from ${host.host} takes ${formatMs(eachMs)} of each request, ${formatShare(part.share)} of the slot-time.`,
    advice: '',
  };
};
