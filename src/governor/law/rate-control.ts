import { Pacer } from '../pacer.ts';
import { formatRate } from '../words.ts';
import { Climb } from './climb.ts';
import { cutAfter } from './cut.ts';
import { Goodput } from './goodput.ts';
import { Latency } from './latency.ts';
import { LevelDoubt, WHY_FORGOTTEN } from './level-doubt.ts';
import { measureAtRefusal } from './measure-refusal.ts';
import { PendingCut } from './pending-cut.ts';
import { SlotBlame } from './slot-blame.ts';
import { Slots } from './slots.ts';
import { capAtKnee, doublingMs, growthPerAnswer, isKnee, startIntervalMs } from './slow-start.ts';
import { hasSlowed } from './slowing.ts';
import type { StatedPace } from './stated-pace.ts';
import { Stretch } from './stretch.ts';
import { Trim } from './trim.ts';

/** How a key's rate is looked for. */
export type RateControlOptions = {
  maxConcurrency: number;
  headroom: number;
  /** false: starts at the ceiling at once. */
  discovers: boolean;
  nowMs: number;
};

/** One answer's times; `inFlight` counts the request itself. */
export type Answer = { sentAtMs: number; nowMs: number; inFlight: number };

/** A refusal; `sentWith` = how many were in flight when it was sent, itself included; null = not known. */
export type Refusal = Answer & { sentWith: number | null };

type Stage = 'alone' | 'growing' | 'open' | 'paced';

// Fewer accepted answers before the first refusal were perhaps only a burst allowance.
const TINY_BURST = 30;
// Who refuses so early, with so few in flight, counts what comes at once rather than what comes in a second.
const FEW_ACCEPTED = 60;
const FEW_IN_FLIGHT = 4;
// Of so many, those that went out while the refusal was on its way must not count for it; of fewer, one is soon too few.
const MANY_IN_FLIGHT = 8;
// Held a tenth or more below the level, a window of a second has room for what a busy machine sends late.
const HEADROOM_BEARS_LATE_MS = 50;
const FLAT_CHECKS = 2;
const FIRST_AFTER_KNEE_MS = 60_000;
const LONGEST_AFTER_KNEE_MS = 600_000;
const LONG_WAIT_MS = 2_000;
const NEAR_SHARE = 0.85;

/** Finds and holds one key's rate and concurrency: every number here follows from samples and time. */
export class RateControl {
  readonly pacer = new Pacer(0);
  #lawIntervalMs = 0;
  #statedIntervalMs = 0;
  #statedBearsLateMs = 0;
  #statedConcurrency = Number.POSITIVE_INFINITY;
  readonly latency = new Latency();
  readonly #goodput = new Goodput();
  readonly #climb: Climb;
  readonly #slots: Slots;
  readonly #headroom: number;
  #stage: Stage;
  #openedAtMs: number;
  #acceptedSinceOpened = 0;
  #checkedAtMs = 0;
  #goodputAtCheck = 0;
  #bestGoodput = 0;
  #boundRps = Number.POSITIVE_INFINITY;
  readonly #trim = new Trim();
  #cut: PendingCut | null = null;
  #explain: string | null = null;
  readonly #slotBlame = new SlotBlame();
  #flatChecks = 0;
  #growAgainAtMs = Number.POSITIVE_INFINITY;
  #growAgainAfterMs = FIRST_AFTER_KNEE_MS;
  readonly #stretch = new Stretch();
  readonly #doubt = new LevelDoubt();

  constructor(options: RateControlOptions) {
    this.#headroom = options.headroom;
    this.#climb = new Climb(options.headroom);
    this.#stage = options.discovers ? 'alone' : 'open';
    this.#slots = new Slots(options.maxConcurrency, options.discovers ? 1 : options.maxConcurrency);
    this.#openedAtMs = options.nowMs;
    this.#goodput.reset(options.nowMs);
  }

