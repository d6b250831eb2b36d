import { formatCount, formatDuration, formatMs, formatNumber, formatShare } from '../../report/format.ts';
import { type Painter, painter } from '../../report/terminal.ts';
import { machineText } from '../common/machine.ts';
import type { BenchComparison, BenchReport, BenchResult, BenchSetting, Percentiles } from './bench-report.ts';

const LABEL_COLUMNS = 13;
// Above it our own process, not the server, is what was measured.
const BUSY_SHARE = 0.9;

/** @returns the report for people, without a newline at its end */
export function printBench(report: BenchReport, { color }: { color: boolean }): string {
  const paint = painter(color);
  const { url, machine, targetRegion, results, comparison } = report;
  const from = targetRegion === null ? '' : `, answered from ${targetRegion}`;
  const sections = [
    [paint('bold', url), paint('dim', `  ${machineText(machine)}${from}`)],
    ...results.map((result) => resultLines(result, paint)),
    ...(comparison === null ? [] : [comparisonLines(comparison, paint)]),
  ];
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}

/** @returns a setting in words: "10 in flight, HTTP/2 where offered" */
export function settingText({ concurrency, rate, http2, httpClient, requests, warmup }: BenchSetting): string {
  const load = rate === null ? `${concurrency} in flight` : `at ${formatNumber(rate)} requests/s`;
  const version = http2 === 'off' ? ', HTTP/1.1 only' : '';
  const client = httpClient === 'undici' ? '' : `, ${httpClient}`;
  return `${formatCount(requests)} requests ${load}${version}${client}, after ${formatCount(warmup)} to warm up`;
}

function resultLines(result: BenchResult, paint: Painter): string[] {
  const { setting } = result;
  const rows: [string, string | null][] = [
    ['Rate', rateText(result)],
    ['Wall', formatDuration(result.wallSecs)],
    [setting.rate === null ? 'Latency' : 'From due', percentileText(result.latencyMs)],
    ['From sent', setting.rate === null ? null : percentileText(result.serviceMs)],
    ['Unloaded', result.baseLatencyMs === null ? null : `${formatMs(result.baseLatencyMs)} a request`],
    ['Connections', `${formatCount(result.connectionsOpened)} opened, HTTP/${result.httpVersion ?? '–'}`],
    ['Bodies', bytesText(result)],
    ['Answers', answersText(result)],
    ['Own process', `busy for ${formatShare(result.busyShare)}`],
  ];
  const lines = rows
    .filter((row): row is [string, string] => row[1] !== null)
    .map(([label, text]) => `  ${paint('dim', label.padEnd(LABEL_COLUMNS))}${text}`);
  return [
    paint('bold', settingText(setting)),
    ...lines,
    ...warnings(result).map((text) => `  ${paint('yellow', text)}`),
  ];
}

function rateText({ setting, requestsPerSecond, theoreticalRps, achievedShare }: BenchResult): string {
  const rate = `${formatNumber(requestsPerSecond)} requests/s`;
  if (theoreticalRps === null || achievedShare === null) return rate;
  const maximum = setting.rate === null ? 'concurrency / latency' : 'the rate asked for';
  return `${rate}, ${formatShare(achievedShare)} of the theoretical maximum (${maximum}), ${formatNumber(theoreticalRps)}/s`;
}

function percentileText({ p50, p95, p99, p999, max }: Percentiles): string {
  return `p50 ${formatMs(p50)}, p95 ${formatMs(p95)}, p99 ${formatMs(p99)}, p99.9 ${formatMs(p999)}, most ${formatMs(max)}`;
}

function bytesText({ wireBytes, bodyBytes, meanBodyBytes }: BenchResult): string {
  const packed = wireBytes === bodyBytes ? '' : `, ${formatCount(wireBytes)} as they travelled`;
  return `${formatCount(bodyBytes)} bytes${packed}, ${formatCount(meanBodyBytes ?? 0)} each`;
}

function answersText({ statusCodes, failures }: BenchResult): string {
  const parts = [...Object.entries(statusCodes), ...Object.entries(failures)];
  return parts.map(([name, count]) => `${formatCount(count)} x ${name}`).join(', ') || 'none';
}

function warnings({ statusCodes, failures, busyShare, setting, achievedShare }: BenchResult): string[] {
  const total = sum(statusCodes) + sum(failures);
  const bad = total - sum(Object.fromEntries(Object.entries(statusCodes).filter(([status]) => Number(status) < 400)));
  return [
    ...(bad > 0
      ? [`${formatCount(bad)} of ${formatCount(total)} requests were refused or failed: the figures tell of that too.`]
      : []),
    ...(busyShare > BUSY_SHARE ? ['Our own process was busy: the figures are its own, not the server’s.'] : []),
    ...(setting.rate !== null && achievedShare !== null && achievedShare < 0.95
      ? ['The server did not keep up with the rate: latency from due grows for as long as this goes on.']
      : []),
  ];
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function comparisonLines(
  { rounds, rateRatio, p50Ratio, leastRatio, mostRatio }: BenchComparison,
  paint: Painter,
): string[] {
  const spread = `${formatNumber(leastRatio)} to ${formatNumber(mostRatio)}`;
  const isClear = leastRatio > 1 || mostRatio < 1;
  const p50 = p50Ratio === null ? '' : `, and ${formatNumber(p50Ratio)} times its median latency`;
  return [
    paint('bold', 'The second against the first'),
    `  ${formatNumber(rateRatio)} times the rate (${spread} over ${rounds} rounds in turns)${p50}`,
    `  ${isClear ? 'Every round agrees.' : 'The rounds disagree: the difference may be chance.'}`,
  ];
}
