import type { Clock } from '../core/clock.ts';
import type { CrawlEvent, EventSink } from '../core/events.ts';
import { hostOfKey } from '../core/host.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import { type Random, systemRandom } from '../core/random.ts';
import type { Sample, Verdict } from '../core/sample.ts';
import { SECOND_MS } from '../core/units.ts';
import { type CircuitChange, describeFailure } from './circuit.ts';
import { GlobalCeiling, type GlobalLimits } from './global-ceiling.ts';
import type { Governor, HostPolicy } from './governor.ts';
import { circuitReason, HostState } from './host-state.ts';
import { KeyState } from './key-state.ts';
import { formatRate } from './law/rate-control.ts';
import { parseRetryAfter } from './signals/retry-after.ts';

export type GovernorOptions = Partial<GlobalLimits> & {
  policyOf: (host: string) => HostPolicy;
  /** Only for the epoch times of events and snapshots. */
  clock: Pick<Clock, 'nowMs' | 'wallMs'>;
  random?: Random;
  onEvent?: EventSink;
};

/** The wait after a refusal that tells none, ms. */
const DEFAULT_WAIT_MS = 1_000;
const BACKOFF_GROWTH = 1.6;
const LONGEST_BACKOFF_MS = 60_000;

/** Builds the governor of a process. */
export function createGovernor(options: GovernorOptions): Governor {
  return new HostGovernor(options);
}

class HostGovernor implements Governor {
  readonly #options: GovernorOptions;
  readonly #random: Random;
  readonly #global: GlobalCeiling;
  readonly #hosts = new Map<string, HostState>();
  readonly #keys = new Map<string, KeyState>();

  constructor(options: GovernorOptions) {
    this.#options = options;
    this.#random = options.random ?? systemRandom;
    const { maxConcurrency = null, maxRequestsPerMinute = null } = options;
    this.#global = new GlobalCeiling({ maxConcurrency, maxRequestsPerMinute });
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
    const state = this.#keys.get(key) ?? this.#addKey(key, nowMs);
    this.#global.giveBack();
    state.giveBack(nowMs);
  }

  finish(sample: Sample): Verdict {
    const nowMs = sample.endedAtMs;
    const state = this.#keys.get(sample.key) ?? this.#addKey(sample.key, nowMs);
    const verdict = this.#learn(state, sample);
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

  snapshot(nowMs: number): KeySnapshot[] {
    const wallOffsetMs = this.#wallOffsetMs();
    return [...this.#keys.values()].map((state) => state.snapshot(nowMs, wallOffsetMs));
  }

  #addKey(key: string, nowMs: number): KeyState {
    const host = this.#hostState(hostOfKey(key));
    const state = new KeyState({ key, host, ceiling: host.ceilingOf(budgetOf(key)), nowMs });
    this.#keys.set(key, state);
    return state;
  }

  #hostState(host: string): HostState {
    let state = this.#hosts.get(host);
    if (state === undefined) {
      state = new HostState(host, this.#options.policyOf(host));
      this.#hosts.set(host, state);
    }
    return state;
  }

  #learn(state: KeyState, sample: Sample): Verdict {
    if (sample.failure !== null || sample.status === null) return this.#learnFailure(state, sample);
    const change = state.host.circuitOf(pathOf(sample)).answered();
    if (change === 'closed') this.#circuitChanged(state, change, sample);
    if (sample.status === 429 || sample.status === 503) return this.#learnRefusal(state, sample);
    return this.#learnAnswer(state, sample);
  }

