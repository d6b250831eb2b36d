import type { RunPlace } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import type { RunStore } from '../storage/store.ts';
import { openRunAt, readRunAt, runExistsAt, shownPlace, type WorkRun } from './run-access.ts';
import { loadMeta, type RunMeta } from './run-meta.ts';

/**
 * Opens a run that has been begun, for work.
 * @throws UsageError when there is none; EnvironmentError when it is in use
 */
export async function openExistingRun(place: RunPlace, ports: Ports): Promise<{ run: WorkRun; meta: RunMeta }> {
  if (!(await runExistsAt(place, ports))) throw noSuchRun(place);
  const run = await openRunAt(place, ports);
  const meta = await loadMeta(run.store.values);
  if (meta !== null) return { run, meta };
  await run.close();
  throw noSuchRun(place);
}

/** Opens a run to look at it, in use or not. @throws UsageError when there is none */
export async function readExistingRun(place: RunPlace, ports: Ports): Promise<RunStore> {
  const store = await readRunAt(place, ports);
  if (store === null) throw noSuchRun(place);
  return store;
}

export function noSuchRun(place: RunPlace): UsageError {
  return new UsageError(
    `There is no run "${place.run}" in ${shownPlace(place)}. --run names another run, --storage-dir another folder.`,
  );
}
