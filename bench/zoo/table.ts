import type { Cell } from './cells.ts';
import type { StrategyName } from './strategies.ts';
import type { Verdict } from './targets.ts';

/** One run. `lost` = items never answered; `doubled` = items the server served more than once. */
export type Row = Verdict & { cell: Cell; strategy: StrategyName; lost: number; doubled: number; events: number };

type About = { date: string; machine: string; node: string; command: string };

/** @returns the results as Markdown: the governor's cells, then the strategies side by side */
export function formatTable(about: About, rows: readonly Row[]): string {
  const ours = rows.filter((row) => row.strategy === 'millrace');
  const met = ours.filter((row) => row.misses.length === 0 && row.lost === 0).length;
  return [
    '# The limiter zoo',
    '',
    `${about.date.slice(0, 10)}, ${about.machine} (shared with other work), Node ${about.node}. The rows were written last by`,
    `\`${about.command}\`; \`node bench/zoo/run.ts --out bench/results/zoo\` runs them all.`,
    '',
    'Goodput is what the server accepted after settling, as a share of the true limit; refused are the requests it refused',
    'over the whole run, counted by the server. A target missed is named.',
    '',
    `## The governor: ${met} of ${ours.length} cells meet every target`,
    '',
    '| limiter | goodput | refused | p50 ms | lost | doubled | |',
    '|---|---|---|---|---|---|---|',
    ...ours.map(formatRow),
    '',
    ...comparison(rows),
  ].join('\n');
}

function formatRow(row: Row): string {
  const { cell, goodput, refused, refusedShare, p50Ms, lost, doubled, misses } = row;
  const share = `${refused} (${(refusedShare * 100).toFixed(2)} %)`;
  return `| ${cell.name} | ${goodput.toFixed(3)} | ${share} | ${p50Ms.toFixed(0)} | ${lost} | ${doubled} | ${misses.join('; ')} |`;
}

const STRATEGIES: StrategyName[] = ['millrace', 'aimd', 'aws-adaptive', 'fixed'];

/** Goodput / share refused of each strategy, where others were run too. */
function comparison(rows: readonly Row[]): string[] {
  const names = [...new Set(rows.filter((row) => row.strategy !== 'millrace').map((row) => row.cell.name))];
  if (names.length === 0) return [];
  const lines = names.map((name) => {
    const cells = STRATEGIES.map((strategy) => {
      const row = rows.find((one) => one.cell.name === name && one.strategy === strategy);
      return row ? `${row.goodput.toFixed(2)} / ${(row.refusedShare * 100).toFixed(2)} %` : '';
    });
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return [
    '## Strategies behind the same interface: goodput / refused',
    '',
    '| limiter | millrace | AIMD 0.5 | AWS adaptive | fixed at the true limit |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ];
}
