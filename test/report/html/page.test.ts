import { describe, expect, test } from 'vitest';
import { clockTime, timeAxis, valueAxis } from '../../../src/report/html/axis.ts';
import { html } from '../../../src/report/html/markup.ts';
import { renderMain, renderReport } from '../../../src/report/html/page.ts';
import { buildReportData } from '../../../src/report/html/report-data.ts';
import { createRecorder } from '../../../src/report/recorder.ts';
import { buildSummary } from '../../../src/report/summary.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { HOSTILE, sampleData } from './sample-data.ts';

test('a template escapes what is put in, joins lists and leaves out what is not there', () => {
  const rows = ['<b>', '"x"'].map((text) => html`<li title="${text}">${text}</li>`);
  expect(html`<ul>${rows}${null}${false}${undefined}${0}</ul>`.text).toBe(
    '<ul><li title="&lt;b&gt;">&lt;b&gt;</li><li title="&quot;x&quot;">&quot;x&quot;</li>0</ul>',
  );
});

test('a page of a run that did nothing has no empty section', () => {
  const clock = new FakeClock();
  const recorder = createRecorder({ ports: { clock }, run: 'empty' }).toState();
  const summary = buildSummary({
    recorder,
    state: 'interrupted',
    queue: { total: 0, succeeded: 0, failed: 0, skipped: 0, pending: 0 },
    datasets: [],
    snapshots: [],
    maxConcurrency: 1,
    hostConcurrency: () => 1,
  });
  const main = renderMain(buildReportData({ summary, recorder, writtenAtMs: clock.wallMs() }));
  expect(main).not.toContain('<section');
  expect(main).not.toMatch(/NaN|undefined|Infinity|null/);
  expect(main).toContain('empty <span class="state interrupted">');
});

test('every part of a full run is there, numbers sound, secrets gone', async () => {
  const page = renderMain(await sampleData({ minutes: 5 }));
  for (const heading of [
    'What would make it faster',
    'Throughput',
    'Where the time went',
    'Latency',
    'Hosts',
    'Status codes',
    'Failures',
    'Completeness',
    'Datasets',
    'Configuration',
  ])
    expect(page).toContain(`>${heading}</h2>`);
  expect(page.indexOf('What would make it faster')).toBeLessThan(page.indexOf('Throughput'));
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
  expect(page).not.toContain('s3cret');
  expect(page).toContain('limit of catalogue.shop.example.org');
});

test('refusals are called so, whatever their status, and requests that the figures leave out are told', async () => {
  const data = await sampleData({ minutes: 1 });
  expect(renderMain(data)).toContain('<th scope="col" class="n">Refused</th>');
  expect(renderMain(data)).not.toContain('leave out');
  const short = renderMain({ ...data, summary: { ...data.summary, unrecorded: 1_234 } });
  expect(short).toContain(
    '<p class="note">Rate, latency, statuses and hosts leave out 1,234 requests: their record died with a killed process.</p>',
  );
});

test('the share of what is possible is told where it means something', async () => {
  const data = await sampleData({ minutes: 1 });
  const figures = { theoreticalRps: 35_598, achievedShare: 0.01, durationSecs: 60 };
  const page = (p50: number) =>
    renderMain({ ...data, summary: { ...data.summary, ...figures, latencyMs: { ...data.summary.latencyMs, p50 } } });
  expect(page(20)).toContain('of 35,598 possible');
  expect(page(0.6)).not.toContain('possible');
});

test('the page refers to nothing outside of it, and allows only its own script', async () => {
  const page = renderReport(await sampleData({ minutes: 1 }));
  expect(page).not.toMatch(/(?:src|href)="(?!data:)/);
  expect(page).not.toMatch(/url\(|@import/);
  expect(page).toMatch(/default-src &#39;none&#39;.*script-src &#39;sha256-[^;]+;.*connect-src &#39;none&#39;/);
});

test('text from the network stays text', async () => {
  const page = renderReport(await sampleData({ minutes: 1, extra: true }));
  expect(page).not.toContain(HOSTILE);
  expect(page.match(/<script>/g)).toHaveLength(1);
  expect(page).not.toContain('<img');
});

test('however long the crawl, its page stays below 300 KB', async () => {
  const page = renderReport(await sampleData({ minutes: 30 }));
  expect(page.length).toBeLessThan(300_000);
});

describe('axes', () => {
  const marks = (greatest: number) => valueAxis(greatest, String).ticks.map(({ label }) => label);

  test('values have round marks up to a top above the greatest', () => {
    expect(marks(87)).toEqual(['0', '25', '50', '75', '100']);
    expect(marks(100)).toEqual(['0', '25', '50', '75', '100']);
    expect(marks(0.7)).toEqual(['0', '0.2', '0.4', '0.6000000000000001', '0.8']);
    expect(marks(0)).toEqual(['0', '0.25']);
    expect(valueAxis(1_234, String).top).toBe(1_500);
  });

  test('times have round marks', () => {
    expect(timeAxis(90).map(({ label }) => label)).toEqual(['0 s', '15 s', '30 s', '45 s', '1:00', '1:15', '1:30']);
    expect(timeAxis(0.4).map(({ label }) => label)).toEqual(['0 s', '0.1 s', '0.2 s', '0.3 s', '0.4 s']);
    expect(timeAxis(40 * 86_400).length).toBeLessThan(8);
    expect(clockTime(3_700)).toBe('1:01:40');
  });
});
