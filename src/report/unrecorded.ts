import type { Summary } from '../core/summary.ts';
import { formatCount } from './format.ts';

/**
 * Counts of requests are the store's, exact to the last one; statuses, times and hosts are what a process keeps of them
 * beside it, now and then.
 * @returns a sentence where the two differ; null where they do not
 */
export function unrecordedNote({ unrecorded = 0, state, workers }: Summary): string | null {
  if (unrecorded === 0) return null;
  const requests = unrecorded === 1 ? '1 request' : `${formatCount(unrecorded)} requests`;
  return `Rate, latency, statuses and hosts leave out ${requests}: ${reasonOf({ state, workers })}.`;
}

function reasonOf({ state, workers }: Pick<Summary, 'state' | 'workers'>): string {
  if (workers !== null && workers.length > 1) return 'they are those of one worker';
  if (state === 'running') return 'their record is written every few seconds';
  return 'their record died with a killed process';
}
