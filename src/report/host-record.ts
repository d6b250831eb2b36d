import { Histogram, type HistogramState } from '../core/histogram.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import { PHASES, type Timings } from '../core/timings.ts';

/** One attempt, as the crawl reports it when its response (or its failure) is there. */
export type Attempt = {
  /** `URL.host`. */
  host: string;
  /** null when no response came. */
  status: number | null;
  /** Code of the failure below HTTP, TIMEOUT_CONNECT for example; null when a response came. */
  failure: string | null;
  /** The phases known so far; those of handling follow through `time`. */
  timings: Readonly<Timings>;
  /** Sent on a connection that was there already. */
  reused: boolean;
  httpVersion: '1.1' | '2' | null;
  /** The server asked for less (the governor's verdict): its latency says nothing about the work. */
  limited: boolean;
};

/** The least of what a host's governor keys say, added up over the keys. */
export type HostLimits = {
  inFlight: number;
  concurrency: number;
  limitRps: number | null;
  limitSource: KeySnapshot['limitSource'];
  parkedUntilMs: number | null;
  givenUp: string | null;
  rateLimited: number;
};

export type HostRecordState = {
  attempts: number;
  limited: number;
  succeeded: number;
  failed: number;
  skipped: number;
  retries: number;
  /** By phase, in the order of PHASES. */
  timeMs: number[];
  statuses: Record<string, number>;
  networkFailures: Record<string, number>;
  reused: number;
  http2: number;
  http1: number;
  leastConnectMs: number | null;
  workMs: number;
  limits: HostLimits | null;
  latency: HistogramState;
  reusedBase: HistogramState;
  freshBase: HistogramState;
  /** First byte + download of the first answers, ms: before the crawl's own load could slow the host. */
  earlyMs?: number[];
};

const MOST_EARLY = 3;

/** What is known of one host: counters and histograms of fixed size. */
export class HostRecord {
  attempts = 0;
  limited = 0;
  succeeded = 0;
  failed = 0;
  skipped = 0;
  retries = 0;
  reused = 0;
  http2 = 0;
  http1 = 0;
  /** Least connect time seen, ms: an estimate of the round trip. */
  leastConnectMs = Number.POSITIVE_INFINITY;
  /** Time in which it had something to do, ms. */
  workMs = 0;
  /** Work since the last tick, so that a host too fast to be caught at work still counts. */
  activeSinceTick = false;
  limits: HostLimits | null = null;
  /** By phase, in the order of PHASES. */
  readonly timeMs = new Float64Array(PHASES.length);
  readonly statuses = new Map<number, number>();
  readonly networkFailures = new Map<string, number>();
  /** Time on the wire of answers that were not rejections. */
  readonly latency: Histogram;
  /** First byte + download, of the same, on connections that were there already. */
  readonly reusedBase: Histogram;
  /** The same on new connections: stands in where a server keeps none. */
  readonly freshBase: Histogram;
  earlyMs: number[] = [];

  constructor(histograms?: { latency: Histogram; reusedBase: Histogram; freshBase: Histogram }) {
    this.latency = histograms?.latency ?? new Histogram();
    this.reusedBase = histograms?.reusedBase ?? new Histogram();
    this.freshBase = histograms?.freshBase ?? new Histogram();
  }

  add(attempt: Attempt): void {
    const { timings } = attempt;
    this.attempts++;
    this.activeSinceTick = true;
    this.#addTimings(timings);
    if (attempt.reused) this.reused++;
    else if (timings.connect > 0 && timings.connect < this.leastConnectMs) this.leastConnectMs = timings.connect;
    if (attempt.httpVersion === '2') this.http2++;
    else if (attempt.httpVersion === '1.1') this.http1++;
    if (attempt.limited) this.limited++;
    if (attempt.status === null) increment(this.networkFailures, attempt.failure ?? 'UNKNOWN');
    else {
      increment(this.statuses, attempt.status);
      if (isAnswer(attempt)) this.#addLatency(attempt);
    }
  }

  /** Takes over what another record of the same host, or one folded into this, holds. */
  merge(other: HostRecord): void {
    this.attempts += other.attempts;
    this.limited += other.limited;
    this.succeeded += other.succeeded;
    this.failed += other.failed;
    this.skipped += other.skipped;
    this.retries += other.retries;
    this.reused += other.reused;
    this.http2 += other.http2;
    this.http1 += other.http1;
    this.leastConnectMs = Math.min(this.leastConnectMs, other.leastConnectMs);
    this.workMs = Math.max(this.workMs, other.workMs);
    for (const [index, ms] of other.timeMs.entries()) this.timeMs[index] = (this.timeMs[index] as number) + ms;
    for (const [status, count] of other.statuses) increment(this.statuses, status, count);
    for (const [code, count] of other.networkFailures) increment(this.networkFailures, code, count);
    this.latency.merge(other.latency);
    this.reusedBase.merge(other.reusedBase);
    this.freshBase.merge(other.freshBase);
    if (this.earlyMs.length === 0) this.earlyMs = other.earlyMs;
  }

