import { CARRIED_OVER_PREFIX } from '../api/finish-api.ts';
import type { ValueStore } from '../storage/store.ts';
import { profilesToCarryOver } from './dataset-profiles.ts';

/** Values that a new run of a name takes over from the one before it: increments, and what its datasets looked like. */
export async function carriedOver(values: Pick<ValueStore, 'entries'>): Promise<[string, unknown][]> {
  return [...(await values.entries<unknown>(CARRIED_OVER_PREFIX)), ...(await profilesToCarryOver(values))];
}
