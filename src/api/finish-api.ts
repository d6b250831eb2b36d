import type { CompletenessSummary } from '../core/summary.ts';
import type { ValueStore } from '../storage/store.ts';
import { type ResourceTotals, reckonCompleteness } from './completeness.ts';
import { type CursorValue, compareCursors, type IncrementalState } from './incremental.ts';
import type { ResourceRuntime } from './resource-runtime.ts';

/** Values that the next run of the same name starts with. */
export const CARRIED_OVER_PREFIX = 'increment/';

export function incrementKey(resource: string): string {
  return `${CARRIED_OVER_PREFIX}${resource}`;
}

/** Where a resource's increment went. `held` says why it stayed; null when it moved, or had nowhere to go. */
export type IncrementOutcome = { from: CursorValue; to: CursorValue; held: string | null };

export type FinishedResource = {
  completeness: CompletenessSummary;
  /** Left out by the increment's window, dropped by discardRow, kept though they do not fit. */
  records: { outside: number; discarded: number; drifted: number };
  /** null = not incremental. */
  increment: IncrementOutcome | null;
  /** Its requests that have failed. */
  failed: number;
};

type FinishParts = {
  values: Pick<ValueStore, 'set' | 'entries'>;
  /** Failed requests by label. */
  failures: ReadonlyMap<string, number>;
};

/**
 * Reckons every resource, and moves increments: the records they speak of are durable by then, as the facts are written
 * in their transactions. One stays where it is while a request of the resource, or of one above, has failed: moving it
 * would lose what that request would have brought.
 */
export async function finishApi(
  runtimes: ReadonlyMap<string, ResourceRuntime>,
  parts: FinishParts,
): Promise<FinishedResource[]> {
  const finished: FinishedResource[] = [];
  for (const runtime of runtimes.values()) finished.push(await finishOne(runtime, runtimes, parts));
  return finished;
}

async function finishOne(
  runtime: ResourceRuntime,
  runtimes: ReadonlyMap<string, ResourceRuntime>,
  { values, failures }: FinishParts,
): Promise<FinishedResource> {
  const { name } = runtime.resource;
  const totals = await reckonCompleteness(name, values);
  const failed = lineOf(runtime, runtimes).find((above) => (failures.get(above) ?? 0) > 0);
  const increment = incrementOutcome(runtime, { totals, failed });
  if (increment !== null && increment.to !== increment.from)
    await values.set(incrementKey(name), { value: increment.to } satisfies IncrementalState);
  const { resource, declared, fetched, duplicates, gaps, suspectedShifts } = totals;
  return {
    completeness: { resource, declared, fetched, duplicates, gaps, suspectedShifts },
    records: { outside: totals.outside, discarded: totals.discarded, drifted: totals.drifted },
    increment,
    failed: failures.get(name) ?? 0,
  };
}

/** The resource and those above it. */
function lineOf(runtime: ResourceRuntime, runtimes: ReadonlyMap<string, ResourceRuntime>): string[] {
  const { parent } = runtime.node;
  return [runtime.resource.name, ...(parent === null ? [] : lineOf(runtimes.get(parent)!, runtimes))];
}

function incrementOutcome(
  { window, pagesLeft }: ResourceRuntime,
  { totals, failed }: { totals: ResourceTotals; failed: string | undefined },
): IncrementOutcome | null {
  if (window === null) return null;
  const from = window.startValue;
  const to = totals.cursor !== null && compareCursors(totals.cursor, from) > 0 ? totals.cursor : from;
  const held = heldBecause({ movesState: window.movesState, isSample: Number.isFinite(pagesLeft), failed });
  return { from, to: held === null ? to : from, held };
}

function heldBecause(facts: { movesState: boolean; isSample: boolean; failed: string | undefined }): string | null {
  if (!facts.movesState) return 'endValue is set';
  if (facts.isSample) return 'only a sample was fetched';
  return facts.failed === undefined ? null : `requests of ${facts.failed} have failed`;
}

/** @returns what the summary tells of a resource */
export function completenessOf({ completeness, records, increment, failed }: FinishedResource): CompletenessSummary {
  const hasOthers = Object.values(records).some((count) => count > 0);
  return {
    ...completeness,
    ...(failed > 0 ? { failed } : {}),
    ...(hasOthers ? { records } : {}),
    ...(increment === null ? {} : { increment }),
  };
}
