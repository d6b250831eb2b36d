/**
 * Draws one real run of the zoo: `node bench/zoo/chart.ts --out FILE.svg [--cell TEXT] [--seconds N]`. What the server
 * accepted each second, what it refused, its limit, and the governor's decisions, numbered; prints them as a list.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { allCells, type Cell } from './cells.ts';
import type { ClientReport } from './client.ts';
import { type Counts, runClient, startServer } from './processes.ts';
import { trueLimit } from './targets.ts';

const WIDTH = 900;
const HEIGHT = 320;
const LEFT = 44;
const TOP = 16;
const BOTTOM = 36;
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;
const SHOWN_KINDS = new Set(['limit-changed', 'parked']);

type Scale = { x: (secs: number) => number; y: (rps: number) => number; secs: number; mostRps: number };

function scaleOf(secs: number, mostRps: number): Scale {
  return {
    secs,
    mostRps,
    x: (at) => LEFT + (at / secs) * (WIDTH - LEFT - 8),
    y: (rps) => TOP + PLOT_HEIGHT - (rps / mostRps) * PLOT_HEIGHT,
  };
}

function path(points: readonly [number, number][], style: string): string {
  const line = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  return `<path d="${line}" fill="none" ${style}/>`;
}

/** The limit over time, as steps. */
function limitPoints(cell: Cell, scale: Scale): [number, number][] {
  const changes = [{ atMs: 0, share: 1 }, ...(cell.changes ?? [])];
  return changes.flatMap(({ atMs, share }, index): [number, number][] => {
    const untilSecs = (changes[index + 1]?.atMs ?? scale.secs * 1000) / 1000;
    const y = scale.y(trueLimit(cell) * share);
    return [
      [scale.x(atMs / 1000), y],
      [scale.x(untilSecs), y],
    ];
  });
}

function axes(scale: Scale): string {
  const rates = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(scale.mostRps * share));
  const secs = Array.from({ length: Math.floor(scale.secs / 20) + 1 }, (_, index) => index * 20);
  const text = 'font-size="11" fill="#555"';
  return [
    ...rates.map(
      (rate) =>
        `<line x1="${LEFT}" x2="${WIDTH - 8}" y1="${scale.y(rate)}" y2="${scale.y(rate)}" stroke="#eee"/>` +
        `<text x="${LEFT - 6}" y="${scale.y(rate) + 4}" text-anchor="end" ${text}>${rate}</text>`,
    ),
    ...secs.map((at) => `<text x="${scale.x(at)}" y="${HEIGHT - 18}" text-anchor="middle" ${text}>${at} s</text>`),
    `<text x="${LEFT}" y="${HEIGHT - 3}" ${text}>requests per second: <tspan fill="#c33">the limit</tspan>, ` +
      '<tspan fill="#26a">accepted</tspan>, <tspan fill="#e80">refused</tspan>; numbers: decisions</text>',
  ].join('\n');
}

function refusals(counts: Counts, scale: Scale): string {
  return counts.refused
    .map((count, at) =>
      count > 0
        ? `<rect x="${scale.x(at)}" y="${scale.y(count)}" width="4" height="${scale.y(0) - scale.y(count)}" fill="#e80"/>`
        : '',
    )
    .join('');
}

function marks(events: ClientReport['events'], scale: Scale): string {
  return events
    .map(({ atMs }, index) => {
      const x = scale.x(atMs / 1000);
      return `<text x="${x.toFixed(1)}" y="${TOP + 8 + (index % 3) * 12}" font-size="10" text-anchor="middle" fill="#333">${index + 1}</text>`;
    })
    .join('\n');
}

function draw(cell: Cell, report: ClientReport, counts: Counts, secs: number): string {
  const events = report.events.filter((event) => SHOWN_KINDS.has(event.kind));
  const scale = scaleOf(secs, Math.ceil((1.4 * trueLimit(cell)) / 20) * 20);
  const accepted = counts.accepted
    .slice(0, secs)
    .map((count, at): [number, number] => [scale.x(at + 0.5), Math.max(TOP, scale.y(count))]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif">`,
    `<title>${cell.name}: requests accepted and refused per second</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    axes(scale),
    refusals(counts, scale),
    path(limitPoints(cell, scale), 'stroke="#c33" stroke-width="1.5" stroke-dasharray="6 3"'),
    path(accepted, 'stroke="#26a" stroke-width="1.5"'),
    marks(events, scale),
    '</svg>',
    '',
  ].join('\n');
}

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    cell: { type: 'string', default: 'token bucket 100/s, 429 none, halved and restored' },
    seconds: { type: 'string', default: '180' },
  },
});
const cell = allCells().find((one) => one.name === values.cell);
if (cell === undefined || values.out === undefined) throw new Error('usage: chart.ts --out FILE.svg [--cell NAME]');
const server = await startServer(cell);
const secs = Number(values.seconds);
const job = { cell, origin: server.origin, strategy: 'millrace' as const, trueRps: cell.rate, timeoutMs: 30_000 };
const report = await runClient({ ...job, sendForMs: secs * 1000 });
const counts = await server.counts();
await server.stop();
await writeFile(values.out, draw(cell, report, counts, secs));
const shown = report.events.filter((event) => SHOWN_KINDS.has(event.kind));
for (const [index, event] of shown.entries()) {
  console.log(`${index + 1}. ${(event.atMs / 1000).toFixed(0)} s: ${event.reason.replace(/^\S+: /, '')}`);
}
console.log(
  `accepted ${counts.accepted.reduce((a, b) => a + b, 0)}, refused ${counts.refused.reduce((a, b) => a + b, 0)}, lost ${report.lost}, doubled ${counts.doubled}`,
);
