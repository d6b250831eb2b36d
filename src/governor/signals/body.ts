import { SECOND_MS } from '../../core/units.ts';

/**
 * What a body says of limits. limit = asked to slow down; quota = used up for long, no point in another try now;
 * waitMs = how long, where it tells.
 */
export type BodySignal = { kind: 'limit' | 'quota'; reason: string; waitMs: number | null };

/** A wording and what it means; only for the statuses it was seen with. */
type Wording = { statuses: readonly number[]; pattern: RegExp; kind: 'limit' | 'quota'; reason: string };

const WORDINGS: readonly Wording[] = [
  { statuses: [403, 429], pattern: /secondary rate limit/i, kind: 'limit', reason: 'a secondary rate limit' },
  { statuses: [403], pattern: /API rate limit exceeded/i, kind: 'limit', reason: 'API rate limit exceeded' },
  { statuses: [403, 429], pattern: /"dailyLimitExceeded(Unreg)?"/, kind: 'quota', reason: 'dailyLimitExceeded' },
  {
    statuses: [403],
    pattern: /"(userRateLimitExceeded|rateLimitExceeded)"/,
    kind: 'limit',
    reason: 'rateLimitExceeded',
  },
  { statuses: [403], pattern: /"RATE_LIMIT_EXCEEDED"/, kind: 'limit', reason: 'RATE_LIMIT_EXCEEDED' },
  { statuses: [200], pattern: /"(type|code)"\s*:\s*"RATE_?LIMITED"/i, kind: 'limit', reason: 'GraphQL RATE_LIMITED' },
  { statuses: [200], pattern: /"code"\s*:\s*"THROTTLED"/, kind: 'limit', reason: 'GraphQL THROTTLED' },
  { statuses: [400], pattern: /"code"\s*:\s*"RATELIMITED"/, kind: 'limit', reason: 'GraphQL RATELIMITED' },
  { statuses: [200, 400, 403], pattern: /"error"\s*:\s*"ratelimited"/, kind: 'limit', reason: 'ratelimited' },
  { statuses: [400, 403], pattern: /"code"\s*:\s*"?(rate_limited|88)"?[,\s}]/, kind: 'limit', reason: 'rate limited' },
];

// Only looked for where errors are told in a 200: a page that merely mentions a limit is no refusal.
const GRAPHQL_ERRORS = /"errors"\s*:\s*\[/;
const SLACK_ERROR = /^\s*\{\s*"ok"\s*:\s*false/;
const RETRY_AFTER_SECS = /"retry_after"\s*:\s*(\d{1,9}(?:\.\d{1,9})?)/;

/**
 * Finds a limit told in the body.
 * @param bodyText the start of the body, perhaps cut off
 * @returns undefined when it tells none
 */
export function readBody(status: number, bodyText: string | null): BodySignal | undefined {
  if (bodyText === null || bodyText === '') return undefined;
  if (status === 200 && !GRAPHQL_ERRORS.test(bodyText) && !SLACK_ERROR.test(bodyText)) return undefined;
  const wording = WORDINGS.find((one) => one.statuses.includes(status) && one.pattern.test(bodyText));
  const waitMs = readWait(status, bodyText);
  if (wording !== undefined) return { kind: wording.kind, reason: wording.reason, waitMs };
  return waitMs === null ? undefined : { kind: 'limit', reason: 'retry_after in the body', waitMs };
}

/** Discord: `{"message": "...", "retry_after": 64.57, "global": false}` */
function readWait(status: number, bodyText: string): number | null {
  if (status !== 429) return null;
  const found = RETRY_AFTER_SECS.exec(bodyText);
  const waitMs = found ? Math.ceil(Number(found[1]) * SECOND_MS) : 0;
  return waitMs > 0 ? waitMs : null;
}

/** Shopify GraphQL: points left, points a second, and what this query took. */
export type QueryCost = { available: number; restorePerSecond: number; perQuery: number };

const COST_FIELDS = {
  available: /"currentlyAvailable"\s*:\s*(\d{1,9}(?:\.\d+)?)/,
  restorePerSecond: /"restoreRate"\s*:\s*(\d{1,9}(?:\.\d+)?)/,
  perQuery: /"(?:actual|requested)QueryCost"\s*:\s*(\d{1,9}(?:\.\d+)?)/,
};

/** @returns the throttle status of a Shopify GraphQL answer; undefined when there is none */
export function readQueryCost(bodyText: string | null): QueryCost | undefined {
  if (bodyText === null || !bodyText.includes('"throttleStatus"')) return undefined;
  const [available, restorePerSecond, perQuery] = Object.values(COST_FIELDS).map((field) =>
    Number(field.exec(bodyText)?.[1] ?? Number.NaN),
  );
  if (!(restorePerSecond! > 0) || !(perQuery! > 0) || !(available! >= 0)) return undefined;
  return { available: available!, restorePerSecond: restorePerSecond!, perQuery: perQuery! };
}
