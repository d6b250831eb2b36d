import type { Latency } from './latency.ts';

const SLOWED_GOODPUT = 0.75;
const SLOWED_LATENCY = 2.5;
// Of a few answers a second, some more or fewer are chance: counts scatter by the root of what is expected.
const DEVIATIONS = 2;

/**
 * @param facts.goodput answers per second; `expected` = as many as there were at this load
 * @returns whether a server serves fewer and takes longer for each, though nothing more is in flight
 */
export function hasSlowed(facts: {
  goodput: number;
  expected: number;
  latency: Pick<Latency, 'meanMs' | 'leastMs'>;
}): boolean {
  const { goodput, expected, latency } = facts;
  const isFewer = goodput < SLOWED_GOODPUT * expected && expected - goodput > DEVIATIONS * Math.sqrt(expected);
  return isFewer && latency.meanMs > SLOWED_LATENCY * latency.leastMs;
}
