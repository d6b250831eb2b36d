import type { CrawlEvent } from '../core/events.ts';
import type { Random } from '../core/random.ts';
import type { Sample, Verdict } from '../core/sample.ts';
import { SECOND_MS } from '../core/units.ts';
import { type CircuitChange, describeFailure } from './circuit.ts';
import { circuitReason } from './host-state.ts';
import type { KeyState } from './key-state.ts';
import { readSignals, type Signals } from './signals/read-signals.ts';
import { formatRate, formatSeconds } from './words.ts';

const BACKOFF_GROWTH = 1.6;
const LONGEST_BACKOFF_MS = 60_000;
// Comes after a wait, never inside it, so that many clients do not return at once.
const JITTER_SHARE = 0.02;
const LEAST_JITTER_MS = 20;

type LearnerOptions = { random: Random; emit: (event: Omit<CrawlEvent, 'atMs'>) => void };

/** Turns the outcome of an attempt into what its key, its host and its circuit should know. */
export class Learner {
  readonly #random: Random;
  readonly #emit: LearnerOptions['emit'];

  constructor(options: LearnerOptions) {
    this.#random = options.random;
    this.#emit = options.emit;
  }

  /** @param budget the key whose limits the answer speaks of: mostly `state` itself */
  learn(state: KeyState, sample: Sample, readBudget: (signals: Signals) => KeyState): Verdict {
    if (sample.failure !== null || sample.status === null) return this.#learnFailure(state, sample);
    const circuit = state.host.circuitOf(pathOf(state, sample));
    if (circuit.answered() === 'closed') this.#circuitChanged(state, 'closed', sample);
    const signals = readSignals(sample, state.host.serverWallMs(sample), state.host.profile);
    const budget = readBudget(signals);
    // Answered it was, whatever bucket it counted to.
    if (budget !== state && state.gate.isProbe(sample.sentAtMs)) this.#reopen(state, sample.endedAtMs);
    const changed = budget.stated.observe(signals.limits, { nowMs: sample.endedAtMs, inFlight: state.inFlight });
    if (signals.refusal !== null && !budget.isOwnFault(signals, sample.url))
      return this.#learnRefusal(budget, sample, signals);
    this.#learnAnswer(budget, sample);
    this.#obeyStated(budget, sample, changed);
    return signals.refusal === null ? 'ok' : 'failed';
  }

