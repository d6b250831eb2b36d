/** Runs the zoo on a virtual clock: `node bench/zoo/simulate.ts [--cell TEXT] [--seeds N] [--seconds N] [--events]`. */
import { parseArgs } from 'node:util';
import { createGovernor } from '../../src/governor/create-governor.ts';
import { allCells, type Cell } from './cells.ts';
import { type SimulationResult, seededRandom, simulate } from './simulator.ts';
import { GOVERNED } from './strategies.ts';
import { judge } from './targets.ts';

const { values } = parseArgs({
  options: {
    cell: { type: 'string', default: '' },
    not: { type: 'string', default: 'nothing' },
    seeds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    events: { type: 'boolean', default: false },
    perSecond: { type: 'boolean', default: false },
    bad: { type: 'boolean', default: false },
  },
});

function run(cell: Cell, seed: number, durationMs: number): SimulationResult {
  const random = seededRandom(seed);
  return simulate({
    cell,
    durationMs,
    random,
    strategy: (clock) =>
      createGovernor({
        policyOf: () => GOVERNED,
        clock,
        random,
        onEvent: (event) => {
          if (values.events) console.log((clock.nowMs() / 1000).toFixed(3), event.kind, event.reason);
        },
      }),
  });
}

let missed = 0;
for (const cell of allCells().filter(
  (candidate) => candidate.name.includes(values.cell) && !candidate.name.includes(values.not),
)) {
  const last = Math.max(0, ...(cell.changes ?? []).map((change) => change.atMs));
  const durationMs = last + Number(values.seconds) * 1000;
  const verdicts = Array.from({ length: Number(values.seeds) }, (_, seed) => {
    const result = run(cell, seed + 1, durationMs);
    if (values.perSecond)
      console.log(
        result.accepted.map((count, at) => `${count}${result.refused[at] ? `-${result.refused[at]}` : ''}`).join(' '),
      );
    return judge(cell, result);
  });
  const failed = verdicts.filter((verdict) => verdict.misses.length > 0).length;
  missed += failed;
  if (values.bad && failed === 0) continue;
  const worst = verdicts.toSorted((a, b) => b.misses.length - a.misses.length || a.goodput - b.goodput)[0]!;
  const mean = verdicts.reduce((sum, verdict) => sum + verdict.goodput, 0) / verdicts.length;
  const share = verdicts.reduce((sum, verdict) => sum + verdict.refusedShare, 0) / verdicts.length;
  console.log(
    `${failed === 0 ? 'ok  ' : 'MISS'} ${cell.name.padEnd(58)} mean ${mean.toFixed(3)} / ${(share * 100).toFixed(2)} %  worst ${worst.goodput.toFixed(3)} / ${worst.refused}  p50 ${worst.p50Ms.toFixed(0)}  ${worst.misses.join('; ')}${failed ? ` (${failed}/${verdicts.length})` : ''}`,
  );
}
console.log(`${missed} missed`);
