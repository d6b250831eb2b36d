/**
 * Runs the zoo on a virtual clock:
 * `node bench/zoo/simulate.ts [--cell TEXT] [--not TEXT] [--strategy NAME] [--seeds N] [--seconds N] [--out FILE.md]`;
 * `--bad` shows only what misses a target, `--events` each decision, `--perSecond` what was accepted and refused.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { allCells, type Cell } from './cells.ts';
import { type SimulationResult, seededRandom, simulate } from './simulator.ts';
import { makeStrategy, type StrategyName } from './strategies.ts';
import { judge, trueLimit, type Verdict } from './targets.ts';

const { values } = parseArgs({
  options: {
    cell: { type: 'string', default: '' },
    not: { type: 'string', default: '(none)' },
    strategy: { type: 'string', default: 'millrace' },
    seeds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    out: { type: 'string' },
    events: { type: 'boolean', default: false },
    perSecond: { type: 'boolean', default: false },
    bad: { type: 'boolean', default: false },
  },
});

type Summary = { cell: Cell; worst: Verdict; meanGoodput: number; meanRefusedShare: number; missed: number };

function run(cell: Cell, seed: number): SimulationResult {
  const random = seededRandom(seed);
  const lastChangeMs = Math.max(0, ...(cell.changes ?? []).map((change) => change.atMs));
  const durationMs = lastChangeMs + Number(values.seconds) * 1000;
  const name = values.strategy as StrategyName;
  return simulate({
    cell,
    durationMs,
    random,
    strategy: (clock) =>
      makeStrategy({
        name,
        clock,
        random,
        trueRps: trueLimit(cell),
        onEvent: ({ kind, reason }) => {
          if (values.events) console.log((clock.nowMs() / 1000).toFixed(3), kind, reason);
        },
      }),
  });
}

function perSecond({ accepted, refused }: SimulationResult): string {
  return accepted.map((count, at) => (refused[at] ? `${count}-${refused[at]}` : `${count}`)).join(' ');
}

function summarise(cell: Cell): Summary {
  const verdicts = Array.from({ length: Number(values.seeds) }, (_, seed) => {
    const result = run(cell, seed + 1);
    if (values.perSecond) console.log(perSecond(result));
    return judge(cell, result);
  });
  const mean = (of: (verdict: Verdict) => number): number =>
    verdicts.reduce((sum, verdict) => sum + of(verdict), 0) / verdicts.length;
  return {
    cell,
    worst: verdicts.toSorted((a, b) => b.misses.length - a.misses.length || a.goodput - b.goodput)[0]!,
    meanGoodput: mean(({ goodput }) => goodput),
    meanRefusedShare: mean(({ refusedShare }) => refusedShare),
    missed: verdicts.filter(({ misses }) => misses.length > 0).length,
  };
}

function formatLine({ cell, worst, meanGoodput, meanRefusedShare, missed }: Summary): string {
  const figures = `${meanGoodput.toFixed(3)} / ${(meanRefusedShare * 100).toFixed(2)} %`;
  const misses = missed > 0 ? `${worst.misses.join('; ')} (${missed} of ${values.seeds} runs)` : '';
  const worstText = `worst ${worst.goodput.toFixed(3)} / ${worst.refused}`;
  return `${missed === 0 ? 'ok  ' : 'MISS'} ${cell.name.padEnd(62)} ${figures}  ${worstText}  p50 ${worst.p50Ms.toFixed(0)}  ${misses}`;
}

function formatTable(summaries: readonly Summary[]): string {
  const met = summaries.filter(({ missed }) => missed === 0).length;
  const rows = summaries.map(({ cell, worst, meanGoodput, meanRefusedShare, missed }) => {
    const misses = missed > 0 ? `${worst.misses.join('; ')} (${missed} of ${values.seeds})` : '';
    const refused = `${(meanRefusedShare * 100).toFixed(2)} %`;
    return `| ${cell.name} | ${meanGoodput.toFixed(3)} | ${refused} | ${worst.p50Ms.toFixed(0)} | ${misses} |`;
  });
  return [
    '# The limiter zoo on a virtual clock',
    '',
    `\`node bench/zoo/simulate.ts ${process.argv.slice(2).join(' ')}\`: ${values.seeds} seeds a cell, means; a target missed in any`,
    `of them is named. ${met} of ${summaries.length} cells meet every target in every run. The same governor as on real sockets,`,
    'on a machine that is never busy.',
    '',
    '| limiter | goodput | refused | p50 ms | |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

const cells = allCells().filter(({ name }) => name.includes(values.cell) && !name.includes(values.not));
const summaries: Summary[] = [];
for (const cell of cells) {
  const summary = summarise(cell);
  summaries.push(summary);
  if (!values.bad || summary.missed > 0) console.log(formatLine(summary));
}
console.log(`${summaries.filter(({ missed }) => missed > 0).length} of ${summaries.length} cells miss a target`);
if (values.out !== undefined) await writeFile(values.out, formatTable(summaries));
