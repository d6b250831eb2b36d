import { stringify } from 'yaml';
import { adviceFor } from '../../core/run-command.ts';
import type { CompletenessSummary, HostSummary } from '../../core/summary.ts';
import { driftText, incrementFacts } from '../completeness-text.ts';
import type { DatasetProfile } from '../dataset-profile.ts';
import { formatCount, formatMs, formatNumber, formatShare } from '../format.ts';
import { withCode } from './diagnosis-section.ts';
import { html, type Markup } from './markup.ts';
import { utc } from './overview.ts';
import type { ReportData } from './report-data.ts';

const MOST_HOSTS = 100;

export function hostSection({ summary: { hosts } }: ReportData): Markup | null {
  const rows = Object.entries(hosts).sort(([, a], [, b]) => b.requests - a.requests);
  if (rows.length === 0) return null;
  const more = rows.length - MOST_HOSTS;
  const heads = ['Requests', 'Failed', 'Refused', 'Limit', 'Slots', 'p50', 'p95', 'p99', 'Base', 'Round trip', 'HTTP'];
  return html`<section aria-labelledby="hosts"><h2 id="hosts">Hosts</h2>
${table('Hosts', html`<tr><th scope="col">Host</th>${heads.map((head) => html`<th scope="col" class="n">${head}</th>`)}<th scope="col">State</th></tr>`, rows.slice(0, MOST_HOSTS).map(hostRow))}
${more > 0 && html`<p class="note">and ${formatCount(more)} more hosts</p>`}</section>`;
}

function hostRow([host, summary]: [string, HostSummary]): Markup {
  const { latencyMs } = summary;
  const cells = [
    formatCount(summary.requests),
    formatCount(summary.failed),
    formatCount(summary.rateLimited),
    summary.limitRps === null ? '–' : `${formatNumber(summary.limitRps)}/s ${summary.limitSource ?? ''}`,
    summary.concurrency === null ? '–' : formatCount(summary.concurrency),
    formatMs(latencyMs.p50),
    formatMs(latencyMs.p95),
    formatMs(latencyMs.p99),
    formatMs(summary.baseLatencyMs),
    formatMs(summary.roundTripMs),
    summary.httpVersion ?? '–',
  ];
  const state = summary.givenUp
    ? `given up: ${summary.givenUp}`
    : summary.parkedUntil && `parked until ${utc(summary.parkedUntil)}`;
  return html`<tr><th scope="row">${host}</th>${cells.map((cell) => html`<td class="n">${cell}</td>`)}<td>${state}</td></tr>`;
}

export function statusSection({ summary: { statusCodes, skipped } }: ReportData): Markup | null {
  const rows = [
    ...Object.entries(statusCodes).map(([status, count]) => ({ name: status, count, kind: `s${status[0]}` })),
    ...Object.entries(skipped).map(([reason, count]) => ({ name: `skipped: ${reason}`, count, kind: 'skip' })),
  ];
  if (rows.length === 0) return null;
  const greatest = Math.max(...rows.map(({ count }) => count));
  return html`<section aria-labelledby="status"><h2 id="status">Status codes</h2>
<table class="bars"><tbody>${rows.map(
    ({ name, count, kind }) => html`<tr><th scope="row">${name}</th><td class="n">${formatCount(count)}</td>
<td class="wide" aria-hidden="true"><i class="${kind}" style="width:${((count / greatest) * 100).toFixed(2)}%"></i></td></tr>`,
  )}</tbody></table></section>`;
}

export function failureSection({ summary: { failures } }: ReportData): Markup | null {
  if (failures.length === 0) return null;
  return html`<section aria-labelledby="failures"><h2 id="failures">Failures</h2><ul class="failures">${failures.map(
    ({
      code,
      host,
      count,
      example,
      message,
      advice,
    }) => html`<li><p><strong>${formatCount(count)} × ${code}</strong> ${host}</p>
${message !== undefined && html`<p>${message}</p>`}<p>${withCode(advice)}</p><p>One of them: <code>${example}</code></p></li>`,
  )}</ul></section>`;
}

