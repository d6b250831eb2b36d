import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/units.ts';
import { parsePolicies, windowFor } from './ietf.ts';
import type { Profile } from './profile.ts';
import { parseReset } from './reset.ts';
import { parseCount, parseLimit, type ReadContext, type StatedLimit, statedLimit } from './stated-limit.ts';

/** Reads one header's text by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Header names of one way to write limit, remaining and reset; `{}` of the older drafts and the X- dialects. */
type Family = { limit: string[]; remaining: string[]; reset: string[]; resetAfter?: string; used?: string };

const FAMILIES: readonly Family[] = [
  // OpenAI, Anthropic and Linear count several things: here, requests.
  {
    limit: ['x-ratelimit-limit-requests', 'x-ratelimit-requests-limit', 'anthropic-ratelimit-requests-limit'],
    remaining: [
      'x-ratelimit-remaining-requests',
      'x-ratelimit-requests-remaining',
      'anthropic-ratelimit-requests-remaining',
    ],
    reset: ['x-ratelimit-reset-requests', 'x-ratelimit-requests-reset', 'anthropic-ratelimit-requests-reset'],
  },
  {
    limit: ['ratelimit-limit'],
    remaining: ['ratelimit-remaining'],
    reset: ['ratelimit-reset', 'ratelimit-resettime'],
  },
  {
    limit: ['x-ratelimit-limit', 'x-rate-limit-limit', 'x-rate-limit'],
    remaining: ['x-ratelimit-remaining', 'x-rate-limit-remaining'],
    reset: ['x-ratelimit-reset', 'x-rate-limit-reset'],
    resetAfter: 'x-ratelimit-reset-after',
    used: 'x-ratelimit-used',
  },
];

/** Reads the older drafts (3 to 6) and the X- dialects that look like them. */
export function readDialects(header: HeaderReader, context: ReadContext, profile: Profile | undefined): StatedLimit[] {
  for (const family of FAMILIES) {
    const limits = readFamily(family, { header, context, profile });
    if (limits.length > 0) return limits;
  }
  return readPerWindow(header);
}

type Reading = { header: HeaderReader; context: ReadContext; profile: Profile | undefined };

function readFamily(family: Family, { header, context, profile }: Reading): StatedLimit[] {
  const limitText = first(header, family.limit);
  const remaining = parseCount(first(header, family.remaining));
  const resetAfterMs = family.resetAfter ? parseReset(header(family.resetAfter), context) : undefined;
  const resetMs = resetAfterMs ?? parseReset(first(header, family.reset), context);
  if (limitText?.includes(';')) return readEnvoy(limitText, remaining, resetMs);
  const limit = parseLimit(limitText) ?? limitFromUse(family, header, remaining);
  const windowMs = windowFor(limit, parsePolicies(header('ratelimit-policy'))) ?? profile?.windowMs;
  const read = statedLimit({ name: 'default', limit, remaining, windowMs, resetMs });
  return read ? [read] : [];
}

/** Reddit tells what was used instead of the limit. */
function limitFromUse(family: Family, header: HeaderReader, remaining: number | undefined): number | undefined {
  const used = family.used ? parseCount(header(family.used)) : undefined;
  return used === undefined || remaining === undefined || used + remaining === 0 ? undefined : used + remaining;
}

/** `10, 10;window=1;name="per-ip", 1000;window=3600`: the limit that binds, then all of them. */
function readEnvoy(text: string, remaining: number | undefined, resetMs: number | undefined): StatedLimit[] {
  const policies = parsePolicies(text).filter((policy) => policy.windowMs !== null);
  const binding = policies.find((policy) => policy.limit === Number.parseInt(text, 10)) ?? policies[0];
  return policies.map((policy) =>
    policy === binding ? { ...policy, remaining: remaining ?? null, resetMs: resetMs ?? null } : policy,
  );
}

const WINDOWS_MS = { second: SECOND_MS, minute: MINUTE_MS, hour: HOUR_MS, day: 24 * HOUR_MS };

/** Kong: `X-RateLimit-Limit-Minute`, `X-RateLimit-Remaining-Minute`. */
function readPerWindow(header: HeaderReader): StatedLimit[] {
  return Object.entries(WINDOWS_MS).flatMap(([name, windowMs]) => {
    const limit = parseLimit(header(`x-ratelimit-limit-${name}`));
    const remaining = parseCount(header(`x-ratelimit-remaining-${name}`));
    return statedLimit({ name, limit, remaining, windowMs }) ?? [];
  });
}

function first(header: HeaderReader, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = header(name);
    if (text !== undefined) return text;
  }
  return undefined;
}