  get cap(): number {
    return Math.min(this.#slots.cap, this.#statedConcurrency);
  }

  /** The rate that was refused last, as far as it is known; null while nothing was. */
  get limitRps(): number | null {
    return Number.isFinite(this.#climb.failedRps) ? this.#climb.failedRps : null;
  }

  /** Whether a refusal now would be no surprise: the rate is near the level that failed, or a slot more is tried. */
  get isNearLimit(): boolean {
    if (this.#stage !== 'paced') return false;
    return this.#slots.isTrying || this.#climb.requestsPerSecond >= NEAR_SHARE * this.#climb.failedRps;
  }

  /** Whether it goes towards a level that failed: a refusal on the way would be no great surprise. */
  get isSearching(): boolean {
    return this.#stage === 'paced' && this.#climb.phase === 'search';
  }

  /** The rate it is paced at; null = only slots hold it back. */
  get requestsPerSecond(): number | null {
    const isPaced = this.#stage === 'paced' || this.#statedIntervalMs > 0;
    return isPaced ? 1000 / this.pacer.intervalMs : null;
  }

  /** What the server states binds beside what is found out. null = nothing stated. */
  setStated(stated: Pick<StatedPace, 'requestsPerSecond' | 'concurrency' | 'bearsLateMs'>): void {
    this.#statedBearsLateMs = stated.bearsLateMs;
    this.#statedIntervalMs = stated.requestsPerSecond === null ? 0 : 1000 / stated.requestsPerSecond;
    this.#statedConcurrency = stated.concurrency ?? Number.POSITIVE_INFINITY;
    this.#pace(this.#lawIntervalMs);
  }

  #pace(lawIntervalMs: number): void {
    this.#lawIntervalMs = lawIntervalMs;
    const intervalMs = Math.max(lawIntervalMs, this.#statedIntervalMs);
    if (intervalMs === this.pacer.intervalMs) return;
    this.pacer.setInterval(intervalMs);
    const isStated = this.#statedIntervalMs > lawIntervalMs;
    this.pacer.bear(isStated ? this.#statedBearsLateMs : this.#stage === 'paced' ? HEADROOM_BEARS_LATE_MS : 0);
  }

  /** Something else holds sends to this rate: that no more is answered is not the server's doing. null = nothing does. */
  boundBy(requestsPerSecond: number | null): void {
    this.#boundRps = requestsPerSecond ?? Number.POSITIVE_INFINITY;
    this.#bestGoodput = Math.min(this.#bestGoodput, this.#boundRps);
  }

  /** Another part of the same limit is ours, by so much larger or smaller: the levels and the pace move along. */
  rescale(factor: number): void {
    this.#climb.rescale(factor);
    // Of a smaller part less is answered, and that is not the server's doing.
    this.#bestGoodput *= Math.min(1, factor);
    if (this.#stage === 'paced') this.#pace(1000 / this.#climb.requestsPerSecond);
  }

  /** Another one that shares the limit has found it: goes by that from now on. */
  adopt({ limitRps, requestsPerSecond, nowMs }: { limitRps: number; requestsPerSecond: number; nowMs: number }): void {
    if (this.#stage === 'paced' && limitRps === this.#climb.failedRps) {
      this.#climb.follow(nowMs, requestsPerSecond);
    } else {
      this.#climb.failedAt({ requestsPerSecond: limitRps, surelyRps: limitRps, isFirst: false, isTinyBurst: false });
      this.#climb.start(nowMs, requestsPerSecond, 'hold');
      this.#stretch.start({ cap: this.#slots.cap, latencyMs: this.latency.meanMs });
    }
    this.#stage = 'paced';
    this.#cut = null;
    this.#pace(1000 / requestsPerSecond);
  }

  /** What was decided since the last call, in plain words; null = nothing. */
  takeExplanation(): string | null {
    const text = this.#explain;
    this.#explain = null;
    return text;
  }

  /** Sends wait for the pace, or go as soon as it allows. */
  paceBinds(nowMs: number): void {
    if (this.#stage !== 'paced' || this.#statedIntervalMs > this.#lawIntervalMs) return;
    const servedRps = (): number => this.#goodput.perSecond(nowMs, 1000);
    const changed = this.#climb.advance(nowMs, servedRps);
    this.#pace(1000 / this.#climb.requestsPerSecond);
    if (changed) this.#explain = this.#climb.describe();
    const { requestsPerSecond, failedRps } = this.#climb;
    const isFarAbove = this.#doubt.isRefutedBy(requestsPerSecond, failedRps);
    if (isFarAbove && this.#doubt.isRefutedBy(servedRps(), failedRps)) this.#forgetLevel(nowMs, 'served');
  }

  /** Sends wait for a slot though the pace would allow them. */
  slotsBind(nowMs: number): void {
    if (this.#stage === 'alone' || this.#stage === 'growing' || this.#trim.isOn) return;
    if (this.#stage === 'open' && nowMs >= this.#growAgainAtMs && !this.#slots.isAtCeiling) {
      this.#stage = 'growing';
      this.#flatChecks = 0;
      this.#explain = `${this.#slots.cap} requests in flight were enough for a while: trying more`;
    }
    if (this.#stage === 'paced') {
      const facts = { nowMs, latencyMs: this.latency.meanMs, intervalMs: this.pacer.intervalMs };
      this.#slots.stretch(this.#stretch.capFor(facts));
    }
    this.#slots.tryMore({ nowMs, latencyMs: this.latency.meanMs });
  }

  /** @param isOverloaded our own process was too busy: the answer's time says nothing of the server */
  accepted(answer: Answer, isOverloaded: boolean): void {
    const { nowMs } = answer;
    this.#goodput.add(nowMs);
    this.#acceptedSinceOpened += 1;
    this.#cut?.countTail(answer.sentAtMs, true);
    if (isOverloaded && this.#stage !== 'alone') return;
    this.latency.add(nowMs - answer.sentAtMs);
    this.#stretch.answered(this.latency.meanMs);
    if (this.#stage === 'alone') this.#startGrowing(nowMs);
    else if (this.#stage === 'growing') this.#grow(answer);
    else this.#watchForSlowing(nowMs);
  }

  #startGrowing(nowMs: number): void {
    this.#stage = 'growing';
    this.#slots.set(2, nowMs);
    this.#checkedAtMs = nowMs;
    this.#goodput.reset(nowMs);
    this.#pace(startIntervalMs(this.#slots.exact, this.latency.meanMs));
  }

  #grow({ nowMs, inFlight }: Answer): void {
    // Slots that were not in use have proved nothing.
    if (inFlight >= this.#slots.cap / 2)
      this.#slots.grow(growthPerAnswer(this.#slots.exact, this.latency.meanMs, this.#acceptedSinceOpened));
    this.#pace(startIntervalMs(this.#slots.exact, this.latency.meanMs));
    // Held back by a stated pace, goodput does not grow, and that says nothing of the server.
    const slotsDecide = this.#statedIntervalMs <= this.#lawIntervalMs;
    if (slotsDecide && nowMs - this.#checkedAtMs >= doublingMs(this.latency.meanMs)) this.#lookForKnee(nowMs);
    if (this.#stage === 'growing' && this.#slots.isAtCeiling)
      this.#stopGrowing('the configured concurrency is reached');
  }

  #lookForKnee(nowMs: number): void {
    const goodput = this.#goodput.perSecond(nowMs, Math.min(doublingMs(this.latency.meanMs), 1000));
    this.#bestGoodput = Math.max(this.#bestGoodput, goodput);
    const { meanMs: latencyMs, leastMs: leastLatencyMs } = this.latency;
    const goodputBefore = this.#goodputAtCheck;
    this.#checkedAtMs = nowMs;
    this.#goodputAtCheck = goodput;
    // One flat doubling may be a hiccup, on the way or on our side.
    this.#flatChecks = isKnee({ goodput, goodputBefore, latencyMs, leastLatencyMs }) ? this.#flatChecks + 1 : 0;
    if (this.#flatChecks < FLAT_CHECKS) return;
    this.#slots.set(capAtKnee(goodput, leastLatencyMs), nowMs);
    this.#trim.start(nowMs, this.#slots.cap);
    this.#growAgainAtMs = nowMs + this.#growAgainAfterMs;
    this.#growAgainAfterMs = Math.min(2 * this.#growAgainAfterMs, LONGEST_AFTER_KNEE_MS);
    this.#stopGrowing(`more requests in flight only make the server slower (${Math.round(latencyMs)} ms)`);
  }

  #stopGrowing(why: string): void {
    this.#stage = 'open';
    this.#pace(0);
    this.#explain = `${this.#slots.cap} requests in flight: ${why}`;
  }

  /** Goodput falls and latency rises though nothing more is in flight: the server throttles by delay, or is overloaded. */
  #watchForSlowing(nowMs: number): void {
    if (nowMs - this.#checkedAtMs < 1000) return;
    const goodput = this.#goodput.perSecond(nowMs, 1000);
    const { intervalMs } = this.pacer;
    const paced = intervalMs > 0 ? 1000 / intervalMs : Number.POSITIVE_INFINITY;
    const expected = Math.min(this.#bestGoodput, paced, this.#boundRps);
    const isSlower = hasSlowed({ goodput, expected, latency: this.latency });
    this.#checkedAtMs = nowMs;
    this.#bestGoodput = Math.max(goodput, this.#bestGoodput * 0.99);
    const trimmed = this.#trim.step({ nowMs, goodput, cap: this.#slots.cap });
    if (trimmed !== null) this.#slots.set(trimmed, nowMs);
    if (!isSlower) return;
    const cap = capAtKnee(goodput, this.latency.leastMs);
    if (cap >= this.#slots.cap) return;
    this.#slots.set(cap, nowMs);
    this.#bestGoodput = goodput;
    this.#explain = `${this.#slots.cap} requests in flight: the server got slower (${Math.round(this.latency.meanMs)} ms) at the same load`;
  }

  /**
   * The first refusal of a request sent after the last cut.
   * @param facts.isExcused the stated limits account for it, or a fault: what was found out about the rate stays
   * @param facts.isOverload it may have been a fault all the same
   */
  refused(answer: Refusal, { isExcused, isOverload }: { isExcused: boolean; isOverload: boolean }): void {
    const { nowMs } = answer;
    const measured = measureAtRefusal({
      nowMs,
      inFlight: answer.inFlight,
      openMs: nowMs - this.#openedAtMs,
      paceRps: this.#stage === 'paced' ? this.#climb.requestsPerSecond : null,
      goodput: this.#goodput,
      latencyMs: this.latency.meanMs,
    });
    const sentWith = answer.sentWith ?? answer.inFlight;
    const inFlight = sentWith >= MANY_IN_FLIGHT ? sentWith : measured.inFlight;
    const isInnocent =
      this.#slots.takeBack({ ...answer, inFlight: sentWith }) ||
      isExcused ||
      this.#blameSlots({ goodput: measured.goodput, inFlight }, nowMs);
    this.#cut = new PendingCut({ ...measured, inFlight, isInnocent, isOverload, nowMs, sentAtMs: answer.sentAtMs });
  }

  #blameSlots({ goodput, inFlight }: { goodput: number; inFlight: number }, nowMs: number): boolean {
    const failedRps = this.#stage === 'paced' ? this.#climb.failedRps : null;
    const { cap } = this.#slots;
    if (!this.#slotBlame.refused({ goodput, failedRps, inFlight, cap, latencyMs: this.latency.meanMs })) return false;
    this.#slots.refusedAt(inFlight, nowMs);
    return true;
  }

  /** A fault came that was followed by none: well below the level that failed, that makes the level doubtful. */
  faultStoodAlone(nowMs: number): void {
    if (this.#stage !== 'paced' || this.isNearLimit) return;
    if (this.#doubt.faultBelow(nowMs)) this.#forgetLevel(nowMs, 'faults');
  }

  /** Looks for a limit anew, from the present rate on: as at the start, or gently where one may well be near. */
  #forgetLevel(nowMs: number, why: keyof typeof WHY_FORGOTTEN): void {
    const { requestsPerSecond } = this.#climb;
    const isGentle = this.#doubt.forget(why);
    this.#climb.forget();
    this.#slots.forgetRefusal();
    if (isGentle) this.#climb.start(nowMs, requestsPerSecond, 'probe');
    else this.#growFrom(requestsPerSecond, nowMs);
    this.#explain = WHY_FORGOTTEN[why];
  }

  #growFrom(requestsPerSecond: number, nowMs: number): void {
    this.#stage = 'growing';
    this.#flatChecks = 0;
    this.#slots.set((requestsPerSecond * this.latency.meanMs) / 1000, nowMs);
    this.#checkedAtMs = nowMs;
    this.#pace(startIntervalMs(this.#slots.exact, this.latency.meanMs));
  }

  /** A refusal of a request sent before the cut: no new evidence of the level, but of how far above it we were. */
  refusedLate(sentAtMs: number): void {
    this.#cut?.countTail(sentAtMs, false);
  }

  /** The lone request after the wait was refused too. */
  probeRefused(nowMs: number): void {
    if (this.#cut === null) return;
    this.#cut.isWindow = true;
    this.#cut.lastRefusedAtMs = nowMs;
  }

  /** The server told how long to wait. */
  toldToWait(waitMs: number): void {
    if (this.#cut === null || waitMs <= LONG_WAIT_MS) return;
    this.#cut.isWindow = true;
    this.#cut.lastRefusedAtMs = Math.max(this.#cut.lastRefusedAtMs, this.#cut.facts.nowMs + waitMs);
  }

  /**
   * The lone request after the wait was answered: decides how to go on.
   * @returns whether it seems to fail whatever the rate
   */
  reopened(nowMs: number): boolean {
    const cut = this.#cut;
    // Where nothing was accepted yet there is no rate to learn from.
    const hasServed = this.#stage === 'paced' || this.#acceptedSinceOpened > 0;
    const failsAnyway = cut !== null && !cut.facts.isInnocent && hasServed && this.#settle(cut, nowMs);
    this.#cut = null;
    this.#openedAtMs = nowMs;
    this.#acceptedSinceOpened = 0;
    this.#goodput.reset(nowMs);
    this.#checkedAtMs = nowMs;
    this.pacer.heldByOthers();
    if (failsAnyway) this.#forgetLevel(nowMs, 'faults');
    return failsAnyway;
  }

  /** @returns whether this was one fall too many */
  #settle(cut: PendingCut, nowMs: number): boolean {
    const { goodput, openMs, inFlight, isOverload, nowMs: atMs } = cut.facts;
    const isFirst = this.#stage !== 'paced';
    const tail = cut.tailAccepted + cut.tailRefused;
    const share = tail > 0 ? cut.tailAccepted / tail : 1;
    const decision = cutAfter({
      goodput,
      openMs,
      blockedMs: nowMs - atMs,
      refusedForMs: cut.lastRefusedAtMs - atMs,
      accepted: this.#acceptedSinceOpened,
      acceptedShare: share,
      isFirst,
      isWindow: cut.isWindow,
      headroom: this.#headroom,
    });
    const { failedRps } = decision;
    const isNoLimit = this.#doubt.failedAt({ failedRps, formerRps: this.#climb.failedRps, isOverload });
    const surelyRps = isFirst ? failedRps * share : failedRps;
    const isTinyBurst = isFirst && this.#acceptedSinceOpened < TINY_BURST;
    this.#climb.failedAt({ requestsPerSecond: failedRps, surelyRps, isTinyBurst, isFirst: decision.kind === 'first' });
    if (isFirst) this.#slots.refusedAt(inFlight, nowMs);
    this.#stretch.start({ cap: this.#slots.cap, latencyMs: this.latency.meanMs });
    if (isFirst && this.#acceptedSinceOpened < FEW_ACCEPTED && inFlight <= FEW_IN_FLIGHT) this.pacer.beStrict();
    this.#stage = 'paced';
    this.#climb.start(nowMs, Math.max(decision.requestsPerSecond, LEAST_RPS), decision.next);
    this.#pace(1000 / this.#climb.requestsPerSecond);
    this.#explain = `refused at ${formatRate(failedRps)}: going on at ${formatRate(this.#climb.requestsPerSecond)}`;
    return isNoLimit;
  }
}

// A failed measurement must not stop the key for good.
const LEAST_RPS = 0.05;