  #learnFailure(state: KeyState, sample: Sample): Verdict {
    if (state.gate.isProbe(sample.sentAtMs)) state.gate.probeLost();
    if (sample.failure === null) return 'failed';
    const facts = { sentAtMs: sample.sentAtMs, nowMs: sample.endedAtMs };
    const change = state.host.circuitOf(pathOf(state, sample)).failed(sample.failure, facts);
    if (change !== null) this.#circuitChanged(state, change, sample);
    return 'failed';
  }

  #circuitChanged(state: KeyState, change: NonNullable<CircuitChange>, sample: Sample): void {
    const { host } = state;
    const circuit = host.circuitOf(pathOf(state, sample));
    host.refreshCircuit();
    const waitMs = circuit.openUntilMs - sample.endedAtMs;
    const failing = `${host.host}: ${describeFailure(circuit.lastFailure)}`;
    const { kind, reason } = {
      opened: {
        kind: 'circuit-opened' as const,
        reason: `${host.host}: ${circuitReason(circuit)}; one request is tried in ${formatSeconds(waitMs)}`,
      },
      dead: { kind: 'circuit-closed' as const, reason: `${failing}, and it never answered: its requests fail` },
      closed: { kind: 'circuit-closed' as const, reason: `${host.host}: ${sample.origin} answers again` },
    }[change];
    this.#emit({ kind, host: host.host, reason, facts: { origin: sample.origin } });
  }

  #learnAnswer(state: KeyState, sample: Sample): void {
    const { sentAtMs, endedAtMs: nowMs, overloaded } = sample;
    if (state.gate.isProbe(sentAtMs)) this.#reopen(state, nowMs);
    if (state.faults.answered()) state.control.faultStoodAlone(nowMs);
    // A small static file comes faster than any answer: beside it they all would seem slow.
    if (sample.isAside) return;
    state.control.accepted({ sentAtMs, nowMs, inFlight: state.inFlight }, overloaded);
  }

  #reopen(state: KeyState, nowMs: number): void {
    state.gate.open();
    state.backoffMs = 0;
    if (state.control.reopened(nowMs)) state.faults.takeAsUsual();
    const { cap, requestsPerSecond } = state.control;
    const pace = requestsPerSecond === null ? '' : ` at ${formatRate(requestsPerSecond)}`;
    const reason = `${state.key}: the lone request was answered; going on${pace}, at most ${cap} in flight`;
    this.#emit({ kind: 'resumed', host: state.host.host, reason, facts: { requestsPerSecond, concurrency: cap } });
  }

  /** Paces by what the server states; waits where it says that nothing is left. */
  #obeyStated(state: KeyState, sample: Sample, changed: boolean): void {
    const { stated } = state;
    const { endedAtMs: nowMs } = sample;
    state.control.setStated(stated);
    if (changed) this.#explainStated(state);
    const waitMs = stated.blockedUntilMs - nowMs;
    if (waitMs <= 0 || !state.gate.isOpen) return;
    this.#giveUpIfTooLong(state, waitMs);
    this.#park(state, sample, { toldMs: waitMs, reason: 'nothing is left of the limit' });
  }

  #explainStated(state: KeyState): void {
    const { limitRps, requestsPerSecond } = state.stated;
    if (limitRps === null) return;
    const pace =
      requestsPerSecond === null
        ? 'plenty is left, so it does not bind yet'
        : `going at ${formatRate(requestsPerSecond)}`;
    const reason = `${state.key}: the server states a limit of ${formatRate(limitRps)}; ${pace}`;
    this.#emit({ kind: 'limit-changed', host: state.host.host, reason, facts: { limitRps, requestsPerSecond } });
  }

  #learnRefusal(state: KeyState, sample: Sample, signals: Signals): Verdict {
    const { refusal, retryAfterMs } = signals;
    const toldMs = retryAfterMs ?? this.#waitByReset(state, sample);
    const wasLimited = state.control.limitRps !== null || !state.gate.isOpen;
    const isNew = !state.gate.isProbe(sample.sentAtMs) && sample.sentAtMs >= state.cutAtMs;
    const isLone = isNew && refusal?.kind === 'overload' && state.faults.refused(state.control);
    // A server that fails now and then: its requests are retried, and nobody is slowed down for it.
    if (isLone && toldMs === null) return 'failed';
    state.rateLimited += 1;
    const wait: Wait = { toldMs, reason: refusal?.reason ?? '' };
    if (state.gate.isProbe(sample.sentAtMs)) this.#probeRefused(state, sample, wait);
    else if (sample.sentAtMs < state.cutAtMs) this.#refusedLate(state, sample, wait);
    else this.#cut(state, sample, { wait, signals, isLone });
    this.#giveUpIfPointless(state, signals, toldMs);
    return refusal?.kind !== 'overload' || toldMs !== null || wasLimited ? 'limited' : 'failed';
  }

  /** Without Retry-After, the reset of a spent limit is the wait. */
  #waitByReset(state: KeyState, sample: Sample): number | null {
    const waitMs = state.stated.blockedUntilMs - sample.endedAtMs;
    return waitMs > 0 ? waitMs : null;
  }

  #giveUpIfPointless(state: KeyState, { refusal }: Signals, toldMs: number | null): void {
    if (refusal?.kind === 'quota') this.giveUp(state, `its quota is used up (${refusal.reason})`);
    if (toldMs !== null) this.#giveUpIfTooLong(state, toldMs);
  }

  #giveUpIfTooLong(state: KeyState, toldMs: number): void {
    const mostMs = state.host.policy.maxServerWaitSecs * SECOND_MS;
    if (toldMs > mostMs) this.giveUp(state, `it asks for a wait of ${formatSeconds(toldMs)}`);
  }

  /** @param facts.isLone the server asks for a wait, but not because of the rate */
  #cut(state: KeyState, sample: Sample, facts: { wait: Wait; signals: Signals; isLone: boolean }): void {
    const { wait, signals, isLone } = facts;
    const { sentAtMs, endedAtMs: nowMs } = sample;
    const wasTrusted = state.stated.isTrusted;
    const isExplained = state.stated.refused(signals.limits, { nowMs, inFlight: state.inFlight });
    if (wasTrusted && !state.stated.isTrusted) this.#explainDistrust(state);
    state.control.setStated(state.stated);
    state.cutAtMs = nowMs;
    const isExcused = isExplained || isLone;
    state.control.refused(
      { sentAtMs, nowMs, inFlight: state.inFlight, sentWith: state.sentWith.at(sentAtMs) },
      {
        isExcused,
        isOverload: signals.refusal?.kind === 'overload',
      },
    );
    state.backoffMs = state.leastWaitMs;
    this.#park(state, sample, { ...wait, ownMs: wait.toldMs === null ? state.leastWaitMs : 0 });
  }

  /** Another worker that sends at the same rate was refused: it might have been this one. */
  refusedElsewhere(state: KeyState, { nowMs, waitMs }: { nowMs: number; waitMs: number }): void {
    const sentAtMs = nowMs - state.control.latency.meanMs;
    const wasUntilMs = state.gate.isOpen ? 0 : state.gate.untilMs;
    if (wasUntilMs > nowMs) return;
    state.cutAtMs = nowMs;
    const isOverload = false;
    const { inFlight } = state;
    state.control.refused({ sentAtMs, nowMs, inFlight, sentWith: null }, { isExcused: false, isOverload });
    state.backoffMs = state.leastWaitMs;
    const reason = 'another worker was refused';
    state.gate.park({ nowMs, waitMs, jitterMs: 0, source: 'server', reason });
    const text = `${state.key}: ${reason}; nothing is sent for ${formatSeconds(waitMs)}`;
    this.#emit({ kind: 'parked', host: state.host.host, reason: text, facts: { waitMs } });
  }

  #explainDistrust(state: KeyState): void {
    const reason = `${state.key}: its headers told of requests left while it refused; they are not believed any more`;
    this.#emit({ kind: 'limit-changed', host: state.host.host, reason });
  }

  #refusedLate(state: KeyState, sample: Sample, wait: Wait): void {
    state.control.refusedLate(sample.sentAtMs);
    if (wait.toldMs !== null) this.#park(state, sample, wait);
  }

  #probeRefused(state: KeyState, sample: Sample, wait: Wait): void {
    state.gate.probeLost();
    state.control.probeRefused(sample.endedAtMs);
    state.backoffMs = Math.min(Math.max(state.backoffMs, state.leastWaitMs) * BACKOFF_GROWTH, LONGEST_BACKOFF_MS);
    this.#park(state, sample, { ...wait, ownMs: state.backoffMs });
  }

  #park(state: KeyState, sample: Sample, { toldMs, ownMs = 0, reason: why }: Wait): void {
    const { endedAtMs: nowMs } = sample;
    const wasUntilMs = state.gate.isOpen ? 0 : state.gate.untilMs;
    const reason = toldMs === null ? why : `${why}, told to wait ${formatSeconds(toldMs)}`;
    if (toldMs !== null) {
      state.control.toldToWait(toldMs);
      state.gate.park({ nowMs, waitMs: toldMs, jitterMs: this.#jitterMs(toldMs), source: 'server', reason });
    }
    if (ownMs > (toldMs ?? 0)) {
      state.gate.park({ nowMs, waitMs: ownMs, jitterMs: this.#jitterMs(ownMs), source: 'own', reason });
    }
    // The refusals of one burst tell the same wait, some ms apart.
    if (state.gate.untilMs <= wasUntilMs + SECOND_MS) return;
    const waitMs = Math.max(toldMs ?? 0, ownMs);
    const text = `${state.key}: ${reason}; nothing is sent for ${formatSeconds(waitMs)}`;
    this.#emit({ kind: 'parked', host: state.host.host, reason: text, facts: { waitMs, status: sample.status } });
  }

  #jitterMs(waitMs: number): number {
    return this.#random() * Math.min(Math.max(JITTER_SHARE * waitMs, LEAST_JITTER_MS), SECOND_MS);
  }

  giveUp(state: KeyState, why: string): void {
    if (state.givenUp !== null) return;
    state.givenUp = why;
    const reason = `${state.key} is given up: ${why}; its requests stay pending`;
    this.#emit({ kind: 'given-up', host: state.host.host, reason });
  }
}

type Wait = { toldMs: number | null; ownMs?: number; reason: string };

/** An origin by one egress: what can be down as a whole. */
function pathOf({ egress }: KeyState, { origin }: Sample): string {
  return egress === '' ? origin : `${origin}#${egress}`;
}
