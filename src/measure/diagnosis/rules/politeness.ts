import { formatNumber, formatShare } from '../../../report/format.ts';
import type { HostFacts } from '../facts.ts';
import { type Advice, type Case, NOTABLE_SHARE, type Rule, setting } from '../rule.ts';
import type { IdleCause } from '../slot-account.ts';

type Finding = (host: HostFacts, found: Case) => Advice;

const FINDINGS: Partial<Record<IdleCause, Finding>> = {
  'configured-rate': configuredRate,
  'stated-limit': statedLimit,
  'discovered-limit': discoveredLimit,
  parked: parkedHost,
  robots: missingRobots,
  'crawl-delay': crawlDelay,
  'requests-per-minute': perMinute,
};

/** Slots stood idle because a rule, ours or the server's, held requests back. */
export const politeness: Rule = (found) => {
  const { part, host } = found;
  const finding = part.cause === null ? undefined : FINDINGS[part.cause];
  if (host === null || finding === undefined || part.share < NOTABLE_SHARE) return null;
  return finding(host, found);
};

function configuredRate(host: HostFacts): Advice {
  const { requestsPerSecond, minDelayMs } = host.config;
  const isDelay = requestsPerSecond === null || (minDelayMs > 0 && 1_000 / minDelayMs < requestsPerSecond);
  const name = setting(host, isDelay ? 'minDelayMs' : 'requestsPerSecond');
  const value = isDelay ? `${minDelayMs}` : `${requestsPerSecond}`;
  const isRefused = host.limited > 0;
  return {
    bottleneck: 'rate limit',
    evidence: `Our own setting ${name} (${value}) holds ${host.host} back; ${isRefused ? `it refused ${host.limited} requests all the same` : 'it refused nothing'}.`,
    advice: isRefused
      ? ''
      : `${isDelay ? 'Lower' : 'Raise'} ${name}, if its terms allow more: ramp finds what it takes.`,
  };
}

function statedLimit(host: HostFacts): Advice {
  return {
    bottleneck: 'rate limit',
    evidence: `${host.host} states a limit${limitText(host)}, and is crawled at ${formatNumber(host.requestsPerSecond)}/s.`,
    advice: moreIdentities(host, 'Only another limit would be faster'),
  };
}

function discoveredLimit(host: HostFacts): Advice {
  const { headroom } = host.config;
  const creep = headroom < 0.9 ? ` ${setting(host, 'headroom')}: 0.9 (now ${headroom}) goes closer to it.` : '';
  return {
    bottleneck: 'rate limit',
    evidence: `${host.host} refused ${host.limited} of ${host.attempts} requests; its limit was found${limitText(host)}, and it is crawled at ${formatNumber(host.requestsPerSecond)}/s.`,
    advice: `${moreIdentities(host, 'It sets the pace')}${creep}`,
  };
}

function moreIdentities(host: HostFacts, start: string): string {
  const count = host.config.sessionPool.credentials.length;
  const key = setting(host, 'sessionPool.credentials');
  const text = count > 1 ? `more credentials than the ${count} in ${key}` : `several credentials of your own (${key})`;
  return `${start}: ask its owner for a higher one, or use ${text} where its terms allow it.`;
}

function missingRobots({ host }: HostFacts, { part }: Case): Advice {
  return {
    bottleneck: 'host out of order',
    evidence: `Nothing was sent to ${host} for ${formatShare(part.share)} of the slot-time, as its robots.txt did not come.`,
    advice: 'Look at it with probe: it tells what the host answers.',
  };
}

function parkedHost(host: HostFacts, { part }: Case): Advice {
  const statuses = Object.entries(host.statuses).filter(([status]) => Number(status) === 429 || Number(status) >= 500);
  const seen = [
    ...statuses.map(([status, count]) => `${count} x ${status}`),
    ...Object.entries(host.failures).map(([code, count]) => `${count} x ${code}`),
  ];
  const isLimited = host.limited > 0;
  return {
    bottleneck: isLimited ? 'rate limit' : 'host out of order',
    evidence: `${host.host} was left alone for ${formatShare(part.share)} of the slot-time${seen.length > 0 ? ` after ${seen.join(', ')}` : ''}${givenUpText(host)}.`,
    advice: isLimited
      ? `It told us to wait: a fixed ${setting(host, 'requestsPerSecond')} below its limit avoids that; ramp finds one.`
      : `Look at it with probe; when it is well again, retry-failed crawls what failed.`,
  };
}

function givenUpText({ limits }: HostFacts): string {
  return limits?.givenUp == null ? '' : `, and given up: ${limits.givenUp}`;
}

function crawlDelay(host: HostFacts): Advice {
  return {
    bottleneck: 'rate limit',
    evidence: `The robots.txt of ${host.host} asks for a pause between requests (Crawl-delay).`,
    advice: `Its owner may allow more; with that permission, ${setting(host, 'robots')}: ignore.`,
  };
}

function perMinute(host: HostFacts, { facts }: Case): Advice {
  return {
    bottleneck: 'rate limit',
    evidence: `maxRequestsPerMinute (${facts.maxRequestsPerMinute}) holds all hosts back, ${host.host} most.`,
    advice: `Raise maxRequestsPerMinute, or give each host a requestsPerSecond of its own.`,
  };
}

function limitText({ limits }: HostFacts): string {
  return limits?.limitRps == null ? '' : ` at ${formatNumber(limits.limitRps)}/s`;
}
