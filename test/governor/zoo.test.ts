import { expect, test } from 'vitest';
import { allCells, type Cell } from '../../bench/zoo/cells.ts';
import { type SimulationResult, seededRandom, simulate } from '../../bench/zoo/simulator.ts';
import { makeStrategy } from '../../bench/zoo/strategies.ts';
import { judge, trueLimit } from '../../bench/zoo/targets.ts';

/** Cells of bench/zoo that stand for the others; all of them run by `node bench/zoo/simulate.ts`. */
const CELLS = [
  'token bucket 100/s, 429 ietf',
  'token bucket 20/s, 429 none',
  'token bucket 100/s, 429 retry-after',
  'token bucket 100/s burst 1, 429 none',
  'fixed window 1 s 100/s, 429 x-ratelimit',
  'fixed window 1 s 100/s, 429 none',
  'fixed window 10 s 20/s, 429 none',
  'fixed window 10 s 100/s, 429 x-ratelimit',
  'sliding log 100/s, 429 none',
  'sliding log 100/s, 503 none',
  'concurrency 10, 429 none',
  'leaky bucket 20/s, 429 none',
  'adaptive 100/s, 429 none',
  'no limit, 429 retry-after',
  'no limit, 429 none, 1 % fail with 503',
  'no limit, 429 none, 3 % fail with 503',
  'token bucket 100/s, 429 none, 1 % fail with 503',
  'token bucket 100/s, 503 none, 0.2 % fail with 503',
  'token bucket 100/s, 503 none, 1 % fail with 503',
  'token bucket 100/s, 429 none, halved and restored',
  'token bucket 100/s, 429 none, half eaten by another client',
];

function cellNamed(name: string): Cell {
  const cell = allCells().find((one) => one.name === name);
  if (cell === undefined) throw new Error(`no such cell: ${name}`);
  return cell;
}

/** One minute after the last change of a cell, and what the governor said of it. */
function run(cell: Cell, seed: number): SimulationResult & { reasons: string[] } {
  const random = seededRandom(seed);
  const reasons: string[] = [];
  const onEvent = ({ reason }: { reason: string }): void => void reasons.push(reason);
  const result = simulate({
    cell,
    durationMs: (cell.changes?.at(-1)?.atMs ?? 0) + 60_000,
    random,
    strategy: (clock) => makeStrategy({ name: 'millrace', clock, random, trueRps: trueLimit(cell), onEvent }),
  });
  return { ...result, reasons };
}

test.for(CELLS)('meets its targets on a virtual clock: %s', (name) => {
  const cell = cellNamed(name);
  expect(judge(cell, run(cell, 1)).misses).toEqual([]);
});

test('a level that faults told of is forgotten once far more is served, not when only the pace is far above it', () => {
  const served = expect.stringContaining('serves far more than what it seemed to refuse');
  expect(run(cellNamed('no limit, 429 none, 1 % fail with 503'), 22).reasons).toContainEqual(served);
  // Two slots hold the sends back there, so the pace rises on and on.
  const slow: Cell = { ...cellNamed('token bucket 100/s burst 2, 429 none'), refusalStatus: 503 };
  expect(run(slow, 1).reasons).not.toContainEqual(served);
});