export function completenessSection({ summary: { run, completeness } }: ReportData): Markup | null {
  if (completeness === null || completeness.length === 0) return null;
  const heads = ['Declared', 'Fetched', 'Duplicates', 'Gaps', 'Suspected shifts'];
  return html`<section aria-labelledby="completeness"><h2 id="completeness">Completeness</h2>
${table(
  'Completeness',
  html`<tr><th scope="col">Resource</th>${heads.map((head) => html`<th scope="col" class="n">${head}</th>`)}</tr>`,
  completeness.map(({ resource, declared, fetched, duplicates, gaps, suspectedShifts, failed = 0 }) => {
    const isShort = failed > 0 || (declared !== null && fetched < declared);
    return html`<tr${isShort && html` class="bad"`}><th scope="row">${resource}</th><td class="n">${declared === null ? '–' : formatCount(declared)}</td>
${[fetched, duplicates, gaps, suspectedShifts].map((count) => html`<td class="n">${formatCount(count)}</td>`)}</tr>`;
  }),
)}
${completeness.flatMap((one) => notesOf(one, run)).map((note) => html`<p class="note">${withCode(note)}</p>`)}</section>`;
}

function notesOf({ resource, failed = 0, records, increment }: CompletenessSummary, run: string): string[] {
  const { outside = 0, discarded = 0, drifted = 0 } = records ?? {};
  return [
    failed > 0 &&
      `${resource}: ${formatCount(failed)} ${failed === 1 ? 'request' : 'requests'} failed: ${adviceFor({ run }, 'retry-failed puts them back.')}`,
    outside > 0 && `${resource}: ${formatCount(outside)} outside of the increment, left out.`,
    discarded > 0 && `${resource}: ${formatCount(discarded)} dropped as they do not fit the schema.`,
    drifted > 0 && `${resource}: ${formatCount(drifted)} kept though they do not fit the schema.`,
    increment !== undefined && `${resource}: ${incrementFacts(increment)}.`,
  ].filter((note) => note !== false);
}

/** What has changed since the run before. */
export function driftSection({ summary: { drift } }: ReportData): Markup | null {
  if (drift === null || drift.length === 0) return null;
  return html`<section aria-labelledby="drift"><h2 id="drift">Changed since the run before</h2>
<ul>${drift.map((change) => html`<li>${driftText(change)}</li>`)}</ul></section>`;
}

export function datasetSection({ datasets, summary: { exports } }: ReportData): Markup | null {
  if (datasets.length === 0 && exports.length === 0) return null;
  return html`<section aria-labelledby="datasets"><h2 id="datasets">Datasets</h2>
${datasets.map(schema)}
${exports.length > 0 && html`<h3>Files</h3><ul>${exports.map((path) => html`<li><code>${path}</code></li>`)}</ul>`}</section>`;
}

function schema({ name, count, sampled, fields, moreFields }: DatasetProfile): Markup {
  const looked = sampled < count ? `, fields by the first ${formatCount(sampled)}` : '';
  return html`<details id="dataset-${name}"><summary>${name}: ${formatCount(count)} records, ${formatCount(fields.length + moreFields)} fields${looked}</summary>
${table(
  `Fields of ${name}`,
  html`<tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col" class="n">Null</th><th scope="col" class="n">Missing</th></tr>`,
  fields.map(
    ({
      path,
      types,
      nullShare,
      missingShare,
    }) => html`<tr><th scope="row"><code>${path}</code></th><td>${types.join(', ') || 'always null'}</td>
<td class="n">${nullShare > 0 ? formatShare(nullShare) : ''}</td><td class="n">${missingShare > 0 ? formatShare(missingShare) : ''}</td></tr>`,
  ),
)}${moreFields > 0 && html`<p class="note">and ${formatCount(moreFields)} more fields</p>`}</details>`;
}

export function configSection({ config }: ReportData): Markup | null {
  if (config === null) return null;
  return html`<section aria-labelledby="config"><h2 id="config">Configuration</h2>
<details id="config-text"><summary>As used, secrets left out</summary><pre tabindex="0">${stringify(config)}</pre></details></section>`;
}

function table(label: string, head: Markup, rows: readonly Markup[]): Markup {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead>${head}</thead><tbody>${rows}</tbody></table></div>`;
}
