import type { HostConfig, RetryConfig } from '../config/host-schema.ts';
import { failureKind } from '../core/failure-advice.ts';
import type { Random } from '../core/random.ts';

/** How a host's requests are retried: slices of its configuration. */
export type RetryPolicy = RetryConfig & Pick<HostConfig, 'safeMethods'>;

/** How an attempt ended. */
export type AttemptFacts = {
  method: string;
  /** null when no response came. */
  status: number | null;
  /** Stable code of the failure; null when the status is all there is. */
  errorCode: string | null;
  /** Whether any byte of the request may have reached the server. */
  wasSent: boolean;
  /** Retries spent so far: 0 after the first attempt. */
  retryCount: number;
  /** What the server asked for, in ms, finite and >= 0; null when it did not. */
  retryAfterMs: number | null;
};

export type RetryDecision = { kind: 'retry'; delayMs: number } | { kind: 'fail'; reason: string };

export type RetryQuestion = {
  policy: RetryPolicy;
  attempt: AttemptFacts;
  /** `RetryBudget.waitMs`: 0 while the host's retries are within their share. */
  budgetWaitMs: number;
  random: Random;
};

// A name that does not resolve or a refused connection is failed within a minute (docs/failures.md): waits take at
// most this much of it, attempts and queueing the rest.
const DEAD_NAME_WAIT_MS = 45_000;
const DEAD_NAME_CODES: ReadonlySet<string> = new Set(['DNS_NOT_FOUND', 'CONNECTION_REFUSED']);

// RFC 8470 5.2: with 425 the server says it did not process the request, so any method may be repeated.
const TOO_EARLY = 425;

/**
 * Decides what becomes of a request whose attempt failed and whose recovery is `retry`. What costs no retry does not
 * come here: a 429 or whatever else the governor calls `limited`, and errors whose recovery is `wait`.
 * @returns retry with the wait before it, whole ms >= 0; or fail with the reason, a plain clause
 */
export function decideRetry(question: RetryQuestion): RetryDecision {
  const { policy, attempt } = question;
  const refusal = whyNot(policy, attempt);
  if (refusal !== null) return { kind: 'fail', reason: refusal };
  return { kind: 'retry', delayMs: Math.ceil(retryDelayMs(question)) };
}

function whyNot(policy: RetryPolicy, attempt: AttemptFacts): string | null {
  const { method, retryCount } = attempt;
  const most = Math.min(policy.maxRetries, failureKind(codeOf(attempt)).mostRetries ?? policy.maxRetries);
  if (!isWorthARetry(policy, attempt)) return `${codeOf(attempt)} is not worth a retry`;
  if (!mayRepeat(policy, attempt)) return `the server may have acted on the ${method}, which is not in safeMethods`;
  if (retryCount >= most) return `no retries left after ${retryCount}`;
  return null;
}

function isWorthARetry(policy: RetryPolicy, { status, errorCode }: AttemptFacts): boolean {
  if (status !== null && status >= 400) return policy.statusCodes.includes(status);
  const recovery = errorCode === null ? 'skip' : failureKind(errorCode).recovery;
  return recovery === 'retry' || recovery === 'wait';
}

function mayRepeat(policy: RetryPolicy, { method, status, wasSent }: AttemptFacts): boolean {
  if (policy.safeMethods.includes(method.toUpperCase())) return true;
  return status === TOO_EARLY || (status === null && !wasSent);
}

function codeOf({ status, errorCode }: AttemptFacts): string {
  return errorCode ?? `HTTP_${status}`;
}

function retryDelayMs({ policy, attempt, budgetWaitMs, random }: RetryQuestion): number {
  const backoffMs = jittered(backoffOf(policy, attempt), policy.jitter, random);
  if (isDeadName(attempt)) return backoffMs;
  // Over budget a retry is slowed, up to the longest backoff the host allows, and never refused.
  const pacedMs = Math.max(backoffMs, Math.min(budgetWaitMs, policy.maxDelayMs));
  if (attempt.retryAfterMs === null) return pacedMs;
  return Math.max(pacedMs, attempt.retryAfterMs + spreadMs(policy, random));
}

/** The backoff before jitter: baseDelayMs x factor^retryCount, at most maxDelayMs. */
function backoffOf(policy: RetryPolicy, attempt: AttemptFacts): number {
  const backoffMs = growth(policy, attempt.retryCount);
  return isDeadName(attempt) ? backoffMs * deadNameScale(policy) : backoffMs;
}

function growth({ baseDelayMs, factor, maxDelayMs }: RetryPolicy, retryCount: number): number {
  return Math.min(baseDelayMs * factor ** retryCount, maxDelayMs);
}

function isDeadName({ status, errorCode }: AttemptFacts): boolean {
  return status === null && errorCode !== null && DEAD_NAME_CODES.has(errorCode);
}

// Shrinks all waits alike, so that their sum fits and their shape stays.
function deadNameScale(policy: RetryPolicy): number {
  let totalMs = 0;
  for (let retry = 0; retry < policy.maxRetries; retry++) totalMs += growth(policy, retry);
  return totalMs > DEAD_NAME_WAIT_MS ? DEAD_NAME_WAIT_MS / totalMs : 1;
}

function jittered(backoffMs: number, jitter: RetryPolicy['jitter'], random: Random): number {
  if (jitter === 'none') return backoffMs;
  if (jitter === 'equal') return backoffMs / 2 + (backoffMs / 2) * random();
  return backoffMs * random();
}

// After the time the server named, never within it: all who were told the same time must not come back at once.
function spreadMs({ jitter, baseDelayMs }: RetryPolicy, random: Random): number {
  return jitter === 'none' ? 0 : baseDelayMs * random();
}
