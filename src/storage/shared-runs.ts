import type { Ports } from '../core/ports.ts';
import { PostgresDatabase } from './postgres/database.ts';
import { requireCurrentSchema } from './postgres/migrations.ts';
import { openPostgresRun, type PostgresRunStore } from './postgres/open.ts';
import { RunRegistry } from './postgres/run-registry.ts';
import { createFolder, PREVIOUS_SUFFIX, type RunPaths, runPaths } from './runs.ts';

/** A run on PostgreSQL: `database` is its URL; exports and reports lie in `storageDir` on each machine. */
export type SharedRunAddress = { database: string; storageDir: string; name: string; ports: Ports };

// At a low rate each unit would else be a transaction of its own.
const GATHER_MS = 100;

/** A shared run, open for one worker. */
export type OpenSharedRun = { paths: RunPaths; store: PostgresRunStore; close(): Promise<void> };

/**
 * Opens a shared run as one of its workers; it is begun when there is none.
 * @throws UsageError for an impossible name
 * @throws EnvironmentError when the server cannot be reached, refuses, or holds another version
 */
export async function openSharedRun({ database, storageDir, name, ports }: SharedRunAddress): Promise<OpenSharedRun> {
  const paths = runPaths(storageDir, name);
  await createFolder(paths.folder);
  const store = await openPostgresRun({ url: database, name, ports, access: 'join', gatherMs: GATHER_MS });
  return { paths, store, close: () => store.close() };
}

/** Opens a shared run to look at it. @returns null when there is none */
export function readSharedRun({ database, name, ports }: SharedRunAddress): Promise<PostgresRunStore | null> {
  return openPostgresRun({ url: database, name, ports, access: 'read' });
}

/** @returns whether the run has been begun */
export async function sharedRunExists(address: SharedRunAddress): Promise<boolean> {
  return withRegistry(address, false, async (registry) => (await registry.find(address.name)) !== null);
}

/** @returns whether a worker is at work */
export async function isSharedRunInUse(address: SharedRunAddress): Promise<boolean> {
  return withRegistry(address, false, async (registry) => {
    const runId = await registry.find(address.name);
    return runId !== null && (await registry.workers(runId)).some(({ isAlive }) => isAlive);
  });
}

/** Keeps a run as `<name>.previous`, in place of an older one. Does nothing when there is no such run. */
export async function moveSharedToPrevious(address: SharedRunAddress): Promise<void> {
  await withRegistry(address, undefined, (registry) => registry.rename(address.name, address.name + PREVIOUS_SUFFIX));
}

async function withRegistry<T>(
  { database: url, ports }: SharedRunAddress,
  whenEmpty: T,
  action: (registry: RunRegistry) => Promise<T>,
): Promise<T> {
  const database = new PostgresDatabase({ url, ports, maxConnections: 1 });
  try {
    return (await requireCurrentSchema(database)) ? await action(new RunRegistry(database)) : whenEmpty;
  } finally {
    await database.close();
  }
}
