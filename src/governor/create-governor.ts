import type { Clock } from '../core/clock.ts';
import type { CrawlEvent, EventSink } from '../core/events.ts';
import { hostOf, hostOfKey, keyOf } from '../core/host.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import { type Random, systemRandom } from '../core/random.ts';
import type { Sample, Verdict } from '../core/sample.ts';
import { GlobalCeiling, type GlobalLimits } from './global-ceiling.ts';
import type { FollowingGovernor, HostPolicy, KeyRequest } from './governor.ts';
import { HostState } from './host-state.ts';
import { KeyState } from './key-state.ts';
import { Learner } from './learner.ts';
import { formatSeconds } from './words.ts';

export type GovernorOptions = Partial<GlobalLimits> & {
  /** Asked once for each host. */
  policyOf: (host: string) => HostPolicy;
  /** Only for the epoch times of events and snapshots. */
  clock: Pick<Clock, 'nowMs' | 'wallMs'>;
  random?: Random;
  onEvent?: EventSink;
};

/** Builds the governor of a process. */
export function createGovernor(options: GovernorOptions): FollowingGovernor {
  return new HostGovernor(options);
}

class HostGovernor implements FollowingGovernor {
  readonly #options: GovernorOptions;
  readonly #global: GlobalCeiling;
  readonly #learner: Learner;
  readonly #hosts = new Map<string, HostState>();
  readonly #keys = new Map<string, KeyState>();
  #dropAtSize = MANY_KEYS;

  constructor(options: GovernorOptions) {
    this.#options = options;
    const { maxConcurrency = null, maxRequestsPerMinute = null, random = systemRandom } = options;
    this.#global = new GlobalCeiling({ maxConcurrency, maxRequestsPerMinute });
    this.#learner = new Learner({ random, emit: (event) => this.#emit(event) });
  }

  keyFor(request: KeyRequest): string {
    const host = hostOf(request.url);
    const { credential, egress } = request;
    const state = this.#hostState(host);
    state.isAskedByBucket = true;
    const bucket = state.buckets?.bucketOf(request) ?? '';
    // Without a credential, the address is all a server can count by.
    const byCredential = state.policy.limitScope === 'credential' && credential;
    return keyOf(byCredential ? { host, credential, bucket } : { host, ...(egress ? { egress } : {}), bucket });
  }

  tryAcquire(key: string, nowMs: number): number {
    const state = this.#keys.get(key) ?? this.#addKey(key, nowMs);
    const readyAtMs = state.readyAtMs(nowMs);
    if (readyAtMs > nowMs) return readyAtMs;
    const globalReadyAtMs = this.#global.readyAtMs(nowMs);
    if (globalReadyAtMs > nowMs) return globalReadyAtMs;
    this.#global.take(nowMs);
    state.take(nowMs);
    return 0;
  }

  cancel(key: string, nowMs: number): void {
    this.#global.giveBack();
    this.#keys.get(key)?.giveBack(nowMs);
  }

  finish(sample: Sample): Verdict {
    const nowMs = sample.endedAtMs;
    const state = this.#keys.get(sample.key) ?? this.#addKey(sample.key, nowMs);
    const verdict = this.#learner.learn(state, sample, ({ bucket }) => this.#budgetOf(state, sample, bucket));
    this.#global.release();
    state.release(sample.sentAtMs);
    if (verdict === 'ok') state.progressed(nowMs);
    else this.#giveUpIfStalled(state, nowMs);
    this.#explain(state);
    return verdict;
  }

  givenUp(key: string, nowMs: number): string | null {
    const state = this.#keys.get(key);
    if (state === undefined) return null;
    this.#giveUpIfStalled(state, nowMs);
    return state.givenUp;
  }

  deadReason(key: string): string | null {
    return this.#hosts.get(hostOfKey(key))?.deadReason ?? null;
  }

  appetite(key: string, nowMs: number, horizonMs: number): number {
    const state = this.#keys.get(key) ?? this.#addKey(key, nowMs);
    return state.appetite(nowMs, horizonMs);
  }

