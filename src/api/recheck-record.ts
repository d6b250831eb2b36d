import type { SchemaContract } from '../config/api-schema.ts';
import { siftRecords } from './contract.ts';
import { issueText, withIncluded } from './extract-page.ts';
import { readUserData } from './page-state.ts';
import type { ResourceRuntime } from './resource-runtime.ts';

/** Contracts that keep a record though it does not fit. */
const KEEPING: ReadonlySet<SchemaContract> = new Set(['evolve', 'discardValue']);

/**
 * Checks a record once more that was put into quarantine.
 * @param userData of the request that brought it
 * @returns the record as the contract keeps it, or what is wrong with it
 */
export function recheckRecord(
  { check, resource }: ResourceRuntime,
  record: unknown,
  userData: Record<string, unknown>,
): { record: unknown } | { issues: readonly string[] } {
  const contract = resource.schemaContract;
  const issues = check?.(record) ?? [];
  if (issues.length > 0 && !KEEPING.has(contract)) return { issues: issues.map(issueText) };
  const [kept] = siftRecords([record], check, contract).kept;
  return { record: withIncluded(kept, readUserData(userData).frame) };
}
