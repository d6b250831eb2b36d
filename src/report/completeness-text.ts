import type { CompletenessSummary, SchemaDrift } from '../core/summary.ts';
import { formatCount } from './format.ts';

/** @returns what is known of a resource's completeness, as clauses */
export function completenessFacts({
  declared,
  fetched,
  duplicates,
  gaps,
  suspectedShifts,
  ...more
}: CompletenessSummary): string {
  const { failed = 0, records, increment } = more;
  const all =
    declared === null
      ? `${formatCount(fetched)} records, no total stated`
      : `${formatCount(fetched)} of ${formatCount(declared)} records`;
  const counted: [number, string][] = [
    [failed, failed === 1 ? 'request failed' : 'requests failed'],
    [gaps, 'missing'],
    [duplicates, 'came twice, kept once'],
    [suspectedShifts, 'page borders moved while it was read'],
    [records?.outside ?? 0, 'outside of the increment'],
    [records?.discarded ?? 0, 'dropped as they do not fit'],
    [records?.drifted ?? 0, 'kept though they do not fit'],
  ];
  const others = counted.filter(([count]) => count > 0).map(([count, what]) => `${formatCount(count)} ${what}`);
  return [all, ...others, ...(increment === undefined ? [] : [incrementFacts(increment)])].join('; ');
}

/** @returns where an increment went, and why it did not */
export function incrementFacts({ from, to, held }: NonNullable<CompletenessSummary['increment']>): string {
  if (held !== null) return `the increment stays at ${from}, as ${held}`;
  return from === to ? `the increment is at ${to}` : `the increment moved from ${from} to ${to}`;
}

/** @returns one difference in words */
export function driftText({ dataset, field, change, before, after }: SchemaDrift): string {
  const name = `${dataset}.${field}`;
  if (change === 'added') return `${name} is new: ${after}`;
  if (change === 'removed') return `${name} is gone; it was ${before}`;
  if (change === 'type') return `${name} is ${after}; it was ${before}`;
  return `${name} is null or missing in ${after} of records; it was in ${before}`;
}
