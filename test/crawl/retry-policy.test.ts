import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hostSchema } from '../../src/config/host-schema.ts';
import type { Random } from '../../src/core/random.ts';
import { type AttemptFacts, decideRetry, type RetryPolicy } from '../../src/crawl/retry-policy.ts';
import { NETWORK_FAILURE_OF } from '../../src/http/client.ts';

const defaults = hostSchema.parse({});
const policyOf = (changes: Partial<RetryPolicy> = {}): RetryPolicy => ({
  ...defaults.retry,
  safeMethods: defaults.safeMethods,
  jitter: 'none',
  ...changes,
});
const attemptOf = (changes: Partial<AttemptFacts> = {}): AttemptFacts => ({
  method: 'GET',
  status: 500,
  errorCode: null,
  wasSent: true,
  retryCount: 0,
  retryAfterMs: null,
  ...changes,
});
const decide = (
  attempt: Partial<AttemptFacts>,
  policy: Partial<RetryPolicy> = {},
  { budgetWaitMs = 0, random = () => 0.5 }: { budgetWaitMs?: number; random?: Random } = {},
) => decideRetry({ policy: policyOf(policy), attempt: attemptOf(attempt), budgetWaitMs, random });
const networkError = (errorCode: string, changes: Partial<AttemptFacts> = {}): Partial<AttemptFacts> => ({
  status: null,
  errorCode,
  ...changes,
});

describe('backoff', () => {
  test('grows by the factor from retry to retry, up to maxDelayMs', () => {
    const delays = [0, 1, 2, 3, 4].map((retryCount) => decide({ retryCount }, { maxDelayMs: 3000 }));
    expect(delays).toEqual([500, 1000, 2000, 3000, 3000].map((delayMs) => ({ kind: 'retry', delayMs })));
  });

  test('full jitter lies anywhere below the backoff, equal jitter in its upper half', () => {
    expect(decide({}, { jitter: 'full' }, { random: () => 0.25 })).toEqual({ kind: 'retry', delayMs: 125 });
    expect(decide({}, { jitter: 'equal' }, { random: () => 0.25 })).toEqual({ kind: 'retry', delayMs: 313 });
  });

  test('stops after maxRetries', () => {
    expect(decide({ retryCount: 5 })).toEqual({ kind: 'fail', reason: 'no retries left after 5' });
    expect(decide({}, { maxRetries: 0 })).toEqual({ kind: 'fail', reason: 'no retries left after 0' });
  });
});

describe('Retry-After', () => {
  test('is obeyed beyond maxDelayMs', () => {
    expect(decide({ status: 503, retryAfterMs: 300_000 })).toEqual({ kind: 'retry', delayMs: 300_000 });
  });

  test('does not shorten a longer backoff', () => {
    expect(decide({ status: 503, retryAfterMs: 1000, retryCount: 4 })).toEqual({ kind: 'retry', delayMs: 8000 });
  });

  test('gets its jitter after it, never inside it', () => {
    expect(decide({ retryAfterMs: 2000 }, { jitter: 'full' }, { random: () => 0.5 })).toEqual({
      kind: 'retry',
      delayMs: 2250,
    });
  });

  test('no retry ever comes earlier than told, whatever the policy', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000_000 }),
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom('full' as const, 'equal' as const, 'none' as const),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 0, max: 100_000 }),
        (retryAfterMs, retryCount, jitter, chance, budgetWaitMs) => {
          const decision = decide({ retryAfterMs, retryCount }, { jitter }, { budgetWaitMs, random: () => chance });
          expect(decision.kind === 'retry' && decision.delayMs).toBeGreaterThanOrEqual(retryAfterMs);
        },
      ),
    );
  });
});

