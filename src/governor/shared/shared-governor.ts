import { hostOfKey } from '../../core/host.ts';
import type { KeySnapshot } from '../../core/key-snapshot.ts';
import type { Sample, Verdict } from '../../core/sample.ts';
import { SECOND_MS } from '../../core/units.ts';
import type { FollowingGovernor, Governor, HostPolicy, KeyRequest } from '../governor.ts';
import type { ExchangeAnswer, KeyDecision, KeyReport } from './exchange.ts';
import { SharedKey } from './shared-key.ts';
import { grantFor, type Lead, leadOf, type Share } from './shares.ts';

export type SharedGovernorOptions = {
  inner: FollowingGovernor;
  workerId: number;
  policyOf: (host: string) => HostPolicy;
  /** What the host's robots.txt asks for between two requests, ms; 0 = nothing. */
  crawlDelayMs: (host: string) => number;
  /** Ceiling over all hosts and workers; null = none. */
  maxRequestsPerMinute: number | null;
  /** Epoch ms, for the times of snapshots. */
  wallMs: () => number;
};

/** The key of the ceiling over all hosts. */
const ALL_HOSTS = '*';
/** What a grant is worth without another exchange, ms. Whoever is not heard of has given its share back after that. */
export const GRANT_LEASE_MS = 3_000;
const ASK_AGAIN_MS = 50;
// Below so many sends a second for each, a worker alone keeps the pace better.
const LEAST_RPS_A_SHARER = 5;
const STATED_SHARE = 0.97;
// The refusals of one burst are one event, whichever worker meets them.
const ONE_EVENT_MS = 1_000;

/**
 * A worker's governor where several share one budget for each key: it asks its own governor, and holds to the share of the
 * budget that it was granted for the next moment. It never waits and sends nothing; `report` and `apply` are called with
 * every exchange between the workers.
 */
export class SharedGovernor implements Governor {
  readonly #options: SharedGovernorOptions;
  readonly #inner: SharedGovernorOptions['inner'];
  readonly #keys = new Map<string, SharedKey>();
  readonly #all: SharedKey | null;
  #hasNews = false;

  constructor(options: SharedGovernorOptions) {
    this.#options = options;
    this.#inner = options.inner;
    this.#all = options.maxRequestsPerMinute === null ? null : new SharedKey(ALL_HOSTS, 0);
  }

  /** Something that the other workers should know at once, or that this one waits for. */
  get hasNews(): boolean {
    return this.#hasNews;
  }

  keyFor(request: KeyRequest): string {
    return this.#inner.keyFor(request);
  }

  tryAcquire(key: string, nowMs: number): number {
    const shared = this.#sharedKey(key, nowMs);
    const heldUntilMs = Math.max(this.#sharedReadyAtMs(shared, nowMs), this.#allReadyAtMs(nowMs));
    if (heldUntilMs > nowMs) return heldUntilMs;
    const innerAtMs = this.#inner.tryAcquire(key, nowMs);
    if (innerAtMs > 0) return innerAtMs;
    shared?.sent(nowMs);
    this.#all?.sent(nowMs);
    return 0;
  }

  #sharedReadyAtMs(shared: SharedKey | null, nowMs: number): number {
    if (shared === null) return 0;
    shared.asked(nowMs);
    const readyAtMs = this.#readyAtMs(shared, nowMs);
    if (readyAtMs > nowMs) return readyAtMs;
    return shared.inFlight < this.#mostInFlight(shared) ? 0 : Number.POSITIVE_INFINITY;
  }

  cancel(key: string, nowMs: number): void {
    this.#inner.cancel(key, nowMs);
    this.#ended(key);
  }

  finish(sample: Sample): Verdict {
    const verdict = this.#inner.finish(sample);
    this.#ended(sample.key);
    const shared = this.#keys.get(sample.key);
    if (shared !== undefined) this.#learn(shared, sample, verdict);
    return verdict;
  }

