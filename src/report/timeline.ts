import { Histogram, type HistogramState } from '../core/histogram.ts';
import type { HostLimits } from './host-record.ts';

const BUCKET_COUNT = 240;
const FIRST_WIDTH_MS = 1_000;
// 3 % is enough for a chart, at a quarter of the size.
const LATENCY_BITS = 4;
const CHARTED_HOSTS = 24;

/** Counted per bucket of time. */
const COUNTS = ['attempts', 'succeeded', 'failed', 'limited', 'retries', 'networkFailures'] as const;
export type TimelineCount = (typeof COUNTS)[number];

// A limit of a bucket that was seen to be none; null and a hole are a bucket in which nobody looked.
const NO_LIMIT = -1;

/** Limits are the last ones seen in a bucket. */
type HostSeries = { attempts: number[]; limitRps: (number | null)[] };

export type TimelineState = {
  widthMs: number;
  /** Buckets in use; every list is so long. */
  length: number;
  counts: Record<TimelineCount, number[]>;
  latency: (HistogramState | null)[];
  hosts: Record<string, HostSeries>;
};

/** One bucket of the timeline, for a chart. Rates are per second. */
export type TimelinePoint = {
  /** From the start of the bucket, s of crawling time (time between two runs of the process left out). */
  atSecs: number;
  rates: Record<TimelineCount, number>;
  latencyMs: { p50: number | null; p95: number | null; p99: number | null };
};

/**
 * What happened when, in at most 240 buckets: they start at one second, and when they are full two become one, so that
 * a week takes no more room than an hour.
 */
export class Timeline {
  #widthMs = FIRST_WIDTH_MS;
  #length = 0;
  #counts = emptyCounts();
  #latency: (Histogram | null)[] = [];
  readonly #hosts = new Map<string, HostSeries>();

  /** @param atMs crawling time since the start, ms */
  count(atMs: number, what: TimelineCount, by = 1): void {
    const counts = this.#counts[what];
    const bucket = this.#bucketAt(atMs);
    counts[bucket] = (counts[bucket] as number) + by;
  }

  attempt(atMs: number, host: string): void {
    const bucket = this.#bucketAt(atMs);
    const counts = this.#counts.attempts;
    counts[bucket] = (counts[bucket] as number) + 1;
    const series = this.#seriesOf(host);
    if (series !== undefined) series.attempts[bucket] = (series.attempts[bucket] ?? 0) + 1;
  }

  latency(atMs: number, valueMs: number): void {
    const bucket = this.#bucketAt(atMs);
    this.#latency[bucket] ??= new Histogram(LATENCY_BITS);
    this.#latency[bucket].record(valueMs);
  }

  limits(atMs: number, limits: ReadonlyMap<string, HostLimits>): void {
    const bucket = this.#bucketAt(atMs);
    for (const [host, { limitRps }] of limits) {
      const series = this.#seriesOf(host);
      if (series === undefined) continue;
      series.limitRps[bucket] = limitRps ?? NO_LIMIT;
    }
  }

