import { RetryRequestError, SessionError } from '@crawlee/core';
import { messageOf } from '../core/errors.ts';
import { headerText } from '../core/headers.ts';
import { SECOND_MS } from '../core/units.ts';
import { parseRetryAfter } from '../governor/signals/retry-after.ts';
import { HttpError } from '../http/http-error.ts';
import type { Outcome } from '../storage/store.ts';
import { failureCodeOf, recoveryOf } from './failure-codes.ts';
import type { Job } from './job.ts';
import { changesOf, type RequestPatch } from './lean-request.ts';
import type { CrawlParts } from './parts.ts';
import { RetryBudget } from './retry-budget.ts';
import { decideRetry } from './retry-policy.ts';
import type { UserCode } from './user-code.ts';

type Failed = { kind: 'fail'; code: string; message: string };

/** What is to become of a request whose attempt failed. */
export type Settlement =
  /** `waits`: the attempt was no fault, so its end is when the host's stallSecs have passed. */
  | { kind: 'retry'; code: string; delayMs: number; costsRetry: boolean; waits: boolean }
  | Failed
  | { kind: 'stop'; code: string };

const MOST_BUDGETS_KEPT = 10_000;
const ERROR_MESSAGES_KEPT = 5;

/** Decides what becomes of failed attempts, by the host's retry policy and what was thrown. */
export class FailurePolicy {
  readonly #parts: CrawlParts;
  readonly #user: UserCode;
  readonly #budgets = new Map<string, RetryBudget>();

  constructor(parts: CrawlParts, user: UserCode) {
    this.#parts = parts;
    this.#user = user;
  }

  /** A first attempt was sent: the host's retry budget earns its share. */
  onRequest(host: string): void {
    this.#budgetOf(host).onRequest(this.#parts.ports.clock.nowMs());
  }

  decide(job: Job, error: unknown): Settlement {
    const code = failureCodeOf(error);
    const recovery = recoveryOf(error);
    if (recovery === 'stop') return { kind: 'stop', code };
    const failed: Failed = { kind: 'fail', code, message: this.#parts.conceal(messageOf(error)) };
    // A redirect to a host that is given up: this request's own host goes on, so it cannot stay pending with it.
    if (code === 'HOST_GIVEN_UP') return failed;
    if (job.request.noRetry || recovery === 'skip') return this.#unlessStatusSaysRetry(job, { code, failed });
    // The user's own proxies are not ours to give up: another one with the next session, as in Crawlee.
    const isUsersProxy = code === 'PROXY_FAILED' && this.#user.newProxyInfo !== null;
    if (recovery === 'wait' && !isUsersProxy) return this.#wait(job, { code, error, failed });
    if (error instanceof SessionError && this.#hasRotatedOut(job)) return failed;
    return this.#retryOrFail(job, { code, error, failed });
  }

  /** The stored form of a decision to try again. */
  retryOutcome(job: Job, settlement: Settlement & { kind: 'retry' }): Outcome {
    const wallMs = this.#parts.ports.clock.wallMs();
    const patch: RequestPatch = {
      retryCount: job.request.retryCount,
      completedAttempts: (job.patch.completedAttempts ?? 0) + 1,
      firstAtMs: job.firstAtMs,
      errorMessages: job.request.errorMessages.slice(-ERROR_MESSAGES_KEPT),
    };
    if (settlement.waits) patch.waitingSinceMs = job.patch.waitingSinceMs ?? wallMs;
    if (job.isExposed) Object.assign(patch, changesOf(job.request, job.leased));
    else copyChanges(job.patch, patch);
    const forefront = isForefront(job);
    return { kind: 'retry', notBeforeMs: wallMs + settlement.delayMs, patch: JSON.stringify(patch), forefront };
  }

  /** The stored form of a request that was not sent: all of it is as it was, but for the time. */
  deferral({ patch }: Job, delayMs: number): Outcome {
    const notBeforeMs = this.#parts.ports.clock.wallMs() + delayMs;
    const kept: RequestPatch = { ...patch, completedAttempts: (patch.completedAttempts ?? 0) + 1 };
    return { kind: 'retry', notBeforeMs, patch: JSON.stringify(kept), forefront: false };
  }

  // Statuses are the retry policy's business: HTTP_503 is worth a retry only where the host's statusCodes say so.
  #unlessStatusSaysRetry(job: Job, { code, failed }: { code: string; failed: Failed }): Settlement {
    const isStatus = code.startsWith('HTTP_') && !job.request.noRetry;
    return isStatus ? this.#retryOrFail(job, { code, error: null, failed }) : failed;
  }

  #wait(job: Job, { code, error, failed }: { code: string; error: unknown; failed: Failed }): Settlement {
    const { ports, hostConfig } = this.#parts;
    const host = hostConfig(job.leased.host);
    const waitedMs = ports.clock.wallMs() - (job.patch.waitingSinceMs ?? ports.clock.wallMs());
    // Dead proxies have their host given up, whose requests then stay pending.
    if (waitedMs > host.stallSecs * SECOND_MS && code !== 'PROXY_FAILED')
      return { ...failed, message: `${failed.message}; it has waited for ${host.stallSecs} s (stallSecs)` };
    // As many tries as were made, whatever they cost: a wait that repeats grows like any other backoff.
    const tries = job.patch.completedAttempts ?? 0;
    const { baseDelayMs, factor, maxDelayMs } = host.retry;
    const delayMs = Math.min(baseDelayMs * factor ** Math.min(tries, 30), maxDelayMs) * (0.5 + ports.random() / 2);
    // The user's own request for a retry shows in retryCount, as in Crawlee.
    const costsRetry = error instanceof RetryRequestError;
    return { kind: 'retry', code, delayMs: Math.ceil(delayMs), costsRetry, waits: true };
  }

