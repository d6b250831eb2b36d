import type { StatedLimit } from '../../governor/signals/stated-limit.ts';
import { fitAtOnce } from './at-once.ts';
import {
  clumpSize,
  type Found,
  foundAtOnce,
  foundByKnee,
  foundByLongWait,
  foundByRefusals,
  foundStated,
  type StatedRate,
  statedRate,
} from './finding.ts';
import { type Arrival, arrivalsOf, type Observation } from './observations.ts';
import type { RampResult } from './ramp-report.ts';
import { RateBracket } from './rate-bracket.ts';
import { RampWatch } from './watch.ts';

export type RampPlanOptions = {
  /** Never faster than this, requests/s. */
  maxRate: number;
  nowMs: number;
};

/** How one request ended. */
export type RampAnswer = {
  nowMs: number;
  /** null when no answer came. */
  status: number | null;
  /** The server asked for less. */
  isRefused: boolean;
  /** What it asks to wait, ms. */
  retryAfterMs: number | null;
  limits: readonly StatedLimit[];
};

const START_RPS = 1;
/** Growth of the rate, per second: 50/s are reached after 80 s. */
const GROWTH = 0.05;
/** So long the greatest rate is held, to see a burst used up. */
const HOLD_MS = 10_000;
/** Without a word from the server: the first pause after a refusal. It doubles while refusals go on. */
const PAUSE_MS = 1_000;
// Nobody waits longer for a window to end.
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_TOLD_MS = 120_000;
const MOST_EVENTS = 14;
const MOST_TRIALS = 7;
// A limit is found when it is known to a tenth either way.
const SURE_RATIO = 1.2;
/** Long enough for what is in hand after a pause not to matter, and for two windows of 10 s. */
const TRIAL_MS = 20_000;
const HEADROOM = 0.8;
// A limiter that punishes pushing must not mind it.
const LARGEST_CLUMP = 30;
const VERIFY_MS = 5_000;
const LATE_MS = 10;
const STRICT_RPS = 50;
// Close to a stated limit there is nothing left to find out.
const STATED_SHARE = 0.9;
const MOST_FAILURES_IN_A_ROW = 3;
const MOST_IN_FLIGHT = 1_000;
/** At most so many seconds' worth of the greatest rate. */
const BUDGET_SECS = 90;

/** @returns the most requests a ramp sends */
export function mostRequests(maxRate: number): number {
  return Math.ceil(maxRate * BUDGET_SECS);
}

type Pace = { rate: (nowMs: number) => number; untilMs: number };
type Phase =
  | ({ kind: 'ramp' | 'trial' | 'verify' } & Pace)
  | { kind: 'clump'; left: number }
  | { kind: 'drain' }
  | { kind: 'pause'; untilMs: number }
  | { kind: 'try'; isSent: boolean }
  | { kind: 'done' };

/**
 * Decides when a ramp sends, and what its answers mean; it never waits, never sends. The rate grows slowly until the
 * first refusal, or until answers get slow. Then a few short trials, each ended by its first refusal, tell a rate from a
 * window from a limit of requests at once, and how high it is.
 */
export class RampPlan {
  readonly #maxRate: number;
  readonly #startedMs: number;
  readonly #watch: RampWatch;
  readonly #observations: Observation[] = [];
  readonly #inFlight = new Map<number, number>();
  #phase: Phase;
  #nextMs: number;
  #roundTripMs = 0;
  #requests = 0;
  #refused = 0;
  #events = 0;
  #failuresInRow = 0;
  #fastestRps = START_RPS;
  #pauseMs = PAUSE_MS;
  #toldUntilMs = Number.NEGATIVE_INFINITY;
  #trials = 0;
  /** Whether a handful at once was tried, and refused in part. */
  #clump: { isRefused: boolean } | null = null;
  #bracket: RateBracket | null = null;
  #found: Found | null = null;
  /** The longest time from a refusal to the next that was let in, ms. */
  #longestShutMs = 0;
  #shutSinceMs: number | null = null;
  #shownBy: RampResult['shownBy'] = null;
  #isVerified: boolean | null = null;
  #reason = '';