  #learnFailure(state: KeyState, sample: Sample): Verdict {
    if (state.gate.isProbe(sample.sentAtMs)) state.gate.probeLost();
    if (sample.failure === null) return 'failed';
    const facts = { sentAtMs: sample.sentAtMs, nowMs: sample.endedAtMs };
    const change = state.host.circuitOf(pathOf(sample)).failed(sample.failure, facts);
    if (change !== null) this.#circuitChanged(state, change, sample);
    return 'failed';
  }

  #circuitChanged(state: KeyState, change: CircuitChange, sample: Sample): void {
    const { host } = state;
    const circuit = host.circuitOf(pathOf(sample));
    host.refreshCircuit();
    const waitMs = circuit.openUntilMs - sample.endedAtMs;
    if (change === 'opened' || change === 'still-open') {
      const reason = `${host.host}: ${circuitReason(circuit)}; trying one request in ${seconds(waitMs)}`;
      this.#emit({ kind: 'circuit-opened', host: host.host, reason, facts: { origin: sample.origin, waitMs } });
    } else if (change === 'closed') {
      const reason = `${host.host}: ${sample.origin} answers again`;
      this.#emit({ kind: 'circuit-closed', host: host.host, reason, facts: { origin: sample.origin } });
    } else if (change === 'dead') {
      const reason = `${host.host}: ${describeFailure(circuit.lastFailure)}, and it never answered: its requests fail`;
      this.#emit({ kind: 'circuit-closed', host: host.host, reason, facts: { origin: sample.origin, dead: true } });
    }
  }

  #learnAnswer(state: KeyState, sample: Sample): Verdict {
    const { sentAtMs, endedAtMs: nowMs, overloaded } = sample;
    if (state.gate.isProbe(sentAtMs)) this.#reopen(state, nowMs);
    state.control.accepted({ sentAtMs, nowMs, inFlight: state.inFlight }, !overloaded);
    return 'ok';
  }

  #reopen(state: KeyState, nowMs: number): void {
    state.gate.open();
    state.backoffMs = 0;
    state.control.reopened(nowMs);
    const { cap, requestsPerSecond } = state.control;
    const pace = requestsPerSecond === null ? '' : ` at ${formatRate(requestsPerSecond)}`;
    const reason = `${state.key}: the lone request was answered; going on${pace}, at most ${cap} in flight`;
    this.#emit({ kind: 'resumed', host: state.host.host, reason, facts: { requestsPerSecond, concurrency: cap } });
  }

  #learnRefusal(state: KeyState, sample: Sample): Verdict {
    const { sentAtMs, endedAtMs: nowMs } = sample;
    const serverWallMs = sample.wallMs;
    const retryAfter = sample.headers['retry-after'];
    const toldMs = parseRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, serverWallMs) ?? null;
    const wasLimited = state.control.limitRps !== null;
    state.rateLimited += 1;
    if (state.gate.isProbe(sentAtMs)) this.#probeRefused(state, sample, toldMs);
    else if (sentAtMs < state.cutAtMs) this.#refusedLate(state, sample, toldMs);
    else this.#cut(state, sample, toldMs);
    const maxWaitMs = state.host.policy.maxServerWaitSecs * SECOND_MS;
    if (toldMs !== null && toldMs > maxWaitMs) this.#giveUp(state, `it asks for a wait of ${seconds(toldMs)}`, nowMs);
    return sample.status === 429 || toldMs !== null || wasLimited ? 'limited' : 'failed';
  }

  #cut(state: KeyState, sample: Sample, toldMs: number | null): void {
    const { sentAtMs, endedAtMs: nowMs } = sample;
    state.cutAtMs = nowMs;
    state.control.refused({ sentAtMs, nowMs, inFlight: state.inFlight });
    state.backoffMs = toldMs ?? DEFAULT_WAIT_MS;
    this.#park(state, sample, { toldMs, ownMs: DEFAULT_WAIT_MS });
  }

  #refusedLate(state: KeyState, sample: Sample, toldMs: number | null): void {
    state.control.refusedLate(sample.sentAtMs);
    if (toldMs !== null) this.#park(state, sample, { toldMs, ownMs: 0 });
  }

  #probeRefused(state: KeyState, sample: Sample, toldMs: number | null): void {
    state.gate.probeLost();
    state.control.probeRefused();
    state.backoffMs = Math.min(Math.max(state.backoffMs, DEFAULT_WAIT_MS) * BACKOFF_GROWTH, LONGEST_BACKOFF_MS);
    this.#park(state, sample, { toldMs, ownMs: state.backoffMs });
  }

  #park(state: KeyState, sample: Sample, wait: { toldMs: number | null; ownMs: number }): void {
    const { endedAtMs: nowMs, status } = sample;
    if (wait.toldMs !== null) state.control.toldToWait(wait.toldMs);
    const waitMs = Math.max(wait.toldMs ?? 0, wait.ownMs);
    const reason =
      wait.toldMs === null ? `status ${status}` : `status ${status} with Retry-After ${seconds(wait.toldMs)}`;
    const wasUntilMs = state.gate.isOpen ? 0 : state.gate.untilMs;
    if (wait.toldMs !== null) {
      state.gate.park({ nowMs, waitMs: wait.toldMs, jitterMs: this.#jitterMs(wait.toldMs), source: 'server', reason });
    }
    if (wait.ownMs > (wait.toldMs ?? 0)) {
      state.gate.park({ nowMs, waitMs: wait.ownMs, jitterMs: this.#jitterMs(wait.ownMs), source: 'own', reason });
    }
    if (state.gate.untilMs <= wasUntilMs) return;
    const text = `${state.key}: ${reason}; nothing is sent for ${seconds(waitMs)}`;
    this.#emit({ kind: 'parked', host: state.host.host, reason: text, facts: { waitMs, status } });
  }

  /** Comes after the wait, never inside it: so that many clients do not return at once. */
  #jitterMs(waitMs: number): number {
    return this.#random() * Math.min(Math.max(0.02 * waitMs, 20), SECOND_MS);
  }

  #giveUpIfStalled(state: KeyState, nowMs: number): void {
    if (state.givenUp !== null || !state.hasStalled(nowMs)) return;
    this.#giveUp(state, `no progress for ${seconds(state.stalledMs(nowMs))}`, nowMs);
  }

  #giveUp(state: KeyState, why: string, _nowMs: number): void {
    if (state.givenUp !== null) return;
    state.givenUp = why;
    const reason = `${state.key} is given up: ${why}; its requests stay pending`;
    this.#emit({ kind: 'given-up', host: state.host.host, reason });
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

  #wallOffsetMs(): number {
    return this.#options.clock.wallMs() - this.#options.clock.nowMs();
  }
}

/** What of a key shares a configured ceiling: all but the bucket. */
function budgetOf(key: string): string {
  const end = key.lastIndexOf('#');
  return end < 0 ? key : key.slice(0, end);
}

/** An origin by one egress: what can be down as a whole. */
function pathOf(sample: Sample): string {
  const egress = sample.key.split('#')[2];
  return egress ? `${sample.origin}#${egress}` : sample.origin;
}

function seconds(ms: number): string {
  return `${Number((ms / SECOND_MS).toFixed(ms < 10_000 ? 1 : 0))} s`;
}