  /** Whoever was told to wait was told for all. */
  #learn(shared: SharedKey, { sentAtMs, endedAtMs }: Sample, verdict: Verdict): void {
    if (verdict === 'limited') {
      shared.isWaiting = true;
      shared.waitingSinceMs = endedAtMs;
      shared.refusedAtMs = endedAtMs;
      this.#hasNews = true;
    } else if (shared.isWaiting && sentAtMs > shared.waitingSinceMs && verdict === 'ok') {
      shared.isWaiting = false;
      this.#hasNews = true;
    }
  }

  givenUp(key: string, nowMs: number): string | null {
    return this.#inner.givenUp(key, nowMs);
  }

  deadReason(key: string): string | null {
    return this.#inner.deadReason(key);
  }

  appetite(key: string, nowMs: number, horizonMs: number): number {
    const own = this.#inner.appetite(key, nowMs, horizonMs);
    const shared = this.#keys.get(key);
    if (shared === undefined || shared.grantedRps === null) return own;
    return Math.min(own, Math.ceil((shared.grantedRps * horizonMs) / SECOND_MS) + 1);
  }

  snapshot(nowMs: number): KeySnapshot[] {
    return this.#inner.snapshot(nowMs).map((snapshot) => this.#withShare(snapshot, nowMs));
  }

  /** What the others should know of this worker's keys; ends the time it counts over. */
  report(nowMs: number): KeyReport[] {
    this.#hasNews = false;
    const snapshots = new Map(this.#inner.snapshot(nowMs).map((snapshot) => [snapshot.key, snapshot]));
    const reports: KeyReport[] = [];
    for (const shared of this.#keys.values()) {
      if (shared.isActive(nowMs)) reports.push(this.#reportOf(shared, snapshots.get(shared.key), nowMs));
      else this.#keys.delete(shared.key);
    }
    if (this.#all !== null) reports.push(this.#reportOf(this.#all, undefined, nowMs));
    return reports;
  }

  /** Decides this worker's part in a key: a function of what is known alone. */
  decide(report: KeyReport, others: readonly Share[]): KeyDecision {
    const { workerId } = this.#options;
    return {
      grantedRps: grantFor({ ...report, workerId }, others),
      lead: leadOf(workerId, others),
      workers: 1 + others.length,
    };
  }

  /** @param sentAtMs when the exchange was asked for: a lease counts from then */
  apply(answer: ExchangeAnswer, { sentAtMs, nowMs }: { sentAtMs: number; nowMs: number }): void {
    for (const [key, { grantedRps, lead, workers }] of answer.decisions) {
      const shared = key === ALL_HOSTS ? this.#all : this.#keys.get(key);
      if (shared === null || shared === undefined) continue;
      this.#moveParts(shared, workers);
      const byLead = shared === this.#all ? null : this.#follow(shared, lead, nowMs);
      const rates = [grantedRps, byLead].filter((rps) => rps !== null);
      const mayRps = rates.length > 0 ? Math.min(...rates) : null;
      shared.grant(mayRps, sentAtMs + GRANT_LEASE_MS);
      this.#inner.boundBy(key, mayRps);
    }
    for (const { key, forMs } of answer.parks) this.#park(this.#keys.get(key), nowMs, forMs);
  }

  /** Of fewer workers each has a larger part. Who follows has that from the one it follows. */
  #moveParts(shared: SharedKey, workers: number): void {
    if (workers !== shared.workers && !shared.follows) this.#inner.rescale(shared.key, shared.workers / workers);
    shared.workers = workers;
  }

  /** @returns the rate of the law it goes by; null = its own, or one without a pace */
  #follow(shared: SharedKey, lead: Lead | null, nowMs: number): number | null {
    shared.follows = lead !== null;
    if (lead === null) return null;
    const { foundRps, pacedRps } = lead;
    // So that it can lead should the other one be gone, and is not held back by what it met alone.
    if (foundRps !== null && pacedRps !== null && pacedRps > 0)
      this.#inner.adopt(shared.key, { limitRps: foundRps, requestsPerSecond: pacedRps, nowMs });
    return pacedRps;
  }

  #park(shared: SharedKey | undefined, nowMs: number, forMs: number): void {
    if (shared === undefined) return;
    const untilMs = nowMs + forMs;
    if (untilMs <= shared.parkedUntilMs) return;
    const isNew = nowMs - shared.refusedAtMs > ONE_EVENT_MS && nowMs >= shared.parkedUntilMs;
    shared.parkedUntilMs = untilMs;
    if (!isNew) return;
    shared.refusedAtMs = nowMs;
    if (shared.follows) return;
    // The law is this one's: what another met at the same rate, it would have met.
    this.#inner.refusedElsewhere(shared.key, { nowMs, waitMs: forMs });
    shared.isWaiting = true;
    shared.waitingSinceMs = nowMs;
    this.#hasNews = true;
  }

  #reportOf(shared: SharedKey, snapshot: KeySnapshot | undefined, nowMs: number): KeyReport {
    const { sentRps, wantedRps } = shared.report(nowMs);
    const ceilingRps = this.#ceilingOf(shared.key, snapshot);
    return {
      key: shared.key,
      sentRps,
      wantedRps,
      ceilingRps,
      mostSharers: this.#mostSharers(shared.key, ceilingRps),
      pacedRps: shared.isWaiting ? 0 : (snapshot?.requestsPerSecond ?? null),
      foundRps: snapshot?.limitSource === 'discovered' ? snapshot.limitRps : null,
      parkForMs: this.#newPark(shared, snapshot),
    };
  }

  #newPark(shared: SharedKey, snapshot: KeySnapshot | undefined): number | null {
    if (snapshot === undefined || snapshot.rateLimited === shared.reportedRefusals) return null;
    shared.reportedRefusals = snapshot.rateLimited;
    if (snapshot.parkedUntilMs === null) return null;
    return Math.max(0, snapshot.parkedUntilMs - this.#options.wallMs());
  }

  #ceilingOf(key: string, snapshot: KeySnapshot | undefined): number | null {
    if (key === ALL_HOSTS) return (this.#options.maxRequestsPerMinute ?? 0) / 60;
    const statedRps =
      snapshot?.limitSource === 'stated' && snapshot.limitRps !== null ? STATED_SHARE * snapshot.limitRps : null;
    const rates = [this.#configuredRps(key), statedRps].filter((rps) => rps !== null);
    return rates.length > 0 ? Math.min(...rates) : null;
  }

  #configuredRps(key: string): number | null {
    const host = hostOfKey(key);
    const { requestsPerSecond, minDelayMs } = this.#options.policyOf(host);
    const delayMs = Math.max(minDelayMs, this.#options.crawlDelayMs(host));
    const byDelay = delayMs > 0 ? SECOND_MS / delayMs : null;
    if (byDelay === null) return requestsPerSecond;
    return requestsPerSecond === null ? byDelay : Math.min(byDelay, requestsPerSecond);
  }

  /** Sends that have to be a time apart are one worker's. */
  #mostSharers(key: string, ceilingRps: number | null): number {
    if (ceilingRps === null) return Number.POSITIVE_INFINITY;
    const host = hostOfKey(key);
    const isSpaced =
      key !== ALL_HOSTS && Math.max(this.#options.policyOf(host).minDelayMs, this.#options.crawlDelayMs(host)) > 0;
    return isSpaced ? 1 : Math.max(1, Math.floor(ceilingRps / LEAST_RPS_A_SHARER));
  }

  #readyAtMs(shared: SharedKey, nowMs: number): number {
    const readyAtMs = shared.readyAtMs(nowMs, ASK_AGAIN_MS);
    if (readyAtMs > nowMs && nowMs >= shared.parkedUntilMs) shared.held();
    return readyAtMs;
  }

  #allReadyAtMs(nowMs: number): number {
    if (this.#all === null) return 0;
    this.#all.asked(nowMs);
    // Before the first exchange nothing is granted.
    if (this.#all.grantedRps === null) this.#all.grant(0, Number.POSITIVE_INFINITY);
    return this.#readyAtMs(this.#all, nowMs);
  }

  /** What is configured for a host holds for all workers together. */
  #mostInFlight(shared: SharedKey): number {
    return Math.max(1, Math.ceil(this.#policyOf(shared).maxConcurrency / shared.workers));
  }

  #policyOf({ key }: SharedKey): HostPolicy {
    return this.#options.policyOf(hostOfKey(key));
  }

  /** @returns null for a key that each worker has to itself */
  #sharedKey(key: string, nowMs: number): SharedKey | null {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    if (this.#options.policyOf(hostOfKey(key)).limitScope === 'address') return null;
    const shared = new SharedKey(key, nowMs);
    // A configured rate is nobody's before it is shared out.
    if (this.#configuredRps(key) !== null) shared.grant(0, Number.POSITIVE_INFINITY);
    this.#keys.set(key, shared);
    this.#hasNews = true;
    return shared;
  }

  #ended(key: string): void {
    const shared = this.#keys.get(key);
    if (shared !== undefined) shared.inFlight -= 1;
    if (this.#all !== null) this.#all.inFlight -= 1;
  }

  #withShare(snapshot: KeySnapshot, nowMs: number): KeySnapshot {
    const shared = this.#keys.get(snapshot.key);
    if (shared === undefined) return snapshot;
    const isParked = shared.parkedUntilMs > nowMs && snapshot.parkedUntilMs === null;
    const { requestsPerSecond } = snapshot;
    const { grantedRps } = shared;
    const rates = [requestsPerSecond, grantedRps].filter((rps) => rps !== null);
    return {
      ...snapshot,
      requestsPerSecond: rates.length > 0 ? Math.min(...rates) : null,
      ...(isParked && {
        parkedUntilMs: this.#options.wallMs() + shared.parkedUntilMs - nowMs,
        parkedReason: 'another worker was told to wait',
      }),
    };
  }
}
