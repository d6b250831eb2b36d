import { PHASES, type Timings } from '../../core/timings.ts';
import { formatCount, formatMs, formatNumber, formatShare } from '../format.ts';
import { clockTime } from './axis.ts';
import { html, type Markup } from './markup.ts';
import { utc } from './overview.ts';
import type { ReportData } from './report-data.ts';
import { type Series, timeChart } from './time-chart.ts';

/** Requests/s over time, with the limits in force and the events. */
export function throughputSection(data: ReportData): Markup | null {
  if (data.points.length === 0) return null;
  const events = data.events.map(({ offsetMs, kind, host, reason }) => ({
    atSecs: offsetMs / 1_000,
    text: `${kind} ${host}: ${reason}`,
  }));
  return html`<section aria-labelledby="throughput"><h2 id="throughput">Throughput</h2>
${timeChart({
  id: 'throughput-chart',
  label: 'Requests per second over time, with the limits in force',
  secs: data.points.map(({ atSecs }) => atSecs),
  endSecs: data.endSecs,
  series: throughputSeries(data),
  events,
  format: (value) => `${formatNumber(value)}/s`,
})}
${eventList(data)}</section>`;
}

function throughputSeries({ points, hostSeries }: ReportData): Series[] {
  const rate = (what: 'attempts' | 'limited' | 'failed') => points.map(({ rates }) => rates[what]);
  const where = (values: (number | null)[]) =>
    values.map((value, at) => ((values[at - 1] ?? 0) + (value ?? 0) + (values[at + 1] ?? 0) > 0 ? value : null));
  const all: Series = { name: 'all requests', values: rate('attempts'), color: 1, shape: 'area' };
  const single = hostSeries.length === 1;
  const hosts = hostSeries.flatMap(({ host, rps, limitRps }, index): Series[] => {
    const color = single ? 1 : index + 2;
    const limit: Series = { name: single ? 'limit' : `limit of ${host}`, values: limitRps, color, shape: 'step' };
    const line: Series = { name: host, values: rps, color, shape: 'line' };
    return [...(single ? [] : [line]), ...(limitRps.some((value) => value !== null) ? [limit] : [])];
  });
  const bad: Series[] = [
    { name: 'refused', values: where(rate('limited')), color: 8, shape: 'line' },
    { name: 'failed', values: where(rate('failed')), color: 9, shape: 'line' },
  ];
  return [all, ...hosts, ...bad.filter(({ values }) => values.some((value) => value !== null && value > 0))];
}

function eventList({ events, eventCounts, sessions }: ReportData): Markup | null {
  const count = Object.values(eventCounts).reduce((sum, each) => sum + each, 0);
  if (count === 0 && sessions.length < 2) return null;
  const kinds = Object.entries(eventCounts).map(([kind, each]) => `${formatCount(each)} × ${kind}`);
  const resumed = sessions.slice(1).map(({ atMs, offsetMs }) => ({
    atMs,
    offsetMs,
    what: 'process started',
    host: '',
    reason: 'The run was continued.',
  }));
  const rows = [...resumed, ...events.map((event) => ({ ...event, what: event.kind }))].sort(
    (a, b) => a.offsetMs - b.offsetMs,
  );
  return html`<details id="events"><summary>Events: ${kinds.join(', ') || 'none'}${count > events.length ? ` (${events.length} kept)` : ''}</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Events"><table><thead><tr><th scope="col">Time</th><th scope="col">At</th><th scope="col">What</th><th scope="col">Host</th><th scope="col">Why</th></tr></thead>
<tbody>${rows.map(
    ({ atMs, offsetMs, what, host, reason }) =>
      html`<tr><td class="n">${clockTime(offsetMs / 1_000)}</td><td>${utc(new Date(atMs).toISOString())}</td><td>${what}</td><td>${host}</td><td>${reason}</td></tr>`,
  )}</tbody></table></div></details>`;
}

export function latencySection({ points, endSecs }: ReportData): Markup | null {
  if (!points.some(({ latencyMs }) => latencyMs.p50 !== null)) return null;
  const series = (['p50', 'p95', 'p99'] as const).map(
    (name, index): Series => ({
      name,
      values: points.map(({ latencyMs }) => latencyMs[name]),
      color: index + 1,
      shape: 'line',
    }),
  );
  return html`<section aria-labelledby="latency"><h2 id="latency">Latency</h2>
<p class="note">From the look-up of the name to the last byte; answers only, neither rejections nor server errors.</p>
${timeChart({
  id: 'latency-chart',
  label: 'Latency percentiles over time',
  secs: points.map(({ atSecs }) => atSecs),
  endSecs,
  series,
  format: formatMs,
})}</section>`;
}

const PHASE_NAMES: Record<keyof Timings, string> = {
  politeness: 'held back by limits',
  queue: 'waiting for a slot',
  dns: 'name look-up',
  connect: 'connecting',
  tls: 'TLS',
  firstByte: 'waiting for the first byte',
  download: 'download',
  parse: 'parsing',
  handler: 'handler',
  commit: 'committing',
};

/** A bar for each host, all of the same length, parted as its requests' time was. */
export function timeShareSection({ hostTimes, summary }: ReportData): Markup | null {
  const all = { host: 'all hosts', timeMs: summary.timeMs };
  const rows = (hostTimes.length > 1 ? [all, ...hostTimes] : hostTimes).filter(({ timeMs }) => totalOf(timeMs) > 0);
  if (rows.length === 0) return null;
  const used = PHASES.filter((phase) => rows.some(({ timeMs }) => timeMs[phase] / totalOf(timeMs) >= 0.001));
  return html`<section aria-labelledby="time"><h2 id="time">Where the time went</h2>
<ul class="legend">${used.map((phase) => html`<li><i class="key p-${phase}"></i>${PHASE_NAMES[phase]}</li>`)}</ul>
<div class="shares">${rows.map(({ host, timeMs }) => shareBar(host, timeMs, used))}</div>
<details id="time-table"><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Time by host and phase"><table>
<thead><tr><th scope="col">Host</th>${used.map((phase) => html`<th scope="col" class="n">${PHASE_NAMES[phase]}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ host, timeMs }) =>
      html`<tr><th scope="row">${host}</th>${used.map((phase) => html`<td class="n">${formatMs(timeMs[phase])}</td>`)}</tr>`,
  )}</tbody></table></div></details></section>`;
}

function shareBar(host: string, timeMs: Timings, used: readonly (keyof Timings)[]): Markup {
  const total = totalOf(timeMs);
  const shares = used.map((phase) => ({ phase, share: timeMs[phase] / total })).filter(({ share }) => share > 0);
  const text = shares
    .toSorted((a, b) => b.share - a.share)
    .map(({ phase, share }) => `${PHASE_NAMES[phase]} ${formatShare(share)}`)
    .join(', ');
  return html`<div class="share"><span>${host}</span><div class="bar" role="img" aria-label="${host}: ${text}">${shares.map(
    ({ phase, share }) =>
      html`<i class="p-${phase}" style="width:${(share * 100).toFixed(2)}%" title="${PHASE_NAMES[phase]} ${formatShare(share)}"></i>`,
  )}</div></div>`;
}

function totalOf(timeMs: Timings): number {
  return PHASES.reduce((sum, phase) => sum + timeMs[phase], 0);
}
