import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { EnvironmentError, messageOf, UsageError } from '../core/errors.ts';
import { randomHex } from '../core/random.ts';
import { makeFolder } from './make-folder.ts';
import { refusedWrite } from './refused-write.ts';
import { isInUse, type LockRequest, RunLock, whileUnused } from './run-lock.ts';
import { openSqliteRun, type SqliteRunOptions, type SqliteRunStore } from './sqlite/open.ts';
import { openSqliteRunInThread } from './sqlite/open-in-thread.ts';
import type { RunStore } from './store.ts';

/** Where all of one run lies. */
export type RunPaths = {
  name: string;
  folder: string;
  /** Its SQLite file. */
  database: string;
  lock: string;
  exports: string;
  reportJson: string;
  reportHtml: string;
};

/** A run open for work: its store and its lock, closed together. */
export type OpenRun = { paths: RunPaths; store: SqliteRunStore; close(): Promise<void> };

export type OpenRunOptions = Omit<SqliteRunOptions, 'file' | 'access'> & {
  storageDir: string;
  name: string;
  /** own (default): refuses when somebody works on it; join: works beside others. */
  access?: 'own' | 'join';
  /** The database on a thread of its own (default no): see openSqliteRunInThread. */
  inThread?: boolean;
};

/** Which run, and a clock for the short wait until its lock is free. */
export type RunAddress = { storageDir: string; name: string; clock: Clock };

export type RunListing = { name: string; hasPrevious: boolean };

export const PREVIOUS_SUFFIX = '.previous';
const TRASH_SUFFIX = '.removed-';
const LONGEST_NAME = 100;
// Letters of any script, so that people can name a run as they speak; no separator, and no dot in front.
const RUN_NAME = /^[\p{L}\p{N}_-][\p{L}\p{N}_. -]*$/u;

/**
 * @returns the paths of a run; nothing is created
 * @throws UsageError when the name could leave the folder or cannot be a folder's name
 */
export function runPaths(storageDir: string, name: string): RunPaths {
  checkRunName(name);
  const folder = join(storageDir, 'runs', name);
  return {
    name,
    folder,
    database: join(folder, 'run.sqlite'),
    lock: join(folder, 'lock.sqlite'),
    exports: join(folder, 'exports'),
    reportJson: join(folder, 'report.json'),
    reportHtml: join(folder, 'report.html'),
  };
}

/** @throws UsageError that says what is allowed */
export function checkRunName(name: string): void {
  const isFine = RUN_NAME.test(name) && name.length <= LONGEST_NAME && !name.includes('..') && !/[. ]$/.test(name);
  if (isFine && !name.includes(TRASH_SUFFIX)) return;
  throw new UsageError(
    `Run name ${JSON.stringify(name)} is not possible: use 1 to ${LONGEST_NAME} letters, digits, "_", "-", "." and spaces, ` +
      'starting with a letter, digit, "_" or "-", not ending in "." or a space, and without "..".',
  );
}

/**
 * Opens a run for work, creating it when there is none. As owner it frees the leases of workers that are gone.
 * @throws UsageError for an impossible name
 * @throws EnvironmentError when the run is in use, damaged, of a newer version, or cannot be written
 */
export async function openRun(options: OpenRunOptions): Promise<OpenRun> {
  const paths = runPaths(options.storageDir, options.name);
  await createFolder(paths.folder);
  const { store, lock } = await openLocked(paths, options);
  const close = async (): Promise<void> => {
    await store.close();
    lock.release();
  };
  return { paths, store, close };
}

async function openLocked(paths: RunPaths, options: OpenRunOptions): Promise<{ store: SqliteRunStore; lock: RunLock }> {
  const { access = 'own', inThread = false, durability, ports, busyTimeoutMs } = options;
  const openFile = inThread ? openSqliteRunInThread : openSqliteRun;
  const settings = { durability, ports, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) };
  const lockRequest = lockOf(paths, options.ports.clock);
  const open = (): Promise<SqliteRunStore> => openFile({ ...settings, file: paths.database, access });
  if (access === 'own') {
    const { lock, value: store } = await RunLock.own(lockRequest, open);
    return { lock, store };
  }
  const lock = await RunLock.join(lockRequest);
  try {
    return { lock, store: await open() };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Opens a run to look at it, whether or not somebody works on it.
 * @returns null when there is no such run
 */
export async function readRun(options: Omit<OpenRunOptions, 'access' | 'inThread'>): Promise<RunStore | null> {
  const { database } = runPaths(options.storageDir, options.name);
  if (!(await exists(database))) return null;
  return openSqliteRun({ ...options, file: database, access: 'read' });
}

/** @returns whether the run has been begun */
export async function runExists(storageDir: string, name: string): Promise<boolean> {
  return exists(runPaths(storageDir, name).database);
}

/** @returns the runs of a storage folder, by name; those kept as previous are named with their run */
export async function listRuns(storageDir: string): Promise<RunListing[]> {
  const names = new Set(await foldersIn(join(storageDir, 'runs')));
  const isRun = (name: string): boolean => !name.endsWith(PREVIOUS_SUFFIX) && !name.includes(TRASH_SUFFIX);
  return [...names]
    .filter(isRun)
    .sort()
    .map((name) => ({ name, hasPrevious: names.has(name + PREVIOUS_SUFFIX) }));
}

/**
 * Keeps a run as `<name>.previous`, in place of an older one, by one rename. Does nothing when there is no such run.
 * @throws EnvironmentError when it is in use
 */
export async function moveToPrevious({ storageDir, name, clock }: RunAddress): Promise<void> {
  const paths = runPaths(storageDir, name);
  if (!(await exists(paths.folder))) return;
  const previous = paths.folder + PREVIOUS_SUFFIX;
  await whileUnused(lockOf(paths, clock), async () => {
    await discard(previous);
    await rename(paths.folder, previous);
  });
}

/** @returns whether a process works on the run now */
export async function isRunInUse({ storageDir, name, clock }: RunAddress): Promise<boolean> {
  const paths = runPaths(storageDir, name);
  return (await exists(paths.folder)) && isInUse(lockOf(paths, clock));
}

/** Takes a folder out of the way at once, then deletes it; what a killed process left half deleted goes too. */
async function discard(folder: string): Promise<void> {
  const trash = `${folder}${TRASH_SUFFIX}`;
  if (await exists(folder)) await rename(folder, trash + randomHex(4));
  const parent = join(folder, '..');
  for (const name of await foldersIn(parent)) {
    const path = join(parent, name);
    if (path.startsWith(trash)) await rm(path, { recursive: true, force: true });
  }
}

/** @throws EnvironmentError when it cannot be created */
export async function createFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    const message = `The folder ${folder} cannot be created: ${refusedWrite(error)}. Name another place by --storage-dir.`;
    throw new EnvironmentError(message, { cause: error });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw new EnvironmentError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw new EnvironmentError(`The folder ${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

function lockOf({ lock, name }: RunPaths, clock: Clock): LockRequest {
  return { file: lock, title: `Run "${name}"`, clock };
}