  rescale(key: string, factor: number): void {
    this.#keys.get(key)?.control.rescale(factor);
  }

  boundBy(key: string, requestsPerSecond: number | null): void {
    this.#keys.get(key)?.control.boundBy(requestsPerSecond);
  }

  adopt(key: string, level: { limitRps: number; requestsPerSecond: number; nowMs: number }): void {
    const state = this.#keys.get(key) ?? this.#addKey(key, level.nowMs);
    state.control.adopt(level);
  }

  refusedElsewhere(key: string, wait: { nowMs: number; waitMs: number }): void {
    const state = this.#keys.get(key);
    if (state !== undefined) this.#learner.refusedElsewhere(state, wait);
  }

  snapshot(nowMs: number): KeySnapshot[] {
    const wallOffsetMs = this.#options.clock.wallMs() - this.#options.clock.nowMs();
    return Array.from(this.#keys.values(), (state) => state.snapshot(nowMs, wallOffsetMs));
  }

  /** The key whose limits an answer speaks of: another one, when the server names another bucket than was thought. */
  #budgetOf(state: KeyState, sample: Sample, named: string | null): KeyState {
    if (named === null || sample.url === undefined || !state.host.isAskedByBucket) return state;
    const bucket = state.host.learnBucket({ method: sample.method ?? 'GET', url: sample.url }, named);
    const key = withBucket(sample.key, bucket);
    return key === sample.key ? state : (this.#keys.get(key) ?? this.#addKey(key, sample.endedAtMs));
  }

  #addKey(key: string, nowMs: number): KeyState {
    if (this.#keys.size >= this.#dropAtSize) this.#dropIdle(nowMs);
    const host = this.#hostState(hostOfKey(key));
    host.keys += 1;
    const state = new KeyState({ key, host, ceiling: host.ceilingOf(withBucket(key, '')), nowMs });
    this.#keys.set(key, state);
    return state;
  }

  /** Forgets keys that have nothing in flight, nothing to wait for and nothing to tell. */
  #dropIdle(nowMs: number): void {
    for (const [key, state] of this.#keys) {
      if (!state.isIdle || nowMs - state.lastUsedMs <= IDLE_MS) continue;
      this.#keys.delete(key);
      state.host.keys -= 1;
      if (state.host.isForgettable) this.#hosts.delete(state.host.host);
    }
    this.#dropAtSize = Math.max(MANY_KEYS, this.#keys.size * 1.1);
  }

  #hostState(host: string): HostState {
    let state = this.#hosts.get(host);
    if (state === undefined) {
      state = new HostState(host, this.#options.policyOf(host));
      this.#hosts.set(host, state);
    }
    return state;
  }

  #giveUpIfStalled(state: KeyState, nowMs: number): void {
    if (state.givenUp !== null || !state.hasStalled(nowMs)) return;
    this.#learner.giveUp(state, `no progress for ${formatSeconds(state.stalledMs(nowMs))}`);
  }

  #explain(state: KeyState): void {
    const text = state.control.takeExplanation();
    if (text === null) return;
    const { cap, requestsPerSecond, limitRps } = state.control;
    const facts = { requestsPerSecond, concurrency: cap, limitRps };
    this.#emit({ kind: 'limit-changed', host: state.host.host, reason: `${state.key}: ${text}`, facts });
  }

  #emit(event: Omit<CrawlEvent, 'atMs'>): void {
    this.#options.onEvent?.({ atMs: this.#options.clock.wallMs(), ...event });
  }
}

/** From so many on, idle ones are dropped. */
const MANY_KEYS = 10_000;
const IDLE_MS = 600_000;

/** @returns the key of the same budget with another bucket */
function withBucket(key: string, bucket: string): string {
  const end = key.lastIndexOf('#');
  if (end < 0) return bucket === '' ? key : `${key}###${bucket}`;
  const budget = key.slice(0, end);
  return bucket === '' && budget.endsWith('##') ? hostOfKey(key) : `${budget}#${bucket}`;
}