  #retryOrFail(job: Job, { code, error, failed }: { code: string; error: unknown; failed: Failed }): Settlement {
    const { ports, hostConfig } = this.#parts;
    const host = hostConfig(job.leased.host);
    const isStatus = code.startsWith('HTTP_') && job.response !== null;
    const nowMs = ports.clock.nowMs();
    const budget = this.#budgetOf(job.leased.host);
    const decision = decideRetry({
      policy: { ...host.retry, safeMethods: host.safeMethods, maxRetries: this.#maxRetriesOf(job) },
      attempt: {
        method: job.request.method,
        status: isStatus ? job.response!.status : null,
        errorCode: isStatus ? null : code,
        wasSent: error instanceof HttpError ? error.wasSent : job.response !== null,
        retryCount: job.request.retryCount,
        retryAfterMs: this.#retryAfterMs(job),
      },
      budgetWaitMs: budget.waitMs(nowMs),
      random: ports.random,
    });
    // Only what the message does not say by itself, and the user can change.
    if (decision.kind === 'fail' && !decision.reason.includes('safeMethods')) return failed;
    if (decision.kind === 'fail') return { ...failed, message: `${failed.message}; ${decision.reason}` };
    budget.onRetry(nowMs);
    return { kind: 'retry', code, delayMs: decision.delayMs, costsRetry: true, waits: false };
  }

  #maxRetriesOf(job: Job): number {
    const own = (job.isExposed ? job.request.maxRetries : job.data.crawlee?.maxRetries) as number | undefined;
    return own ?? this.#user.maxRequestRetries ?? this.#parts.hostConfig(job.leased.host).retry.maxRetries;
  }

  #retryAfterMs(job: Job): number | null {
    if (job.retryAfterMs !== null) return job.retryAfterMs;
    if (job.response === null) return null;
    const header = headerText(job.response.headers, 'retry-after');
    return parseRetryAfter(header, this.#parts.ports.clock.wallMs()) ?? null;
  }

  #hasRotatedOut(job: Job): boolean {
    return (job.request.sessionRotationCount ?? 0) >= this.#user.maxSessionRotations;
  }

  #budgetOf(host: string): RetryBudget {
    let budget = this.#budgets.get(host);
    if (budget === undefined) {
      const { retry, retryBudget } = this.#parts.hostConfig(host);
      budget = new RetryBudget({
        share: retryBudget,
        longestWaitMs: retry.maxDelayMs,
        nowMs: this.#parts.ports.clock.nowMs(),
      });
      if (this.#budgets.size >= MOST_BUDGETS_KEPT) this.#budgets.clear();
      this.#budgets.set(host, budget);
    }
    return budget;
  }
}

function copyChanges({ data, url, method }: RequestPatch, patch: RequestPatch): void {
  if (data !== undefined) patch.data = data;
  if (url !== undefined) patch.url = url;
  if (method !== undefined) patch.method = method;
}

function isForefront(job: Job): boolean {
  const meta = job.isExposed ? (job.request.userData.__crawlee as Record<string, unknown>) : job.data.crawlee;
  return meta?.forefront === true;
}