  toState(): HostRecordState {
    return {
      attempts: this.attempts,
      limited: this.limited,
      succeeded: this.succeeded,
      failed: this.failed,
      skipped: this.skipped,
      retries: this.retries,
      reused: this.reused,
      http2: this.http2,
      http1: this.http1,
      leastConnectMs: Number.isFinite(this.leastConnectMs) ? this.leastConnectMs : null,
      workMs: this.workMs,
      limits: this.limits,
      timeMs: [...this.timeMs],
      statuses: Object.fromEntries(this.statuses),
      networkFailures: Object.fromEntries(this.networkFailures),
      latency: this.latency.toState(),
      reusedBase: this.reusedBase.toState(),
      freshBase: this.freshBase.toState(),
      earlyMs: [...this.earlyMs],
    };
  }

  static fromState(state: HostRecordState): HostRecord {
    const record = new HostRecord({
      latency: Histogram.fromState(state.latency),
      reusedBase: Histogram.fromState(state.reusedBase),
      freshBase: Histogram.fromState(state.freshBase),
    });
    record.attempts = state.attempts;
    record.limited = state.limited;
    record.succeeded = state.succeeded;
    record.failed = state.failed;
    record.skipped = state.skipped;
    record.retries = state.retries;
    record.reused = state.reused;
    record.http2 = state.http2;
    record.http1 = state.http1;
    record.leastConnectMs = state.leastConnectMs ?? Number.POSITIVE_INFINITY;
    record.workMs = state.workMs;
    record.limits = state.limits;
    record.timeMs.set(state.timeMs);
    record.earlyMs = [...(state.earlyMs ?? [])];
    for (const [status, count] of Object.entries(state.statuses)) record.statuses.set(Number(status), count);
    for (const [code, count] of Object.entries(state.networkFailures)) record.networkFailures.set(code, count);
    return record;
  }

  // Spelled out: this runs for every attempt, and a loop over names costs three times as much.
  #addTimings(timings: Readonly<Timings>): void {
    const sums = this.timeMs;
    sums[0] = (sums[0] as number) + timings.politeness;
    sums[1] = (sums[1] as number) + timings.queue;
    sums[2] = (sums[2] as number) + timings.dns;
    sums[3] = (sums[3] as number) + timings.connect;
    sums[4] = (sums[4] as number) + timings.tls;
    sums[5] = (sums[5] as number) + timings.firstByte;
    sums[6] = (sums[6] as number) + timings.download;
    sums[7] = (sums[7] as number) + timings.parse;
    sums[8] = (sums[8] as number) + timings.handler;
    sums[9] = (sums[9] as number) + timings.commit;
  }

  #addLatency({ timings, reused }: Attempt): void {
    const base = timings.firstByte + timings.download;
    this.latency.record(wireMs(timings));
    (reused ? this.reusedBase : this.freshBase).record(base);
    if (this.earlyMs.length < MOST_EARLY) this.earlyMs.push(base);
  }
}

/** @returns whether the server did its work for it: rejections and server errors say nothing about latency. */
export function isAnswer({ status, limited }: Pick<Attempt, 'status' | 'limited'>): boolean {
  return status !== null && status < 500 && !limited;
}

/** @returns ms from the look-up of the name to the last byte */
export function wireMs(timings: Readonly<Timings>): number {
  return timings.dns + timings.connect + timings.tls + timings.firstByte + timings.download;
}

/** Adds to a count in a map. */
export function increment<Key>(counts: Map<Key, number>, key: Key, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** @returns snapshots added up by host: budgets of several credentials add up; one without a limit lifts it. */
export function limitsByHost(snapshots: readonly KeySnapshot[]): Map<string, HostLimits> {
  const byHost = new Map<string, HostLimits>();
  for (const snapshot of snapshots) {
    const limits = byHost.get(snapshot.host);
    byHost.set(snapshot.host, limits === undefined ? limitsOf(snapshot) : addLimits(limits, limitsOf(snapshot)));
  }
  return byHost;
}

function limitsOf(snapshot: KeySnapshot): HostLimits {
  const { inFlight, concurrency, limitRps, limitSource, parkedUntilMs, givenUp, rateLimited } = snapshot;
  return { inFlight, concurrency, limitRps, limitSource, parkedUntilMs, givenUp, rateLimited };
}

function addLimits(left: HostLimits, right: HostLimits): HostLimits {
  const bothLimited = left.limitRps !== null && right.limitRps !== null;
  return {
    inFlight: left.inFlight + right.inFlight,
    concurrency: left.concurrency + right.concurrency,
    limitRps: bothLimited ? (left.limitRps as number) + (right.limitRps as number) : null,
    limitSource: bothLimited ? left.limitSource : null,
    // The host is parked only as long as all its keys are.
    parkedUntilMs:
      left.parkedUntilMs === null || right.parkedUntilMs === null
        ? null
        : Math.min(left.parkedUntilMs, right.parkedUntilMs),
    givenUp: left.givenUp !== null && right.givenUp !== null ? left.givenUp : null,
    rateLimited: left.rateLimited + right.rateLimited,
  };
}