  /** Buckets so far; the last one is cut at `endMs`. */
  points(endMs: number): TimelinePoint[] {
    return Array.from({ length: this.#length }, (_, bucket) => {
      const secs = this.#secondsOf(bucket, endMs);
      const rates = emptyRates();
      for (const what of COUNTS) rates[what] = (this.#counts[what][bucket] as number) / secs;
      const latency = this.#latency[bucket] ?? null;
      const at = (share: number): number | null => latency?.percentile(share) ?? null;
      return {
        atSecs: (bucket * this.#widthMs) / 1_000,
        rates,
        latencyMs: { p50: at(0.5), p95: at(0.95), p99: at(0.99) },
      };
    });
  }

  /** Requests/s and the limit in force, by bucket, of the first hosts of the crawl; a limit holds until it changes. */
  hostSeries(endMs: number): Record<string, { rps: number[]; limitRps: (number | null)[] }> {
    const hosts: Record<string, { rps: number[]; limitRps: (number | null)[] }> = Object.create(null);
    for (const [host, series] of this.#hosts) {
      const rps = Array.from(
        { length: this.#length },
        (_, bucket) => (series.attempts[bucket] ?? 0) / this.#secondsOf(bucket, endMs),
      );
      hosts[host] = { rps, limitRps: held(series.limitRps, this.#length) };
    }
    return hosts;
  }

  get widthMs(): number {
    return this.#widthMs;
  }

  toState(): TimelineState {
    return {
      widthMs: this.#widthMs,
      length: this.#length,
      counts: structuredClone(this.#counts),
      latency: Array.from({ length: this.#length }, (_, bucket) => this.#latency[bucket]?.toState() ?? null),
      hosts: Object.fromEntries([...this.#hosts].map(([host, series]) => [host, structuredClone(series)])),
    };
  }

  static fromState(state: TimelineState): Timeline {
    const timeline = new Timeline();
    timeline.#widthMs = state.widthMs;
    timeline.#length = state.length;
    timeline.#counts = structuredClone(state.counts);
    timeline.#latency = state.latency.map((histogram) => histogram && Histogram.fromState(histogram));
    for (const [host, series] of Object.entries(state.hosts)) timeline.#hosts.set(host, structuredClone(series));
    return timeline;
  }

  #bucketAt(atMs: number): number {
    let bucket = Math.max(0, Math.floor(atMs / this.#widthMs));
    while (bucket >= BUCKET_COUNT) {
      this.#coarsen();
      bucket = Math.floor(atMs / this.#widthMs);
    }
    if (bucket >= this.#length) this.#growTo(bucket + 1);
    return bucket;
  }

  #growTo(length: number): void {
    for (const what of COUNTS) for (let at = this.#length; at < length; at++) this.#counts[what].push(0);
    this.#length = length;
  }

  #coarsen(): void {
    const { length } = this;
    for (const what of COUNTS) this.#counts[what] = pairs(this.#counts[what], length, (a, b) => (a ?? 0) + (b ?? 0));
    this.#latency = pairs(this.#latency, length, mergedHistogram);
    for (const series of this.#hosts.values()) {
      series.attempts = pairs(series.attempts, length, (a, b) => (a ?? 0) + (b ?? 0));
      series.limitRps = pairs(series.limitRps, length, (a, b) => b ?? a ?? null);
    }
    this.#length = Math.ceil(length / 2);
    this.#widthMs *= 2;
  }

  get length(): number {
    return this.#length;
  }

  #seriesOf(host: string): HostSeries | undefined {
    const series = this.#hosts.get(host);
    if (series !== undefined || this.#hosts.size >= CHARTED_HOSTS) return series;
    const fresh: HostSeries = { attempts: [], limitRps: [] };
    this.#hosts.set(host, fresh);
    return fresh;
  }

  // A bucket that has just begun would make a wild rate: it counts as a tenth of its width at least.
  #secondsOf(bucket: number, endMs: number): number {
    const lastedMs = Math.min(this.#widthMs, endMs - bucket * this.#widthMs);
    return Math.max(lastedMs, this.#widthMs / 10) / 1_000;
  }
}

/**
 * @returns requests/s of the fullest bucket of one host: of a second while the crawl is short, of a longer time later;
 *   0 where the host is not charted
 */
export function highestRps({ widthMs, hosts }: TimelineState, host: string): number {
  const counts = hosts[host]?.attempts ?? [];
  return (counts.reduce((most, count) => Math.max(most, count ?? 0), 0) * 1_000) / widthMs;
}

function pairs<Value>(
  values: readonly (Value | undefined)[],
  length: number,
  join: (left: Value | undefined, right: Value | undefined) => Value,
): Value[] {
  return Array.from({ length: Math.ceil(length / 2) }, (_, at) => join(values[2 * at], values[2 * at + 1]));
}

function mergedHistogram(left: Histogram | null | undefined, right: Histogram | null | undefined): Histogram | null {
  if (left && right) left.merge(right);
  return left ?? right ?? null;
}

function held(values: readonly (number | null | undefined)[], length: number): (number | null)[] {
  let last: number = NO_LIMIT;
  return Array.from({ length }, (_, at) => {
    const value = values[at] ?? null;
    if (value !== null) last = value;
    return last === NO_LIMIT ? null : last;
  });
}

function emptyCounts(): Record<TimelineCount, number[]> {
  return { attempts: [], succeeded: [], failed: [], limited: [], retries: [], networkFailures: [] };
}

function emptyRates(): Record<TimelineCount, number> {
  return { attempts: 0, succeeded: 0, failed: 0, limited: 0, retries: 0, networkFailures: 0 };
}
