import type { RunPlace } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { type OpenRun, openRun, readRun, runExists } from '../storage/runs.ts';
import type { RunStore } from '../storage/store.ts';
import { loadMeta, type RunMeta } from './run-meta.ts';

/**
 * Opens a run that has been begun, for work.
 * @throws UsageError when there is none; EnvironmentError when it is in use
 */
export async function openExistingRun(place: RunPlace, ports: Ports): Promise<{ run: OpenRun; meta: RunMeta }> {
  const { storageDir, run: name } = place;
  if (!(await runExists(storageDir, name))) throw noSuchRun(place);
  const run = await openRun({ storageDir, name, durability: 'normal', ports });
  const meta = await loadMeta(run.store.values);
  if (meta !== null) return { run, meta };
  await run.close();
  throw noSuchRun(place);
}

/** Opens a run to look at it, in use or not. @throws UsageError when there is none */
export async function readExistingRun(place: RunPlace, ports: Ports): Promise<RunStore> {
  const { storageDir, run: name } = place;
  const store = await readRun({ storageDir, name, durability: 'normal', ports });
  if (store === null) throw noSuchRun(place);
  return store;
}

function noSuchRun({ storageDir, run }: RunPlace): UsageError {
  return new UsageError(
    `There is no run "${run}" in ${storageDir}. --run names another run, --storage-dir another folder.`,
  );
}
