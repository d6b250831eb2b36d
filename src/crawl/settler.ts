import { SessionError, type Statistics } from '@crawlee/core';
import { messageOf } from '../core/errors.ts';
import type { Outcome } from '../storage/store.ts';
import { failureCodeOf, RequestFailure } from './failure-codes.ts';
import { FAILURES_DATASET, failureRecord } from './failure-record.ts';
import { withTimeout } from './handler-timeout.ts';
import type { Job } from './job.ts';
import { JobStatistics } from './job-statistics.ts';
import type { CrawlParts } from './parts.ts';
import { PendingWork } from './pending-work.ts';
import { addFailedRow, type PlainList } from './plain-list.ts';
import { markKeyOf } from './poison.ts';
import type { RequestRunner } from './request-runner.ts';
import { FailurePolicy, type Settlement } from './settle-failure.ts';
import type { SharedState } from './shared-state.ts';
import type { UserCode } from './user-code.ts';

// Soon enough for the end of a crawl, seldom enough to cost nothing.
const DEFERRAL_MS = 1_000;

/** Commits what became of a request, and tells everyone who counts. */
export class Settler {
  readonly #parts: CrawlParts & { signal: AbortSignal };
  readonly #plain: PlainList | null;
  readonly #user: UserCode;
  readonly #runner: RequestRunner;
  readonly #state: SharedState;
  readonly #stats: JobStatistics;
  readonly #policy: FailurePolicy;
  readonly #onCommitted: (added: number, isHandled: boolean) => void;

  constructor(options: {
    parts: CrawlParts & { signal: AbortSignal };
    plain: PlainList | null;
    user: UserCode;
    runner: RequestRunner;
    state: SharedState;
    stats: Statistics;
    /** Told of every commit: requests it added, and whether one was handled. */
    onCommitted: (added: number, isHandled: boolean) => void;
  }) {
    this.#parts = options.parts;
    this.#plain = options.plain;
    this.#user = options.user;
    this.#runner = options.runner;
    this.#state = options.state;
    this.#onCommitted = options.onCommitted;
    this.#stats = new JobStatistics(options.stats, options.parts.ports.clock);
    this.#policy = new FailurePolicy(options.parts, options.user);
  }

