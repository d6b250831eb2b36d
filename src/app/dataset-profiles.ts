import type { SchemaDrift } from '../core/summary.ts';
import { FAILURES_DATASET, INVALID_DATASET } from '../crawl/failure-record.ts';
import { rowsByPage } from '../export/rows.ts';
import { driftBetween } from '../report/dataset-drift.ts';
import { type DatasetProfile, profileDataset } from '../report/dataset-profile.ts';
import type { DatasetStore, RunStore, ValueStore } from '../storage/store.ts';

const OWN_PREFIX = 'profile/';
const EARLIER_PREFIX = 'profile-before/';
// Ours, and there only when something went wrong: they say nothing of the API.
const NOT_COMPARED: ReadonlySet<string> = new Set([FAILURES_DATASET, INVALID_DATASET]);

/** What a run's datasets look like, and how that differs from the run of its name before. */
export type RunProfile = { profiles: readonly DatasetProfile[]; drift: SchemaDrift[] | null };

export const NO_PROFILE: RunProfile = { profiles: [], drift: null };

/**
 * Looks at the datasets of a run; one that is whole leaves what it saw to the next run of its name.
 * @param options.isComparable whether it is whole: finished, and no sample
 * @returns drift null when there is no earlier run with one of its datasets
 */
export async function profileRun(
  { datasets, values }: Pick<RunStore, 'datasets' | 'values'>,
  { isComparable }: { isComparable: boolean },
): Promise<RunProfile> {
  const profiles = await profilesOf(datasets);
  if (!isComparable) return { profiles, drift: null };
  const compared = profiles.filter(({ name }) => !NOT_COMPARED.has(name));
  let drift: SchemaDrift[] | null = null;
  for (const profile of compared) {
    const before = await values.get<DatasetProfile>(EARLIER_PREFIX + profile.name);
    if (before !== null) drift = [...(drift ?? []), ...driftBetween(before, profile)];
    await values.set(OWN_PREFIX + profile.name, profile);
  }
  return { profiles, drift };
}

/** What a new run of the same name is given of these, by the keys it is to have them under. */
export async function profilesToCarryOver(values: Pick<ValueStore, 'entries'>): Promise<[string, unknown][]> {
  const earlier = await values.entries<unknown>(EARLIER_PREFIX);
  const own = await values.entries<unknown>(OWN_PREFIX);
  const renamed = own.map(([key, profile]): [string, unknown] => [
    EARLIER_PREFIX + key.slice(OWN_PREFIX.length),
    profile,
  ]);
  // A run that was not finished has none of its own: those before it still stand.
  return [...new Map([...earlier, ...renamed])];
}

async function profilesOf(datasets: DatasetStore): Promise<DatasetProfile[]> {
  const profiles: DatasetProfile[] = [];
  for (const dataset of await datasets.list()) {
    if (dataset.count === 0) continue;
    profiles.push(await profileDataset(dataset, rowsByPage((page) => datasets.page(dataset.name, page))()));
  }
  return profiles;
}
