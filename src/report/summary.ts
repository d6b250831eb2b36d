import { failureAdvice } from '../core/failure-advice.ts';
import { Histogram } from '../core/histogram.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import { adviceFor, type NamedRun } from '../core/run-command.ts';
import type { CompletenessSummary, HostSummary, Summary } from '../core/summary.ts';
import { noTime, PHASES } from '../core/timings.ts';
import type { FailureGroup } from './failure-groups.ts';
import { type HostLimits, type HostRecordState, limitsByHost } from './host-record.ts';
import { bestLatencyMs, latencySummary, roundMs, summariseHost } from './host-summary.ts';
import type { RecorderState } from './recorder.ts';
import { type HostCeiling, theoreticalRps } from './theoretical.ts';

/** What a summary is made of. Counts of queue and datasets are the store's: exact, whatever a crash cut short. */
export type SummaryFacts = {
  recorder: RecorderState;
  state: Summary['state'];
  queue: { total: number; succeeded: number; failed: number; skipped: number; pending: number };
  datasets: readonly { name: string; count: number }[];
  snapshots: readonly KeySnapshot[];
  maxConcurrency: number;
  /** Most requests in flight a host is configured for. */
  hostConcurrency: (host: string) => number;
  input?: Summary['input'];
  /** By reason, from the store; the recorder's own count when left out. */
  skipReasons?: Readonly<Record<string, number>>;
  completeness?: CompletenessSummary[] | null;
  drift?: Summary['drift'];
  workers?: Summary['workers'];
  diagnosis?: Summary['diagnosis'];
  exports?: readonly string[];
  /** As in RunPlace: for the commands it advises. */
  typedPlace?: string | undefined;
};

/** Puts together what a run has done: every field of the summary, null where nothing is known. */
export function buildSummary(facts: SummaryFacts): Summary {
  const { recorder } = facts;
  const named = { run: recorder.run, typedPlace: facts.typedPlace };
  const hosts = Object.entries(recorder.hosts);
  const records = hosts.map(([, record]) => record);
  const limits = hostLimits(facts);
  const requestsPerSecond = achievedRps(facts, records);
  const unrecorded = unrecordedRequests(facts, records);
  const theoretical = theoreticalRps(ceilings(facts, limits), facts.maxConcurrency);
  return {
    run: recorder.run,
    state: facts.state,
    startedAt: new Date(recorder.startedAtMs).toISOString(),
    durationSecs: recorder.activeMs / 1_000,
    input: facts.input ?? { lines: 0, malformed: 0, duplicates: 0 },
    requests: {
      ...pickCounts(facts.queue),
      retries: total(records, (record) => record.retries),
      notModified: total(records, (record) => record.statuses['304'] ?? 0),
    },
    ...(unrecorded > 0 ? { unrecorded } : {}),
    skipped: { ...(facts.skipReasons ?? recorder.skipped) },
    failures: recorder.failures.map((group) => withAdvice(group, named)),
    records: Object.fromEntries(facts.datasets.map(({ name, count }) => [name, count])),
    invalid: facts.datasets.find(({ name }) => name === 'invalid')?.count ?? 0,
    requestsPerSecond,
    statusCodes: statusCodes(records),
    latencyMs: latencySummary(overallLatency(records)),
    timeMs: timeTotals(records),
    connections: connectionSummary(recorder, records),
    hosts: Object.fromEntries(
      hosts.map(([host, record]): [string, HostSummary] => [host, summariseHost(record, limits.get(host) ?? null)]),
    ),
    theoreticalRps: theoretical,
    achievedShare: theoretical !== null && requestsPerSecond !== null ? requestsPerSecond / theoretical : null,
    slotUtilisation: recorder.slots.weighedMs > 0 ? recorder.slots.usedMs / recorder.slots.weighedMs : null,
    completeness: facts.completeness ?? null,
    drift: facts.drift ?? null,
    workers: facts.workers ?? null,
    diagnosis: facts.diagnosis?.map((one) => ({ ...one, advice: adviceFor(named, one.advice) })) ?? null,
    exports: [...(facts.exports ?? [])],
  };
}

/** A request that failed and later succeeded is recorded as both. */
function unrecordedRequests({ queue }: SummaryFacts, records: readonly HostRecordState[]): number {
  const lack = (result: 'succeeded' | 'failed'): number =>
    Math.max(0, queue[result] - total(records, (record) => record[result]));
  return lack('succeeded') + lack('failed');
}

function pickCounts({ total, succeeded, failed, skipped, pending }: SummaryFacts['queue']): SummaryFacts['queue'] {
  return { total, succeeded, failed, skipped, pending };
}

function withAdvice(group: FailureGroup, named: NamedRun): Summary['failures'][number] {
  return { ...group, advice: adviceFor(named, failureAdvice(group.code)) };
}

/** What the governor says now, over what it last said of hosts it has since forgotten. */
function hostLimits({ recorder, snapshots }: SummaryFacts): Map<string, HostLimits> {
  const limits = new Map<string, HostLimits>();
  for (const [host, record] of Object.entries(recorder.hosts)) if (record.limits) limits.set(host, record.limits);
  for (const [host, limit] of limitsByHost(snapshots)) limits.set(host, limit);
  return limits;
}

function ceilings({ recorder, hostConcurrency }: SummaryFacts, limits: Map<string, HostLimits>): HostCeiling[] {
  return Object.entries(recorder.hosts).map(([host, record]) => ({
    limitRps: limits.get(host)?.limitRps ?? null,
    concurrency: hostConcurrency(host),
    latencyMs: bestLatencyMs(record),
    // Never ticked (a crawl of a moment): it had work all the time.
    workShare: record.workMs > 0 && recorder.activeMs > 0 ? Math.min(record.workMs / recorder.activeMs, 1) : 1,
    requests: record.attempts,
  }));
}

function achievedRps({ recorder, queue }: SummaryFacts, records: readonly HostRecordState[]): number | null {
  const handled = total(records, (record) => record.succeeded + record.failed);
  const isUnknown = handled === 0 && queue.succeeded + queue.failed > 0;
  return recorder.activeMs <= 0 || isUnknown ? null : (handled * 1_000) / recorder.activeMs;
}

function statusCodes(records: readonly HostRecordState[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const record of records)
    for (const [status, count] of Object.entries(record.statuses)) counts[status] = (counts[status] ?? 0) + count;
  return counts;
}

function overallLatency(records: readonly HostRecordState[]): Histogram {
  const overall = new Histogram();
  for (const record of records) overall.merge(Histogram.fromState(record.latency));
  return overall;
}

function timeTotals(records: readonly HostRecordState[]): Summary['timeMs'] {
  const totals = noTime();
  for (const [index, phase] of PHASES.entries())
    totals[phase] = roundMs(total(records, (record) => record.timeMs[index] ?? 0)) ?? 0;
  return totals;
}

function connectionSummary(
  { connections }: RecorderState,
  records: readonly HostRecordState[],
): Summary['connections'] {
  const answered = total(records, (record) => record.http1 + record.http2);
  const percent = (part: number): number | null => (answered > 0 ? (part / answered) * 100 : null);
  return {
    opened: connections.opened,
    requests: connections.requests,
    reusePercent: percent(total(records, (record) => record.reused)),
    http2Percent: percent(total(records, (record) => record.http2)),
    waiting: connections.waiting,
  };
}

function total(records: readonly HostRecordState[], part: (record: HostRecordState) => number): number {
  return records.reduce((sum, record) => sum + part(record), 0);
}
