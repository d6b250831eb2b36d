import { formatCount, formatDuration, formatMs, formatNumber } from '../../report/format.ts';
import { type Painter, painter } from '../../report/terminal.ts';
import { hostSettings, hostsBlock } from './hosts-block.ts';
import { mostRequests } from './ramp-plan.ts';
import type { RampPoint, RampResult } from './ramp-report.ts';

const MOST_ROWS = 24;
const BAR_COLUMNS = 40;
const LONGEST_SECS_ABOUT = 300;

/** What a ramp is about to do: said before anything is sent. */
export function announcement(url: string, maxRate: number): string {
  return [
    `This finds the limit of ${new URL(url).host} by asking it for ${url} as one client:`,
    `from 1 request a second, 5 % more each second, up to ${formatNumber(maxRate)}/s, until it refuses one or gets slow.`,
    'Then a few trials of 20 s, each ended by a refusal, tell how high the limit is: one to ten are refused in all, as a rule.',
    'It waits whenever it is told to.',
    `At most ${formatCount(mostRequests(maxRate))} requests, in up to about ${formatDuration(LONGEST_SECS_ABOUT)}.`,
  ].join('\n');
}

const PHASES: Readonly<Record<string, string>> = {
  ramp: 'climbing',
  clump: 'a few at once',
  trial: 'a trial',
  verify: 'trying 80 % of it',
  drain: 'waiting for answers',
  pause: 'waiting, as it was told to',
  try: 'one request alone',
};

/** @returns what goes on and how the last second went, in one line */
export function rampProgressText(phase: string, points: readonly RampPoint[]): string {
  // The last point is the second under way.
  const { sent = 0, good = 0, refused = 0 } = points.at(-2) ?? {};
  return `${PHASES[phase] ?? phase}: ${sent}/s sent, ${good}/s good, ${refused}/s refused`;
}

/** @returns what was found, for people, without a newline at its end */
export function printRamp(url: string, result: RampResult, { color }: { color: boolean }): string {
  const paint = painter(color);
  const settings = hostSettings(result);
  const { host } = new URL(url);
  const sections = [
    plot(result.points, paint),
    [
      `${paint('bold', 'Limit')}      ${limitText(result)}`,
      `${paint('bold', 'Ended')}      ${result.reason}`,
      `${paint('bold', 'Sent')}       ${formatCount(result.requests)} requests, ${formatCount(result.refused)} refused, up to ${formatNumber(result.fastestRps)}/s`,
    ],
    settings === null
      ? [
          `Nothing to set: a crawl may go up to ${formatNumber(result.fastestRps)}/s at least, as far as ${host} is concerned.`,
        ]
      : [`What holds, at 80 % of it${verifiedText(result)}:`, '', hostsBlock(host, settings)],
  ];
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}

function verifiedText({ isVerified }: RampResult): string {
  if (isVerified === null) return '';
  return isVerified ? ' (tried: nothing was refused)' : ' (tried: it was refused once; take less)';
}

function limitText(result: RampResult): string {
  const { kind, limitRps, rangeRps, concurrency, windowMs, shownBy } = result;
  if (kind === 'none found') return 'none found';
  if (kind === 'concurrency') return `${formatCount(concurrency ?? 0)} requests at once`;
  const rate = `${formatNumber(limitRps ?? 0)} requests/s`;
  const range =
    rangeRps === null || rangeRps.least === rangeRps.most
      ? ''
      : ` (between ${formatNumber(rangeRps.least)} and ${formatNumber(rangeRps.most)})`;
  const window =
    windowMs === null ? '' : `, counted over ${shownBy === 'headers' ? '' : 'about '}${formatMs(windowMs)}`;
  return `${rate}${range}${window}, by ${shownBy ?? 'nothing'}`;
}

/** Rate against goodput and latency: a line for every few seconds. */
function plot(points: readonly RampPoint[], paint: Painter): string[] {
  const span = Math.max(1, Math.ceil(points.length / MOST_ROWS));
  const rows = Array.from({ length: Math.ceil(points.length / span) }, (_, index) =>
    points.slice(index * span, (index + 1) * span),
  ).map(mean);
  const most = Math.max(1, ...rows.map(({ sent }) => sent));
  const head = `${'second'.padStart(7)}${'sent/s'.padStart(9)}${'good/s'.padStart(9)}${'p50'.padStart(10)}`;
  return [paint('dim', head), ...rows.map((row) => plotRow(row, most, paint))];
}

function plotRow({ second, sent, good, refused, p50Ms }: RampPoint, most: number, paint: Painter): string {
  const columns = (value: number): number => Math.round((value / most) * BAR_COLUMNS);
  const bar =
    paint('cyan', '█'.repeat(columns(good))) +
    paint('red', '▒'.repeat(refused > 0 ? Math.max(1, columns(refused)) : 0));
  const cells = [
    String(second).padStart(7),
    formatNumber(sent).padStart(9),
    formatNumber(good).padStart(9),
    formatMs(p50Ms).padStart(10),
  ];
  return `${cells.join('')}  ${bar}`.trimEnd();
}

function mean(points: readonly RampPoint[]): RampPoint {
  const of = (part: (point: RampPoint) => number): number =>
    points.reduce((sum, point) => sum + part(point), 0) / points.length;
  const latencies = points.flatMap(({ p50Ms }) => (p50Ms === null ? [] : [p50Ms]));
  return {
    second: points[0]?.second ?? 0,
    sent: of(({ sent }) => sent),
    good: of(({ good }) => good),
    refused: of(({ refused }) => refused),
    p50Ms: latencies.length === 0 ? null : latencies.reduce((sum, value) => sum + value, 0) / latencies.length,
  };
}
