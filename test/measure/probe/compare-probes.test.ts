import { expect, test } from 'vitest';
import { compareProbes, printComparison, readSavedProbe } from '../../../src/measure/probe/compare-probes.ts';
import type { Outlook, ProbeReport, UrlProbe } from '../../../src/measure/probe/probe-report.ts';

const URL_A = 'https://api.example.com/items/1';

function report(region: string | null, latencyMs: number, outlook: Partial<Outlook> = {}): ProbeReport {
  const probe = {
    url: URL_A,
    roundTripMs: latencyMs - 20,
    serverMs: 20,
    outlook: {
      latencyMs,
      wishedRps: 100,
      concurrency: 1,
      statedRps: null,
      ceilingRps: 50_000 / latencyMs,
      maxConcurrency: 50,
      ...outlook,
    },
  } as UrlProbe;
  const machine = { region } as ProbeReport['machine'];
  return { kind: 'millrace probe', version: 1, madeAt: '2026-01-01T00:00:00.000Z', machine, urls: [probe] };
}

test('the nearest place comes first, with what it gains over the farthest', () => {
  const comparisons = compareProbes([
    { name: 'us', report: report('us-east-1', 120) },
    { name: 'eu', report: report('eu-central-1', 30) },
  ]);
  expect(comparisons[0]?.places.map(({ name, gain }) => [name, gain])).toEqual([
    ['eu (eu-central-1)', 4],
    ['us (us-east-1)', 1],
  ]);
  expect(printComparison(comparisons, { color: false })).toBe(
    [
      URL_A,
      '                       round trip      server   a request     ceiling        gain',
      '  eu (eu-central-1)         10 ms       20 ms       30 ms     1,667/s         x 4',
      '  us (us-east-1)           100 ms       20 ms      120 ms       417/s         x 1',
      '  From eu (eu-central-1) the same number in flight gives 4 times the rate of us (us-east-1).',
    ].join('\n'),
  );
});

test('places that are alike are called so', () => {
  const comparisons = compareProbes([
    { name: 'a', report: report(null, 31) },
    { name: 'b', report: report(null, 30) },
  ]);
  expect(printComparison(comparisons, { color: false })).toContain('The places are alike');
});

test('a stated limit bounds what moving gains', () => {
  const limit = { statedRps: 500, ceilingRps: 500 };
  const comparisons = compareProbes([
    { name: 'far', report: report(null, 200) },
    { name: 'near', report: report(null, 20, limit) },
  ]);
  expect(comparisons[0]?.places[0]?.gain).toBe(2);
  expect(printComparison(comparisons, { color: false })).toContain('up to its stated limit');
});

test('a URL that one place alone has measured is left out', () => {
  expect(compareProbes([{ name: 'a', report: report(null, 31) }])).toEqual([]);
});

test('files that are no saved probe are refused by name', () => {
  expect(() => readSavedProbe('{', 'eu.json')).toThrow('eu.json: this is no JSON');
  expect(() => readSavedProbe('{"kind":"other"}', 'eu.json')).toThrow('eu.json: this is no probe saved by --save');
  expect(readSavedProbe(JSON.stringify(report('eu', 30)), 'eu.json').urls).toHaveLength(1);
});
