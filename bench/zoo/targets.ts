import type { Cell } from './cells.ts';
import type { SimulationResult } from './simulator.ts';

/** How a run measures up to what was asked for. */
export type Verdict = {
  /** Accepted after settling, as a share of the true limit. */
  goodput: number;
  refused: number;
  /** Of all requests. */
  refusedShare: number;
  p50Ms: number;
  misses: string[];
};

type Target = {
  settleSecs: number;
  goodput: number;
  refusedShare: number;
  refusedAtMost: number;
  p50Latencies?: number;
};

/** What is asked for in a cell. */
export function targetOf(cell: Cell): Target {
  const isStated = cell.headers === 'ietf' || cell.headers === 'x-ratelimit';
  const found = { settleSecs: 10, goodput: 0.8, refusedShare: 0.005, refusedAtMost: 6 };
  if (cell.hangsEvery || cell.otherClientRps) return { ...found, goodput: 0.7, refusedShare: 0.02 };
  if (cell.faultShare !== undefined) {
    // Faults are no refusals, and what of the goodput they are cannot be had.
    const served = 1 - cell.faultShare;
    if (cell.limiter === 'no limit') return { ...found, goodput: 0.9 * served, refusedAtMost: 0 };
    return { ...found, goodput: 0.75 * served, refusedShare: 0.01, refusedAtMost: 10 };
  }
  if (cell.changes) return { ...found, refusedShare: 0.01 };
  if (cell.limiter === 'no limit')
    return { ...found, settleSecs: Math.ceil((110 * cell.latencyMs) / 1000) + 1, goodput: 0.9, refusedAtMost: 0 };
  if (cell.burst !== undefined && cell.burst <= 10) return { ...found, goodput: 0.5, refusedShare: 0.05 };
  if (cell.limiter === 'concurrency 10') return { ...found, goodput: 0.78 };
  if (cell.limiter === 'leaky bucket') return { ...found, p50Latencies: 3 };
  if (isStated) return { settleSecs: 5, goodput: 0.95, refusedShare: 0.001, refusedAtMost: 1 };
  if (cell.limiter === 'fixed window 10 s' && cell.headers === 'none')
    return { settleSecs: 30, goodput: 0.75, refusedShare: 0.012, refusedAtMost: 6 };
  return found;
}

/** @returns the true limit of a cell, requests per second, before any change in mid-run */
export function trueLimit(cell: Cell): number {
  if (cell.limiter === 'no limit') return (50 * 1000) / cell.latencyMs;
  if (cell.limiter === 'concurrency 10') return (10 * 1000) / cell.latencyMs;
  return Math.min(cell.rate - (cell.otherClientRps ?? 0), (50 * 1000) / cell.latencyMs);
}

export function judge(cell: Cell, result: Pick<SimulationResult, 'accepted' | 'refused' | 'latenciesMs'>): Verdict {
  const target = targetOf(cell);
  const limit = trueLimit(cell);
  const refused = sum(result.refused);
  const total = refused + sum(result.accepted);
  const until = cell.changes?.[0] ? cell.changes[0].atMs / 1000 : result.accepted.length;
  const goodput = share(result.accepted, target.settleSecs, until, limit);
  const p50Ms = median(result.latenciesMs);
  const misses: string[] = [];
  if (goodput < target.goodput) misses.push(`goodput ${goodput.toFixed(3)} < ${target.goodput}`);
  if (refused > Math.max(target.refusedAtMost, target.refusedShare * total))
    misses.push(`refused ${refused} of ${total}`);
  if (target.p50Latencies && p50Ms > target.p50Latencies * cell.latencyMs) misses.push(`p50 ${p50Ms.toFixed(0)} ms`);
  misses.push(...changeMisses(cell, result, limit));
  return { goodput, refused, refusedShare: refused / Math.max(total, 1), p50Ms, misses };
}

/** After a change: 0.8 of the new limit within 10 s when it fell, within 60 s when it rose. */
function changeMisses(cell: Cell, result: Pick<SimulationResult, 'accepted'>, limit: number): string[] {
  return (cell.changes ?? []).flatMap((change, index) => {
    const before = cell.changes?.[index - 1]?.share ?? 1;
    const withinSecs = change.share < before ? 10 : 60;
    const from = change.atMs / 1000 + withinSecs;
    const reached = bestOf(result.accepted, from - 5, from + 5) / (limit * change.share);
    return reached >= 0.8 ? [] : [`${reached.toFixed(2)} of the new limit after ${withinSecs} s`];
  });
}

/** The best mean of five seconds that begins in a range. */
function bestOf(perSecond: number[], from: number, to: number): number {
  const means = Array.from(
    { length: Math.max(to - from - 4, 1) },
    (_, at) => sum(perSecond.slice(from + at, from + at + 5)) / 5,
  );
  return Math.max(...means);
}

function share(perSecond: number[], from: number, to: number, limit: number): number {
  return sum(perSecond.slice(from, to)) / ((to - from) * limit);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
