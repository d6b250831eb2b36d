import type { Summary } from '../../core/summary.ts';
import { formatCount, formatDuration, formatMs, formatNumber, formatShare } from '../format.ts';
import { possibleRate } from '../possible-rate.ts';
import { unrecordedNote } from '../unrecorded.ts';
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
  const note = unrecordedNote(summary);
  const processes = sessions.length > 1 ? `, in ${sessions.length} processes` : '';
  return html`<header>
<h1>${run} <span class="state ${STATES[state]}">${STATES[state]}</span></h1>
<p>Started ${utc(startedAt)}, ${formatDuration(durationSecs)} of crawling${processes}</p>
${note !== null && html`<p class="note">${note}</p>`}
${state === 'running' && progress(summary.requests)}
<dl class="tiles">${tiles(summary)}</dl>
</header>`;
}

/** How much is done of what is known so far. */
function progress({ total, pending }: Summary['requests']): Markup | null {
  if (total === 0) return null;
  const share = (total - pending) / total;
  return html`<div class="done" role="img" aria-label="${formatShare(share)} of the requests known so far are done"><i style="width:${(share * 100).toFixed(1)}%"></i><b>${formatShare(share)}</b></div>`;
}

function tiles(summary: Summary): Markup[] {
  const { requests, records, latencyMs, requestsPerSecond, connections } = summary;
  const rows = Object.entries(records).filter(([name]) => name !== 'failures' && name !== 'invalid');
  return [
    tile('Requests', formatCount(requests.succeeded + requests.failed + requests.skipped), requestNote(requests)),
    tile('Failed', formatCount(requests.failed), retryNote(requests), requests.failed > 0),
    tile('Records', formatCount(rows.reduce((sum, [, count]) => sum + count, 0)), invalidNote(summary)),
    tile('Requests/s', requestsPerSecond === null ? '–' : formatNumber(requestsPerSecond), shareNote(summary)),
    tile('Latency p50', formatMs(latencyMs.p50), `p95 ${formatMs(latencyMs.p95)}, p99 ${formatMs(latencyMs.p99)}`),
    tile('Connections', formatCount(connections.opened), reuseNote(connections)),
  ];
}

function tile(name: string, value: string, note: string, isBad = false): Markup {
  return html`<div class="tile${isBad ? ' bad' : ''}"><dt>${name}</dt><dd>${value}<small>${unbroken(note)}</small></dd></div>`;
}

/** Keeps a number and its unit on one line. */
function unbroken(text: string): string {
  return text.replaceAll(/(\d) (ms|s|%)/g, '$1\u00a0$2').replaceAll(/(p\d\d) /g, '$1\u00a0');
}

function retryNote({ retries }: Summary['requests']): string {
  return retries === 1 ? '1 retry' : `${formatCount(retries)} retries`;
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

function shareNote(summary: Summary): string {
  const possible = possibleRate(summary);
  return possible === null ? '' : `${formatShare(possible.share)} of ${formatNumber(possible.rps)} possible`;
}

function reuseNote({ reusePercent, http2Percent }: Summary['connections']): string {
  if (reusePercent === null) return 'opened';
  const http2 = http2Percent ? `, HTTP/2 ${formatShare(http2Percent / 100)}` : '';
  return `opened, ${formatShare(reusePercent / 100)} reused${http2}`;
}

/** @param iso ISO 8601 @returns "2026-01-01 12:34:56 UTC" */
export function utc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
