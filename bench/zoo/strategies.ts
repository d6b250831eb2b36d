import type { CrawlEvent } from '../../src/core/events.ts';
import type { Sample, Verdict } from '../../src/core/sample.ts';
import { createGovernor } from '../../src/governor/create-governor.ts';
import type { HostPolicy } from '../../src/governor/governor.ts';
import type { Strategy } from './simulator.ts';

export type StrategyName = 'millrace' | 'aimd' | 'aws-adaptive' | 'fixed';

export type StrategyOptions = {
  name: StrategyName;
  clock: { nowMs(): number; wallMs(): number };
  random: () => number;
  /** The rate a fixed sender is told, requests per second. */
  trueRps: number;
  onEvent?: (event: CrawlEvent) => void;
};

/** The shipped defaults, with the zoo's ceiling of 50 in flight. */
export const GOVERNED: HostPolicy = {
  maxConcurrency: 50,
  requestsPerSecond: null,
  minDelayMs: 0,
  headroom: 0.8,
  discovery: 'auto',
  limitScope: 'credential',
  stallSecs: 900,
  maxServerWaitSecs: 86_400,
};

export function makeStrategy(options: StrategyOptions): Strategy {
  const { clock, random, onEvent } = options;
  if (options.name === 'aimd') return new Aimd();
  if (options.name === 'aws-adaptive') return new AwsAdaptive(clock.nowMs() / 1000);
  const requestsPerSecond = options.name === 'fixed' ? options.trueRps : null;
  const policyOf = (): HostPolicy => ({ ...GOVERNED, requestsPerSecond });
  return createGovernor({ policyOf, clock, random, ...(onEvent ? { onEvent } : {}) });
}

function isRefused(sample: Sample): boolean {
  return sample.status === 429 || sample.status === 503;
}

function verdictOf(sample: Sample): Verdict {
  if (sample.status === null) return 'failed';
  return isRefused(sample) ? 'limited' : 'ok';
}

/** Retry-After as a client of the day reads it: whole seconds; else a second. */
function waitMs(sample: Sample): number {
  const text = sample.headers['retry-after'];
  return typeof text === 'string' && /^\d+$/.test(text) ? Number(text) * 1000 : 1000;
}

const MOST_IN_FLIGHT = 50;

/** Additive increase, multiplicative decrease of the concurrency, halved once per round trip; waits as told. */
class Aimd implements Strategy {
  #cap = 1;
  #inFlight = 0;
  #blockedUntilMs = 0;
  #cutAtMs = 0;

  tryAcquire(_key: string, nowMs: number): number {
    if (nowMs < this.#blockedUntilMs) return this.#blockedUntilMs;
    if (this.#inFlight >= Math.floor(this.#cap)) return Number.POSITIVE_INFINITY;
    this.#inFlight += 1;
    return 0;
  }

  finish(sample: Sample): Verdict {
    this.#inFlight -= 1;
    if (isRefused(sample)) {
      this.#blockedUntilMs = Math.max(this.#blockedUntilMs, sample.endedAtMs + waitMs(sample));
      if (sample.sentAtMs >= this.#cutAtMs) {
        this.#cap = Math.max(1, this.#cap * 0.5);
        this.#cutAtMs = sample.endedAtMs;
      }
    } else if (sample.status !== null) this.#cap = Math.min(MOST_IN_FLIGHT, this.#cap + 1 / this.#cap);
    return verdictOf(sample);
  }
}

const BETA = 0.7;
const SCALE = 0.4;
const SMOOTHING = 0.8;
const LEAST_FILL = 0.5;

/** The rate limiter of AWS SDKs in adaptive mode: off until the first refusal, then a cubic in time (botocore's equations). */
class AwsAdaptive implements Strategy {
  #isOn = false;
  #inFlight = 0;
  #capacity = 1;
  #tokens = 0;
  #fillRate = LEAST_FILL;
  #filledAtSecs = 0;
  #measured = 0;
  #bucketSecs: number;
  #count = 0;
  #lastMax = 0;
  #throttledAtSecs = 0;

  constructor(nowSecs: number) {
    this.#bucketSecs = Math.floor(nowSecs * 2) / 2;
  }

  tryAcquire(_key: string, nowMs: number): number {
    if (this.#inFlight >= MOST_IN_FLIGHT) return Number.POSITIVE_INFINITY;
    if (this.#isOn) {
      this.#refill(nowMs / 1000);
      if (this.#tokens < 1) return nowMs + Math.max(1, ((1 - this.#tokens) / this.#fillRate) * 1000);
      this.#tokens -= 1;
    }
    this.#inFlight += 1;
    return 0;
  }

  finish(sample: Sample): Verdict {
    this.#inFlight -= 1;
    const nowSecs = sample.endedAtMs / 1000;
    this.#measure(nowSecs);
    const rate = isRefused(sample) ? this.#throttled(nowSecs) : this.#cubic(nowSecs);
    if (this.#isOn) this.#setRate(Math.min(rate, 2 * this.#measured), nowSecs);
    return verdictOf(sample);
  }

  #throttled(nowSecs: number): number {
    this.#lastMax = this.#isOn ? Math.min(this.#measured, this.#fillRate) : this.#measured;
    this.#throttledAtSecs = nowSecs;
    this.#isOn = true;
    return this.#lastMax * BETA;
  }

  #cubic(nowSecs: number): number {
    const k = Math.cbrt((this.#lastMax * (1 - BETA)) / SCALE);
    return SCALE * (nowSecs - this.#throttledAtSecs - k) ** 3 + this.#lastMax;
  }

  #measure(nowSecs: number): void {
    this.#count += 1;
    const bucketSecs = Math.floor(nowSecs * 2) / 2;
    if (bucketSecs <= this.#bucketSecs) return;
    this.#measured = SMOOTHING * (this.#count / (bucketSecs - this.#bucketSecs)) + (1 - SMOOTHING) * this.#measured;
    this.#count = 0;
    this.#bucketSecs = bucketSecs;
  }

  #setRate(rate: number, nowSecs: number): void {
    this.#refill(nowSecs);
    this.#fillRate = Math.max(rate, LEAST_FILL);
    this.#capacity = Math.max(rate, 1);
    this.#tokens = Math.min(this.#tokens, this.#capacity);
  }

  #refill(nowSecs: number): void {
    if (this.#filledAtSecs > 0) {
      this.#tokens = Math.min(this.#capacity, this.#tokens + (nowSecs - this.#filledAtSecs) * this.#fillRate);
    }
    this.#filledAtSecs = nowSecs;
  }
}
