import type { Summary } from '../../core/summary.ts';
import { PHASES, type Timings } from '../../core/timings.ts';
import type { DatasetProfile } from '../dataset-profile.ts';
import type { TimedEvent } from '../event-list.ts';
import type { RecorderState } from '../recorder.ts';
import { redactConfig } from '../redact.ts';
import { Timeline, type TimelinePoint } from '../timeline.ts';

/** All the report page shows. */
export type ReportData = {
  summary: Summary;
  /** Epoch ms. */
  writtenAtMs: number;
  /** Crawling time, s: the time axis leaves out the time between two processes of the run. */
  endSecs: number;
  sessions: RecorderState['sessions'];
  points: TimelinePoint[];
  /** Requests/s and limit in force by host, at the same times as the points; the busiest first. */
  hostSeries: { host: string; rps: number[]; limitRps: (number | null)[] }[];
  /** Where each host's requests spent their time, ms; the busiest first. */
  hostTimes: { host: string; timeMs: Timings }[];
  events: readonly TimedEvent[];
  eventCounts: Record<string, number>;
  datasets: readonly DatasetProfile[];
  /** The configuration used, secrets gone; null when it is not to be shown. */
  config: unknown;
};

const CHARTED_HOSTS = 6;
const TIMED_HOSTS = 12;

/** @param facts.config as parsed: it is redacted here */
export function buildReportData(facts: {
  summary: Summary;
  recorder: RecorderState;
  datasets?: readonly DatasetProfile[];
  config?: unknown;
  writtenAtMs: number;
}): ReportData {
  const { summary, recorder } = facts;
  const timeline = Timeline.fromState(recorder.timeline);
  const hosts = Object.entries(recorder.hosts).sort(([, a], [, b]) => b.attempts - a.attempts);
  const series = timeline.hostSeries(recorder.activeMs);
  return {
    summary,
    writtenAtMs: facts.writtenAtMs,
    endSecs: recorder.activeMs / 1_000,
    sessions: recorder.sessions,
    points: timeline.points(recorder.activeMs),
    hostSeries: hosts.flatMap(([host]) => (series[host] ? [{ host, ...series[host] }] : [])).slice(0, CHARTED_HOSTS),
    hostTimes: hosts.slice(0, TIMED_HOSTS).map(([host, { timeMs }]) => ({ host, timeMs: timingsOf(timeMs) })),
    events: recorder.events.events,
    eventCounts: recorder.events.counts,
    datasets: facts.datasets ?? [],
    config: facts.config === undefined ? null : redactConfig(facts.config),
  };
}

function timingsOf(timeMs: readonly number[]): Timings {
  return Object.fromEntries(PHASES.map((phase, index) => [phase, timeMs[index] ?? 0])) as Timings;
}