describe('what is worth a retry', () => {
  test.each([408, 425, 500, 502, 503, 504])('status %i is, by default', (status) => {
    expect(decide({ status }).kind).toBe('retry');
  });

  test.each([400, 401, 403, 404, 409, 410, 422, 501])('status %i is not, by default', (status) => {
    expect(decide({ status })).toEqual({ kind: 'fail', reason: `HTTP_${status} is not worth a retry` });
  });

  test('status codes are a setting', () => {
    expect(decide({ status: 404 }, { statusCodes: [404] }).kind).toBe('retry');
    expect(decide({ status: 500 }, { statusCodes: [404] }).kind).toBe('fail');
  });

  test('the status of a failed response outweighs what was wrong with its body', () => {
    expect(decide({ status: 404, errorCode: 'INVALID_JSON' }).kind).toBe('fail');
    expect(decide({ status: 200, errorCode: 'INVALID_JSON' }).kind).toBe('retry');
  });

  test('a body that is not JSON is tried twice more, and not as often as the host allows', () => {
    const kinds = [0, 1, 2].map((retryCount) => decide({ status: 200, errorCode: 'INVALID_JSON', retryCount }).kind);
    expect(kinds).toEqual(['retry', 'retry', 'fail']);
    expect(decide({ status: 200, errorCode: 'INVALID_JSON', retryCount: 1 }, { maxRetries: 1 }).kind).toBe('fail');
  });

  test('every network error is, but those that a repeat cannot help', () => {
    const refused = Object.keys(NETWORK_FAILURE_OF).filter((code) => decide(networkError(code)).kind === 'fail');
    expect(refused).toEqual(['TOO_LARGE', 'BLOCKED_ADDRESS', 'INVALID_URL', 'INVALID_REQUEST']);
  });
});

describe('a method that is not safe to repeat', () => {
  const post = { method: 'POST' };

  test('is retried when nothing was sent', () => {
    expect(decide(networkError('TIMEOUT_CONNECT', { ...post, wasSent: false })).kind).toBe('retry');
  });

  test('is not retried once the server may have seen it', () => {
    const decision = decide(networkError('CONNECTION_RESET', post));
    expect(decision).toEqual({
      kind: 'fail',
      reason: 'the server may have acted on the POST, which is not in safeMethods',
    });
    expect(decide({ ...post, status: 500 }).kind).toBe('fail');
    expect(decide({ method: 'PATCH', status: 502 }).kind).toBe('fail');
    expect(decide({ ...post, status: 200, errorCode: 'HANDLER_FAILED' }).kind).toBe('fail');
  });

  test('is retried when the user calls it safe, or the server says it did not process it', () => {
    expect(decide({ ...post, status: 500 }, { safeMethods: ['GET', 'POST'] }).kind).toBe('retry');
    expect(decide({ ...post, status: 425 }).kind).toBe('retry');
  });

  test('GET is as safe as the setting says, in any case', () => {
    expect(decide({ method: 'get' }).kind).toBe('retry');
    expect(decide({ method: 'GET' }, { safeMethods: ['HEAD'] }).kind).toBe('fail');
  });
});

describe('a name that does not resolve, or a refused connection', () => {
  const longWaits = (policy: Partial<RetryPolicy>, errorCode: string): number[] =>
    Array.from({ length: policy.maxRetries ?? 5 }, (_, retryCount) => {
      const decision = decide(networkError(errorCode, { retryCount, wasSent: false }), policy);
      return decision.kind === 'retry' ? decision.delayMs : Number.NaN;
    });
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

  test.each(['DNS_NOT_FOUND', 'CONNECTION_REFUSED'])('%s uses up its retries within a minute', (errorCode) => {
    const policy = { maxRetries: 10, baseDelayMs: 5000, maxDelayMs: 3_600_000 };
    expect(sum(longWaits(policy, errorCode))).toBeGreaterThan(44_000);
    expect(sum(longWaits(policy, errorCode))).toBeLessThan(45_020);
    expect(sum(longWaits(policy, 'CONNECTION_RESET'))).toBe(5_115_000);
  });

  test('keeps the configured waits where they fit', () => {
    expect(longWaits({}, 'DNS_NOT_FOUND')).toEqual([500, 1000, 2000, 4000, 8000]);
  });

  test('is not slowed by the retry budget', () => {
    const decision = decide(networkError('DNS_NOT_FOUND'), {}, { budgetWaitMs: 30_000 });
    expect(decision).toEqual({ kind: 'retry', delayMs: 500 });
  });
});

describe('a host over its retry budget', () => {
  test('has its retries slowed, not refused', () => {
    expect(decide({}, {}, { budgetWaitMs: 7000 })).toEqual({ kind: 'retry', delayMs: 7000 });
    expect(decide({ retryCount: 4 }, {}, { budgetWaitMs: 7000 })).toEqual({ kind: 'retry', delayMs: 8000 });
  });

  test('never waits beyond maxDelayMs for its turn', () => {
    expect(decide({}, { maxDelayMs: 2000 }, { budgetWaitMs: 60_000 })).toEqual({ kind: 'retry', delayMs: 2000 });
  });
});
