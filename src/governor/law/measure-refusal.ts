import type { Goodput } from './goodput.ts';

const LEAST_MEASURED_MS = 200;
const LATENCIES_TO_MEASURE = 4;
// A refused request says that the rate was above the measured one by at most so much.
const PACE_SLACK = 1.05;

/** What is known when a request is refused; `inFlight` counts it. */
export type RefusalFacts = {
  nowMs: number;
  inFlight: number;
  /** Since the key was opened last. */
  openMs: number;
  /** The rate it was held at; null = only slots held it back. */
  paceRps: number | null;
  goodput: Goodput;
  /** Mean; 0 = not known. */
  latencyMs: number;
};

/** @returns the rate that was refused, per second, and how many were in flight */
export function measureAtRefusal(facts: RefusalFacts): { goodput: number; openMs: number; inFlight: number } {
  const { nowMs, inFlight, openMs, paceRps, goodput, latencyMs } = facts;
  const lastSecond = goodput.perSecond(nowMs, 1000);
  if (paceRps !== null) {
    // The first answers take a latency to come: until a few of those have passed, the pace is the better measure.
    const isMeasured = openMs >= Math.max(LEAST_MEASURED_MS, LATENCIES_TO_MEASURE * latencyMs);
    return { goodput: isMeasured ? Math.min(lastSecond, PACE_SLACK * paceRps) : paceRps, openMs, inFlight };
  }
  const measured = Math.max(lastSecond, goodput.perSecond(nowMs, 500), goodput.perSecond(nowMs, 200));
  const bySlots = latencyMs > 0 ? ((inFlight - 1) * 1000) / latencyMs : measured;
  // Little's law: what was served in the last second had at least so many in flight, whatever is left now.
  const served = Math.floor((lastSecond * latencyMs) / 1000);
  return { goodput: Math.max(measured, bySlots), openMs, inFlight: Math.max(inFlight, served + 1) };
}
