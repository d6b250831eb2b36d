import type { Summary } from '../../core/summary.ts';
import { formatCount, formatDuration, formatMs, formatNumber, formatShare } from '../format.ts';
import { html, type Markup } from './markup.ts';
import type { ReportData } from './report-data.ts';

const STATES: Record<Summary['state'], string> = {
  running: 'running',
  finished: 'finished',
  incomplete: 'incomplete',
  interrupted: 'interrupted',
};

export function overview({ summary, sessions }: ReportData): Markup {
  const { run, state, startedAt, durationSecs } = summary;
  const processes = sessions.length > 1 ? `, in ${sessions.length} processes` : '';
  return html`<header>
<h1>${run} <span class="state ${STATES[state]}">${STATES[state]}</span></h1>
<p>Started ${utc(startedAt)}, ${formatDuration(durationSecs)} of crawling${processes}</p>
<dl class="tiles">${tiles(summary)}</dl>
</header>`;
}

function tiles(summary: Summary): Markup[] {
  const { requests, records, latencyMs, requestsPerSecond, connections } = summary;
  const rows = Object.entries(records).filter(([name]) => name !== 'failures' && name !== 'invalid');
  return [
    tile('Requests', formatCount(requests.succeeded + requests.failed + requests.skipped), requestNote(requests)),
    tile('Failed', formatCount(requests.failed), `${formatCount(requests.retries)} retries`, requests.failed > 0),
    tile('Records', formatCount(rows.reduce((sum, [, count]) => sum + count, 0)), invalidNote(summary)),
    tile('Requests/s', requestsPerSecond === null ? '–' : formatNumber(requestsPerSecond), shareNote(summary)),
    tile('Latency p50', formatMs(latencyMs.p50), `p95 ${formatMs(latencyMs.p95)}, p99 ${formatMs(latencyMs.p99)}`),
    tile('Connections', formatCount(connections.opened), reuseNote(connections)),
  ];
}

function tile(name: string, value: string, note: string, isBad = false): Markup {
  return html`<div class="tile${isBad ? ' bad' : ''}"><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`;
}

function requestNote({ total, skipped, pending, notModified }: Summary['requests']): string {
  const parts = [`of ${formatCount(total)}`];
  if (pending > 0) parts.push(`${formatCount(pending)} left`);
  if (skipped > 0) parts.push(`${formatCount(skipped)} skipped`);
  if (notModified > 0) parts.push(`${formatCount(notModified)} not modified`);
  return parts.join(', ');
}

function invalidNote({ invalid, records }: Summary): string {
  const datasets = Object.keys(records).length;
  return invalid > 0 ? `${formatCount(invalid)} invalid` : `${datasets} dataset${datasets === 1 ? '' : 's'}`;
}

function shareNote({ theoreticalRps, achievedShare }: Summary): string {
  if (theoreticalRps === null || achievedShare === null) return '';
  return `${formatShare(achievedShare)} of ${formatNumber(theoreticalRps)} possible`;
}

function reuseNote({ reusePercent, http2Percent }: Summary['connections']): string {
  if (reusePercent === null) return 'opened';
  const http2 = http2Percent ? `, HTTP/2 ${formatShare(http2Percent / 100)}` : '';
  return `opened, ${formatShare(reusePercent / 100)} reused${http2}`;
}

/** On top of everything else: what to change for more throughput. Nothing when there is no diagnosis. */
export function diagnosisSection({ summary: { diagnosis } }: ReportData): Markup | null {
  if (diagnosis === null || diagnosis.length === 0) return null;
  return html`<section aria-labelledby="diagnosis"><h2 id="diagnosis">What would make it faster</h2>
<ol class="findings">${diagnosis.map(
    ({ bottleneck, share, evidence, advice }) => html`<li>
<div class="meter" aria-hidden="true"><i style="width:${Math.min(100, share * 100).toFixed(1)}%"></i></div>
<h3>${formatShare(share)} ${bottleneck}</h3><p>${withCode(evidence)}</p><p class="advice">${withCode(advice)}</p></li>`,
  )}</ol></section>`;
}

/** Text in which what stands between backticks is code. */
export function withCode(text: string): Markup {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** @param iso ISO 8601 @returns "2026-01-01 12:34:56 UTC" */
export function utc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