  constructor({ maxRate, nowMs }: RampPlanOptions) {
    this.#maxRate = maxRate;
    this.#startedMs = nowMs;
    this.#nextMs = nowMs;
    this.#watch = new RampWatch(nowMs);
    const rampMs = Math.max(0, (Math.log(maxRate / START_RPS) / GROWTH) * 1_000);
    const startRps = Math.min(START_RPS, maxRate);
    this.#phase = {
      kind: 'ramp',
      rate: (atMs) => Math.min(maxRate, startRps * Math.exp((GROWTH * (atMs - nowMs)) / 1_000)),
      untilMs: nowMs + rampMs + HOLD_MS,
    };
  }

  get isDone(): boolean {
    return this.#phase.kind === 'done';
  }

  /** What it is doing, for who watches. */
  get phase(): string {
    return this.#phase.kind;
  }

  /** The least time to connect: so the server's view can be told from ours. */
  setRoundTrip(roundTripMs: number): void {
    this.#roundTripMs = roundTripMs;
  }

  /** @returns when the next request is due; Infinity while only an answer can help */
  nextSendMs(nowMs: number): number {
    this.#endPhases(nowMs);
    const phase = this.#phase;
    if (this.#inFlight.size >= MOST_IN_FLIGHT) return Number.POSITIVE_INFINITY;
    if (phase.kind === 'drain' || phase.kind === 'done') return Number.POSITIVE_INFINITY;
    if (phase.kind === 'pause') return phase.untilMs;
    if (phase.kind === 'try') return phase.isSent ? Number.POSITIVE_INFINITY : nowMs;
    if (phase.kind === 'clump') return phase.left > 0 ? nowMs : Number.POSITIVE_INFINITY;
    return this.#nextMs;
  }

  /** @returns the request's number, to be given back with its answer */
  sent(nowMs: number): number {
    const phase = this.#phase;
    if (phase.kind === 'clump') phase.left -= 1;
    else if (phase.kind === 'try') phase.isSent = true;
    else if ('rate' in phase) this.#advance(phase, nowMs);
    this.#requests += 1;
    this.#watch.sent(nowMs);
    this.#inFlight.set(this.#requests, nowMs);
    return this.#requests;
  }

  answered(request: number, answer: RampAnswer): void {
    const { nowMs, status, isRefused } = answer;
    const sentMs = this.#inFlight.get(request) ?? nowMs;
    this.#inFlight.delete(request);
    this.#failuresInRow = status === null || (status >= 400 && !isRefused) ? this.#failuresInRow + 1 : 0;
    if (this.#failuresInRow >= MOST_FAILURES_IN_A_ROW)
      this.#end(`it answers ${status ?? 'nothing'}: there is nothing to measure`);
    if (status === null || this.isDone) return;
    this.#observations.push({ sentMs, endedMs: nowMs, isAccepted: !isRefused });
    this.#watch.answered({ sentMs, endedMs: nowMs, isAccepted: !isRefused });
    if (isRefused) this.#onRefusal(answer, sentMs);
    else this.#onAccepted(answer, sentMs);
  }

  /** Ends it: the user, or an error, wants no more. */
  stop(reason: string): void {
    this.#end(reason);
  }

  result(): RampResult {
    const found = this.#found;
    return {
      kind: found?.kind ?? 'none found',
      shownBy: this.#shownBy,
      limitRps: found?.limitRps ?? null,
      rangeRps: found?.rangeRps ?? null,
      concurrency: found?.concurrency ?? null,
      windowMs: found?.windowMs ?? null,
      reason: this.#reason,
      isVerified: this.#isVerified,
      requests: this.#requests,
      refused: this.#refused,
      fastestRps: this.#fastestRps,
      baseLatencyMs: this.#watch.baseLatencyMs,
      points: this.#watch.points(),
    };
  }

  #advance(phase: Pace, nowMs: number): void {
    const rate = phase.rate(nowMs);
    this.#fastestRps = Math.max(this.#fastestRps, rate);
    // At a high rate a late timer keeps the schedule; at a low one two sends never come closer than they should.
    const creditMs = rate > STRICT_RPS ? LATE_MS : 0;
    this.#nextMs = Math.max(this.#nextMs, nowMs - creditMs) + 1_000 / rate;
  }

  #endPhases(nowMs: number): void {
    const phase = this.#phase;
    if (phase.kind === 'done') return;
    if (this.#requests >= mostRequests(this.#maxRate)) this.#outOfBudget();
    else if ('rate' in phase && nowMs >= phase.untilMs) this.#onQuietEnd(phase.kind, nowMs);
    else if (phase.kind === 'pause' && nowMs >= phase.untilMs) this.#phase = { kind: 'try', isSent: false };
    else if (phase.kind === 'clump' && phase.left === 0 && this.#inFlight.size === 0) this.#decide(nowMs);
    else if (phase.kind === 'drain' && this.#inFlight.size === 0) this.#afterDrain(nowMs);
  }

  /** A pace was held to its end, and nothing was refused. */
  #onQuietEnd(kind: 'ramp' | 'trial' | 'verify', nowMs: number): void {
    if (kind === 'ramp') this.#end(`nothing was refused, up to ${round(this.#maxRate)}/s`);
    else if (kind === 'trial') {
      this.#bracket?.held(nowMs);
      this.#decide(nowMs);
    } else {
      this.#isVerified = true;
      this.#settle('the limit was found, and 80 % of it were tried');
    }
  }

  #onAccepted({ nowMs, limits }: RampAnswer, sentMs: number): void {
    const phase = this.#phase;
    this.#bracket?.accepted();
    if (this.#shutSinceMs !== null && phase.kind !== 'drain') {
      this.#longestShutMs = Math.max(this.#longestShutMs, sentMs - this.#shutSinceMs);
      this.#shutSinceMs = null;
    }
    if (phase.kind === 'try') {
      this.#pauseMs = PAUSE_MS;
      this.#decide(nowMs);
    } else if (phase.kind === 'ramp') {
      const stated = statedRate(limits);
      if (stated !== null && phase.rate(nowMs) >= stated.limitRps * STATED_SHARE) this.#endStated(stated);
      else if (this.#watch.isSlow(nowMs)) this.#onKnee(nowMs);
    }
  }

  #onRefusal({ nowMs, retryAfterMs, limits }: RampAnswer, sentMs: number): void {
    this.#refused += 1;
    this.#shutSinceMs ??= sentMs;
    if (retryAfterMs !== null) this.#toldUntilMs = Math.max(this.#toldUntilMs, nowMs + retryAfterMs);
    const stated = statedRate(limits);
    if (stated !== null) this.#endStated(stated);
    const phase = this.#phase;
    if (phase.kind === 'drain' || phase.kind === 'done' || phase.kind === 'pause') return;
    this.#events += 1;
    this.#shownBy = 'refusals';
    const rate = 'rate' in phase ? phase.rate(sentMs) : null;
    if (this.#bracket === null) this.#bracket = new RateBracket({ rate: rate ?? this.#fastestRps, atMs: sentMs });
    else this.#bracket.refused({ rate, atMs: sentMs });
    if (phase.kind === 'try') this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    if (phase.kind === 'clump' && this.#clump !== null) this.#clump.isRefused = true;
    if (phase.kind === 'verify') this.#isVerified = false;
    this.#phase = { kind: 'drain' };
  }

  /** All answers of a burst of refusals are there. */
  #afterDrain(nowMs: number): void {
    if (this.#shownBy === 'slowness') this.#end('answers became slow: the server queues what comes faster');
    else if (this.#events >= MOST_EVENTS) this.#settle('it refused too often to look closer');
    else if (this.#toldUntilMs - nowMs > LONGEST_TOLD_MS) this.#endLongWait(nowMs);
    else this.#phase = { kind: 'pause', untilMs: Math.max(nowMs + this.#pauseMs, this.#toldUntilMs) };
  }

  /** Requests are let in again, or a trial was quiet: what to find out next. */
  #decide(nowMs: number): void {
    if (this.#clump === null && this.#mayBeAtOnce()) {
      this.#startClump();
      return;
    }
    const bracket = this.#bracket as RateBracket;
    if (this.#clump?.isRefused && fitAtOnce(this.#arrivals()).misses === 0)
      this.#settle('a limit of requests at once was found');
    else if (this.#events >= MOST_EVENTS) this.#settle('it refused too often to look closer');
    else if (bracket.ratio > SURE_RATIO && this.#trials < MOST_TRIALS) {
      this.#trials += 1;
      this.#startPace('trial', { rate: bracket.middle, durationMs: TRIAL_MS, nowMs });
    } else if (this.#isVerified === false) this.#settle('even 80 % of what was found were refused once');
    else this.#startPace('verify', { rate: bracket.middle * HEADROOM, durationMs: VERIFY_MS, nowMs });
  }

  /** Not where requests were refused while fewer were there than before, nor where a test would be rough. */
  #mayBeAtOnce(): boolean {
    const arrivals = this.#arrivals();
    const { concurrency, misses } = fitAtOnce(arrivals);
    return misses === 0 && clumpSize(concurrency) <= LARGEST_CLUMP;
  }

  /** A handful at once, so that a limit of requests at once shows though the rate is low. */
  #startClump(): void {
    this.#clump = { isRefused: false };
    this.#phase = { kind: 'clump', left: clumpSize(fitAtOnce(this.#arrivals()).concurrency) };
  }

  #startPace(
    kind: 'trial' | 'verify',
    { rate, durationMs, nowMs }: { rate: number; durationMs: number; nowMs: number },
  ): void {
    this.#nextMs = nowMs + 1_000 / rate;
    this.#phase = { kind, rate: () => rate, untilMs: nowMs + durationMs };
  }

  /** While answers queue at the server they come at the rate it can do. */
  #onKnee(nowMs: number): void {
    this.#shownBy = 'slowness';
    this.#found = foundByKnee(this.#watch.goodput(nowMs));
    this.#phase = { kind: 'drain' };
  }

  #endStated(stated: StatedRate): void {
    this.#shownBy = 'headers';
    this.#found = foundStated(stated);
    this.#end('the server states its limit, so it was not tried');
  }

  /** Told to wait for very long: what was let through must last that long. */
  #endLongWait(nowMs: number): void {
    const accepted = this.#observations.filter(({ isAccepted }) => isAccepted).length;
    const waitMs = this.#toldUntilMs - nowMs;
    this.#found = foundByLongWait({ accepted, waitMs, windowMs: this.#toldUntilMs - this.#startedMs });
    this.#end(`after ${accepted} requests it asked for a pause of ${Math.round(waitMs / 1_000)} s`);
  }

  #outOfBudget(): void {
    if (this.#shownBy === null) this.#end(`nothing was refused in ${this.#requests} requests`);
    else this.#settle('all requests it may send were sent');
  }

  /** Makes a finding of what is known by now. */
  #settle(reason: string): void {
    const atOnce = fitAtOnce(this.#arrivals());
    if (this.#clump?.isRefused && atOnce.misses === 0) this.#found = foundAtOnce(atOnce.concurrency);
    else if (this.#bracket !== null) this.#found = foundByRefusals(this.#bracket, this.#longestShutMs);
    this.#end(reason);
  }

  #arrivals(): Arrival[] {
    return arrivalsOf(this.#observations, this.#roundTripMs);
  }

  #end(reason: string): void {
    if (this.#phase.kind === 'done') return;
    this.#reason = reason;
    this.#phase = { kind: 'done' };
  }
}

function round(rate: number): number {
  return Number(rate.toPrecision(3));
}
