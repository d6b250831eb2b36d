import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/units.ts';
import { NO_RULES, type RobotsRules } from './robots-rules.ts';

/** Why an origin's robots.txt is not known, and what is done about it. Times are of the monotonic clock, in ms. */
export type Outage = {
  /** When it first could not be fetched. */
  sinceMs: number;
  /** Time of the outage that the server itself asked for, and that therefore does not count as standing still. */
  excusedMs: number;
  nextFetchAtMs: number;
  /** The last failure, as a plain clause: "it answered 503". */
  reason: string;
  isGivenUp: boolean;
};

/** All that is known of one origin's robots.txt. */
export type OriginState = {
  /** The rules in force; null while they are not known and nothing may be sent. */
  rules: RobotsRules | null;
  /** When the rules are to be fetched again; they stay in force meanwhile. */
  staleAtMs: number;
  isFetching: boolean;
  outage: Outage | null;
};

/** How a fetch ended. */
export type FetchOutcome =
  | { kind: 'rules'; rules: RobotsRules; source: 'file' | 'absent' | 'copy'; ageMs: number }
  /** 5xx, 429 or no answer; `retryAfterMs` where the server told one. */
  | { kind: 'unreachable'; reason: string; retryAfterMs: number | null; fallback: RobotsRules | null };

export const UNKNOWN_ORIGIN: OriginState = { rules: null, staleAtMs: 0, isFetching: false, outage: null };
/** Its robots.txt is not looked at. */
export const IGNORED_ORIGIN: OriginState = { ...UNKNOWN_ORIGIN, rules: NO_RULES, staleAtMs: Number.POSITIVE_INFINITY };

// RFC 9309 2.4: a cached copy should not be used for more than 24 hours, unless the file is unreachable.
export const FRESH_MS = DAY_MS;
const FIRST_RETRY_MS = SECOND_MS;
const LONGEST_RETRY_MS = MINUTE_MS;

/** @returns whether rules that are known are to be fetched again now */
export function isRefreshDue({ isFetching, outage, staleAtMs }: OriginState, nowMs: number): boolean {
  return !isFetching && nowMs >= Math.max(staleAtMs, outage?.nextFetchAtMs ?? 0);
}

export function fetchStarted(state: OriginState): OriginState {
  return { ...state, isFetching: true };
}

/**
 * Takes in how a fetch ended. Rules once known stay in force while a newer copy cannot be had; an origin that never
 * had any is given up when the file has been out of reach for `stallMs`.
 */
export function fetchEnded(
  state: OriginState,
  outcome: FetchOutcome,
  { nowMs, stallMs }: { nowMs: number; stallMs: number },
): OriginState {
  if (outcome.kind === 'rules') {
    return { rules: outcome.rules, staleAtMs: nowMs + FRESH_MS - outcome.ageMs, isFetching: false, outage: null };
  }
  const rules = state.rules ?? outcome.fallback;
  const outage = prolong(state.outage, outcome, {
    nowMs,
    stallMs: rules === null ? stallMs : Number.POSITIVE_INFINITY,
  });
  return { ...state, rules, isFetching: false, outage };
}

type Unreachable = Extract<FetchOutcome, { kind: 'unreachable' }>;

function prolong(before: Outage | null, outcome: Unreachable, now: { nowMs: number; stallMs: number }): Outage {
  const sinceMs = before?.sinceMs ?? now.nowMs;
  const lastedMs = now.nowMs - sinceMs;
  const excusedMs = before?.excusedMs ?? 0;
  const retryAfterMs = outcome.retryAfterMs ?? 0;
  return {
    sinceMs,
    excusedMs: excusedMs + retryAfterMs,
    nextFetchAtMs: now.nowMs + Math.max(retryMs(lastedMs), retryAfterMs),
    reason: outcome.reason,
    isGivenUp: lastedMs - excusedMs >= now.stallMs,
  };
}

/** Half the time that the outage has lasted, which makes each wait 1.5 times the one before. */
function retryMs(lastedMs: number): number {
  return Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, lastedMs / 2));
}
