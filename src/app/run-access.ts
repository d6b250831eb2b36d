import type { RunPlace } from '../config/run-jobs.ts';
import type { Ports } from '../core/ports.ts';
import { isRunInUse, openRun, type RunPaths, readRun, runExists } from '../storage/runs.ts';
import {
  isSharedRunInUse,
  openSharedRun,
  readSharedRun,
  type SharedRunAddress,
  sharedRunExists,
} from '../storage/shared-runs.ts';
import type { RunStore } from '../storage/store.ts';

/** A run open for work, wherever it lies. */
export type WorkRun = { paths: RunPaths; store: RunStore; close(): Promise<void> };

/** @returns the address of a run on PostgreSQL; null for one in the storage folder */
export function sharedAddress({ database, storageDir, run: name }: RunPlace, ports: Ports): SharedRunAddress | null {
  return database === undefined || database === null ? null : { database, storageDir, name, ports };
}

/** Opens a run for work, creating it when there is none. @throws EnvironmentError when it is in use, or unreachable */
export function openRunAt(place: RunPlace, ports: Ports): Promise<WorkRun> {
  const shared = sharedAddress(place, ports);
  if (shared !== null) return openSharedRun(shared);
  return openRun({ storageDir: place.storageDir, name: place.run, durability: 'normal', ports });
}

/** Opens a run to look at it, in use or not. @returns null when there is none */
export function readRunAt(place: RunPlace, ports: Ports): Promise<RunStore | null> {
  const shared = sharedAddress(place, ports);
  if (shared !== null) return readSharedRun(shared);
  return readRun({ storageDir: place.storageDir, name: place.run, durability: 'normal', ports });
}

export function runExistsAt(place: RunPlace, ports: Ports): Promise<boolean> {
  const shared = sharedAddress(place, ports);
  return shared !== null ? sharedRunExists(shared) : runExists(place.storageDir, place.run);
}

/** @returns whether somebody works on the run now */
export function isRunInUseAt(place: RunPlace, ports: Ports): Promise<boolean> {
  const shared = sharedAddress(place, ports);
  if (shared !== null) return isSharedRunInUse(shared);
  return isRunInUse({ storageDir: place.storageDir, name: place.run, clock: ports.clock });
}

/** @returns where runs are looked for, as it may be shown */
export function shownPlace({ database, storageDir }: Pick<RunPlace, 'database' | 'storageDir'>): string {
  return database === undefined || database === null ? storageDir : 'the database';
}