  async settleSuccess(job: Job): Promise<void> {
    job.session.markGood();
    if (job.work.bindsSession) this.#bindSession(job);
    const result = job.skipReason === null ? 'succeeded' : 'skipped';
    const outcome: Outcome = { kind: 'handled', result, reason: job.skipReason, patch: patchOf(job) };
    if (!(await this.#commit(job, outcome))) return;
    this.#stats.finished(job);
    this.#parts.recorder.handled({ host: job.leased.host, result, code: job.skipReason, url: job.leased.url });
  }

  /** The cursor and who got it are kept together: neither is of use without the other. */
  #bindSession(job: Job): void {
    const state = this.#parts.sessions.bind(job.session);
    if (state !== null) job.work.setValue(state.key, state.json);
  }

  /** Nothing was sent: it waits in the store, at no cost. */
  async defer(job: Job): Promise<void> {
    await this.#commit(job, this.#policy.deferral(job, DEFERRAL_MS));
  }

  /** An attempt has ended, well or not: a first one earns its host's retry budget a share. */
  onAttempt(job: Job): void {
    if (job.request.retryCount === 0) this.#policy.onRequest(job.leased.host);
  }

  /** @throws the error when it is one that ends the crawl */
  async settleFailure(job: Job, error: Error): Promise<void> {
    // The crawl is being stopped: the request was cut off and stays pending.
    if (this.#parts.signal.aborted) return;
    this.#resetWork(job);
    const settlement = this.#policy.decide(job, error);
    if (settlement.kind === 'stop') throw error;
    job.request.errorMessages.push(this.#parts.conceal(messageOf(error)));
    if (!(error instanceof RequestFailure)) this.#blameSession(job, error);
    if (settlement.kind === 'fail') return this.#fail(job, { error, settlement });
    await this.#retry(job, { error, settlement });
  }

  #blameSession(job: Job, error: Error): void {
    const isUsersProxy = this.#user.newProxyInfo !== null && failureCodeOf(error) === 'PROXY_FAILED';
    // The user's proxies go by the session: another one has another proxy.
    if (isUsersProxy) {
      job.session.retire();
      return;
    }
    const attempt = job.proxyUrl === null ? null : { rotations: 0, proxyUrl: job.proxyUrl };
    this.#parts.sessions.onFailure(job.session, error, attempt);
  }

  async #retry(
    job: Job,
    { error, settlement }: { error: Error; settlement: Settlement & { kind: 'retry' } },
  ): Promise<void> {
    if (this.#user.errorHandler !== null) {
      await this.#call('errorHandler', this.#user.errorHandler(this.#runner.contextOf(job), error));
      const message = this.#parts.conceal(messageOf(error));
      if (job.request.noRetry)
        return this.#fail(job, { error, settlement: { kind: 'fail', code: settlement.code, message } });
    }
    if (error instanceof SessionError) rotateSession(job);
    if (settlement.costsRetry) job.request.retryCount += 1;
    this.#parts.ports.log.debug('A request will be tried again', {
      url: job.request.url,
      reason: this.#parts.conceal(messageOf(error)),
      retry: job.request.retryCount,
      delayMs: settlement.delayMs,
    });
    if (settlement.costsRetry) this.#parts.recorder.retried(job.leased.host);
    job.work.clear();
    await this.#commit(job, this.#policy.retryOutcome(job, settlement));
  }

  async #fail(
    job: Job,
    { error, settlement }: { error: Error; settlement: Settlement & { kind: 'fail' } },
  ): Promise<void> {
    const { code, message } = settlement;
    this.#addFailureRows(job, { code, message });
    await this.#callFailedRequestHandler(job, error);
    const outcome: Outcome = { kind: 'handled', result: 'failed', reason: code, patch: patchOf(job) };
    if (!(await this.#commit(job, outcome))) return;
    this.#stats.error(error);
    this.#stats.failed(job);
    this.#parts.recorder.handled({ host: job.leased.host, result: 'failed', code, url: job.leased.url });
    this.#parts.ports.log.debug('A request has failed', { url: job.request.url, code, reason: message });
  }

  #addFailureRows(job: Job, { code, message }: { code: string; message: string }): void {
    const status = job.response?.status ?? null;
    const { request, firstAtMs, response } = job;
    const { ports, conceal } = this.#parts;
    const facts = { status, code, message, firstAtMs, lastAtMs: ports.clock.wallMs(), body: response?.body ?? null };
    job.work.addRecord(FAILURES_DATASET, failureRecord(request, { ...facts, conceal }));
    const isListed = this.#plain !== null && job.leased.label === null && this.#user.handlerFor(request) === null;
    if (isListed) addFailedRow(this.#plain!, { url: job.leased.url, status, error: code }, job.work);
  }

  async #callFailedRequestHandler(job: Job, error: Error): Promise<void> {
    if (this.#user.failedRequestHandler === null) return;
    try {
      await this.#call('failedRequestHandler', this.#user.failedRequestHandler(this.#runner.contextOf(job), error));
    } catch (thrown) {
      this.#parts.ports.log.error('failedRequestHandler has thrown', {
        url: job.request.url,
        reason: messageOf(thrown),
      });
    }
  }

  /** One that never returns must not keep the crawl from its end. */
  async #call(name: string, returned: unknown): Promise<void> {
    if (!(returned instanceof Promise)) return;
    const { clock } = this.#parts.ports;
    const timeoutMs = this.#user.internalTimeoutMs;
    const message = `${name} did not end within ${timeoutMs / 1000} seconds`;
    await withTimeout(returned, { clock, timeoutMs, onTimeout: () => {}, message });
  }

  /** What the failed attempt wrote is dropped; what its handler, timed out or not, writes from now on, too. */
  #resetWork(job: Job): void {
    job.work.clear();
    if (job.context === null) return;
    job.work.abandon();
    job.work = new PendingWork(this.#parts.columns);
    job.context = job.context.withWork(job.work);
  }

  /** @returns whether it is durable; false when the lease was lost and another worker has the request */
  async #commit(job: Job, outcome: Outcome): Promise<boolean> {
    const { ports, queue, recorder } = this.#parts;
    this.#state.addTo(job.work);
    if (job.endSuspicion !== null) job.work.setValue(markKeyOf(job.leased), null);
    const startedMs = ports.clock.nowMs();
    const result = await queue.settle(job.work.toUnit(job.leased.lease, outcome));
    recorder.time(job.leased.host, 'commit', ports.clock.nowMs() - startedMs);
    if (result.status === 'lost') {
      ports.log.debug('Another worker has the request', { url: job.leased.url });
      job.work.abandon();
      return false;
    }
    this.#onCommitted(result.added, outcome.kind === 'handled');
    return true;
  }
}

/** The next attempt goes out with another session. */
function rotateSession(job: Job): void {
  job.request.sessionRotationCount = (job.request.sessionRotationCount ?? 0) + 1;
  job.session.retire();
}

/** What stays with a handled request: enough for a later retry-failed to tell its history. */
function patchOf(job: Job): string | null {
  const { retryCount, errorMessages } = job.request;
  return retryCount === 0 && errorMessages.length === 0 ? null : JSON.stringify({ retryCount, errorMessages });
}
