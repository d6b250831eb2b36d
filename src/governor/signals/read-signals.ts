import type { ResponseHeaders } from '../../core/headers.ts';
import type { Sample } from '../../core/sample.ts';
import { readBody, readQueryCost } from './body.ts';
import { DIALECT, headerKinds, IETF, VENDOR } from './header-kinds.ts';
import { readIetf } from './ietf.ts';
import type { Profile } from './profile.ts';
import { parseRetryAfter } from './retry-after.ts';
import { parseCount, type StatedLimit } from './stated-limit.ts';
import { readVendors } from './vendors.ts';
import { readDialects } from './x-ratelimit.ts';

/** All that one response says of limits. */
export type Signals = {
  limits: readonly StatedLimit[];
  /** How long the server says to wait, ms > 0; null when it does not. */
  retryAfterMs: number | null;
  /** The budget the server says this request counts to; null when it names none. */
  bucket: string | null;
  /** Whether this response is a refusal for a limit's sake, and why in words. quota = used up for long. */
  refusal: { kind: 'limit' | 'quota' | 'overload'; reason: string } | null;
};

const NO_LIMITS: readonly StatedLimit[] = [];
const NOTHING: Signals = { limits: NO_LIMITS, retryAfterMs: null, bucket: null, refusal: null };
// 529 is Notion's and Anthropic's "overloaded".
const REFUSING = new Set([429, 503, 529]);

type Response = Pick<Sample, 'status' | 'headers' | 'bodyText'>;

/** Reads everything a response says of limits; never throws. @param serverWallMs the server's clock, epoch ms */
export function readSignals(response: Response, serverWallMs: number, profile?: Profile): Signals {
  const { status, headers, bodyText } = response;
  const kinds = headerKinds(headers);
  if (kinds === 0 && bodyText === null && !REFUSING.has(status ?? 0)) return NOTHING;
  const header = (name: string): string | undefined => textOf(headers, name);
  // A response from a cache tells the state of another time.
  const isFresh = kinds !== 0 && (parseCount(header('age')) ?? 0) === 0;
  const limits = isFresh ? readLimits(header, { kinds, serverWallMs, profile }) : NO_LIMITS;
  const body = status === null ? undefined : readBody(status, bodyText);
  const retryAfterMs = readWait(header, serverWallMs) ?? body?.waitMs ?? null;
  const bucket = header('x-ratelimit-bucket') ?? header('x-ratelimit-resource') ?? null;
  return {
    limits: withQueryCost(bucket === null ? limits : inBucket(limits, bucket), bodyText),
    retryAfterMs,
    bucket,
    refusal: refusalOf(response, { header, body, profile, retryAfterMs }),
  };
}

type HeaderReader = (name: string) => string | undefined;

type Reading = { kinds: number; serverWallMs: number; profile: Profile | undefined };

function readLimits(header: HeaderReader, { kinds, serverWallMs, profile }: Reading): readonly StatedLimit[] {
  const context = { serverWallMs };
  const ietf = kinds & IETF ? readIetf(header('ratelimit'), header('ratelimit-policy')) : NO_LIMITS;
  // A policy beside the older headers only tells their window.
  const isWhole = ietf.some((limit) => limit.remaining !== null) || (kinds & DIALECT) === 0;
  const told = ietf.length > 0 && isWhole ? ietf : readDialects(header, context, profile);
  return kinds & VENDOR ? [...told, ...readVendors(header, context)] : told;
}

/** Limits of different buckets may come to one key: their names keep them apart. */
function inBucket(limits: readonly StatedLimit[], bucket: string): StatedLimit[] {
  return limits.map((limit) => ({ ...limit, name: `${bucket}: ${limit.name}` }));
}

/** Points of a query budget, counted in queries like this one. */
function withQueryCost(limits: readonly StatedLimit[], bodyText: string | null): readonly StatedLimit[] {
  const cost = readQueryCost(bodyText);
  if (cost === undefined) return limits;
  const { available, restorePerSecond, perQuery } = cost;
  const remaining = Math.floor(available / perQuery);
  const limit = restorePerSecond / perQuery;
  return [...limits, { name: 'query cost', unit: 'requests', limit, remaining, windowMs: 1000, resetMs: null }];
}

/** `retry-after-ms` (OpenAI, Azure) is finer, so it goes first. */
function readWait(header: HeaderReader, serverWallMs: number): number | undefined {
  const fineMs = parseCount(header('retry-after-ms'));
  if (fineMs !== undefined && fineMs > 0) return Math.ceil(fineMs);
  return parseRetryAfter(header('retry-after'), serverWallMs);
}

function refusalOf(
  { status }: Response,
  facts: {
    header: HeaderReader;
    body: ReturnType<typeof readBody>;
    profile: Profile | undefined;
    retryAfterMs: number | null;
  },
): Signals['refusal'] {
  const { header, body, profile, retryAfterMs } = facts;
  if (body !== undefined) return { kind: body.kind, reason: `status ${status}: ${body.reason}` };
  if (status === 429) return { kind: 'limit', reason: 'status 429' };
  if (status === 503 || status === 529) return { kind: 'overload', reason: `status ${status}` };
  // Who may never have it is not told when to come again.
  if (status === 403 && retryAfterMs !== null) return { kind: 'limit', reason: 'status 403' };
  const isSpent = profile?.limitsBy403 && status === 403 && parseCount(header('x-ratelimit-remaining')) === 0;
  return isSpent ? { kind: 'limit', reason: 'status 403 with nothing remaining' } : null;
}

/** Repeated headers of this kind are joined as the drafts say; of Retry-After the first counts. */
function textOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  if (!Array.isArray(value)) return value;
  return name === 'retry-after' ? value[0] : value.join(', ');
}
