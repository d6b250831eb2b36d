import { z } from 'zod';
import { UsageError } from '../../core/errors.ts';
import { formatMs, formatNumber } from '../../report/format.ts';
import { type Painter, painter } from '../../report/terminal.ts';
import type { ProbeReport, UrlProbe } from './probe-report.ts';

/** A saved probe, and what to call it. */
export type NamedReport = { name: string; report: ProbeReport };

const savedSchema = z.looseObject({
  kind: z.literal('millrace probe'),
  version: z.literal(1),
  madeAt: z.string(),
  machine: z.looseObject({ region: z.string().nullable() }),
  urls: z.array(z.looseObject({ url: z.string(), outlook: z.looseObject({ latencyMs: z.number() }).nullable() })),
});

/** @throws UsageError when the text is no saved probe */
export function readSavedProbe(text: string, file: string): ProbeReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file}: this is no JSON, and so no probe saved by --save.`, { cause: error });
  }
  if (savedSchema.safeParse(value).success) return value as ProbeReport;
  throw new UsageError(`${file}: this is no probe saved by --save (of this version).`);
}

/** One URL from every place it was probed at, the fastest first. `gain` = its ceiling over that of the slowest. */
export type Comparison = { url: string; places: { name: string; probe: UrlProbe; gain: number }[] };

/** @returns the URLs that at least two reports have measured. Pure. */
export function compareProbes(reports: readonly NamedReport[]): Comparison[] {
  const urls = [...new Set(reports.flatMap(({ report }) => report.urls.map(({ url }) => url)))];
  return urls.map((url) => ({ url, places: placesOf(url, reports) })).filter(({ places }) => places.length >= 2);
}

function placesOf(url: string, reports: readonly NamedReport[]): Comparison['places'] {
  const measured = reports.flatMap(({ name, report }) => {
    const probe = report.urls.find((candidate) => candidate.url === url);
    return probe === undefined || probe.outlook === null ? [] : [{ name: nameOf(name, report), probe }];
  });
  const ceilings = measured.map(({ probe }) => probe.outlook?.ceilingRps ?? 0);
  const slowest = Math.min(...ceilings);
  return measured
    .map(({ name, probe }) => ({ name, probe, gain: (probe.outlook?.ceilingRps ?? 0) / slowest }))
    .sort((a, b) => b.gain - a.gain);
}

function nameOf(name: string, { machine }: ProbeReport): string {
  return machine.region === null ? name : `${name} (${machine.region})`;
}

/** @returns the comparison for people, without a newline at its end */
export function printComparison(comparisons: readonly Comparison[], { color }: { color: boolean }): string {
  const paint = painter(color);
  return comparisons.map((comparison) => oneComparison(comparison, paint)).join('\n\n');
}

function oneComparison({ url, places }: Comparison, paint: Painter): string {
  const width = Math.max(8, ...places.map(({ name }) => name.length)) + 2;
  const head = `  ${''.padEnd(width)}${['round trip', 'server', 'a request', 'ceiling', 'gain'].map(cell).join('')}`;
  const rows = places.map(({ name, probe, gain }) => {
    const cells = [
      formatMs(probe.roundTripMs),
      formatMs(probe.serverMs),
      formatMs(probe.outlook?.latencyMs ?? null),
      `${formatNumber(probe.outlook?.ceilingRps ?? 0)}/s`,
      `x ${formatNumber(gain)}`,
    ];
    return `  ${name.padEnd(width)}${cells.map(cell).join('')}`;
  });
  return [paint('bold', url), paint('dim', head), ...rows, `  ${verdict(places)}`].join('\n');
}

function verdict(places: Comparison['places']): string {
  const best = places[0];
  const worst = places.at(-1);
  if (best === undefined || worst === undefined || best.gain < LEAST_GAIN)
    return 'The places are alike: moving the crawler would gain nothing.';
  const { statedRps = null, ceilingRps = 0 } = best.probe.outlook ?? {};
  const bound = statedRps !== null && ceilingRps >= statedRps ? ', up to its stated limit' : '';
  return `From ${best.name} the same number in flight gives ${formatNumber(best.gain)} times the rate of ${worst.name}${bound}.`;
}

// Below it the difference is that of two measurements.
const LEAST_GAIN = 1.15;

function cell(text: string): string {
  return text.padStart(12);
}
