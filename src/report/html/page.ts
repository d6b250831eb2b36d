import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { diagnosisSection } from './diagnosis-section.ts';
import { html, type Markup, trusted } from './markup.ts';
import { overview, utc } from './overview.ts';
import type { ReportData } from './report-data.ts';
import {
  completenessSection,
  configSection,
  datasetSection,
  driftSection,
  failureSection,
  hostSection,
  statusSection,
} from './tables.ts';
import { latencySection, throughputSection, timeShareSection } from './time-sections.ts';

/**
 * The report as one HTML file: no network, no script but its own (held to by its content security policy), light and
 * dark by the reader's setting.
 * @param options.liveUrl server-sent events whose messages are `renderMain` of the latest data; a file has none
 */
export function renderReport(data: ReportData, { liveUrl = null }: { liveUrl?: string | null } = {}): string {
  const style = asset('style.css');
  const script = asset('script.js');
  const policy = `default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '${hashOf(script)}'; connect-src ${liveUrl === null ? "'none'" : "'self'"}`;
  return html`<!doctype html>
<html lang="en"${liveUrl !== null && html` data-live="${liveUrl}"`}>
<head><meta charset="utf-8"><title>${data.summary.run}: millrace report</title>
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<style>${trusted(style)}</style></head>
<body>${liveUrl !== null && html`<p id="live" role="status">Connecting…</p>`}<main>${trusted(renderMain(data))}</main>
<script>${trusted(script)}</script></body></html>
`.text;
}

/** What changes while a crawl is watched: all within the page's main element. */
export function renderMain(data: ReportData): string {
  const sections: (Markup | null)[] = [
    overview(data),
    diagnosisSection(data),
    throughputSection(data),
    timeShareSection(data),
    latencySection(data),
    hostSection(data),
    statusSection(data),
    failureSection(data),
    completenessSection(data),
    driftSection(data),
    datasetSection(data),
    configSection(data),
  ];
  const written = utc(new Date(data.writtenAtMs).toISOString());
  return html`${sections}<footer>Written ${written} by millrace. Times are crawling time, from the start of the run.</footer>`
    .text;
}

function asset(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

function hashOf(script: string): string {
  return `sha256-${createHash('sha256').update(script).digest('base64')}`;
}
