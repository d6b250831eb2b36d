import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../core/clock.ts';
import { EnvironmentError } from '../core/errors.ts';
import { explainSqliteError, isBusy } from './sqlite/errors.ts';

/** A held lock. Released by `release`, or by the operating system when the process ends, however it ends. */
export type RunLock = { release(): void };

export type LockRequest = {
  /** The lock database; created when missing. */
  file: string;
  /** How messages call what is locked, for example `Run "default"`. */
  title: string;
  clock: Clock;
};

// Others hold the lock for a moment when they look whether it is held, or while they open the run.
const GRACE_MS = 500;
const RETRY_MS = 10;

/**
 * Takes the run for this process; others may join beside it afterwards.
 *
 * The lock is an open transaction in a database of its own: SQLite's locks are the kernel's, so they vanish with their
 * process, which a PID file does not. EXCLUSIVE proves that nobody else is there; then it is changed to RESERVED, which
 * keeps out other owners and lets joiners read.
 * @param whenAlone runs while nobody else can be there, not even a joiner
 * @throws EnvironmentError when the run is in use
 */
export async function lockAsOwner<T>(
  request: LockRequest,
  whenAlone: () => Promise<T>,
): Promise<{ lock: RunLock; value: T }> {
  const db = await begin(request, 'BEGIN EXCLUSIVE');
  try {
    const value = await whenAlone();
    db.exec('ROLLBACK; BEGIN IMMEDIATE');
    return { lock: { release: () => db.close() }, value };
  } catch (error) {
    db.close();
    throw explain(error, request);
  }
}

/**
 * Does something to a run that nobody uses, such as moving its folder.
 * @throws EnvironmentError when the run is in use
 */
export async function whileUnused<T>(request: LockRequest, action: () => Promise<T>): Promise<T> {
  const db = await begin(request, 'BEGIN EXCLUSIVE');
  try {
    return await action();
  } finally {
    db.close();
  }
}

/**
 * Works on the run beside others.
 * @throws EnvironmentError when an owner keeps it for itself
 */
export async function lockAsJoiner(request: LockRequest): Promise<RunLock> {
  // A transaction takes its SHARED lock at the first read.
  const db = await begin(request, 'BEGIN; SELECT count(*) FROM sqlite_schema');
  return { release: () => db.close() };
}

/** @returns whether somebody works on the run now */
export async function isInUse(request: LockRequest): Promise<boolean> {
  const db = open(request);
  try {
    db.exec('BEGIN EXCLUSIVE');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw explainSqliteError(error, request.file);
  } finally {
    db.close();
  }
}

async function begin(request: LockRequest, sql: string): Promise<DatabaseSync> {
  const { clock } = request;
  const giveUpAtMs = clock.nowMs() + GRACE_MS;
  for (;;) {
    const db = open(request);
    try {
      db.exec(sql);
      return db;
    } catch (error) {
      db.close();
      if (!isBusy(error) || clock.nowMs() >= giveUpAtMs) throw explain(error, request);
    }
    await clock.sleep(RETRY_MS);
  }
}

function open({ file }: LockRequest): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw explainSqliteError(error, file);
  }
}

function explain(error: unknown, { file, title }: LockRequest): unknown {
  if (!isBusy(error)) return explainSqliteError(error, file);
  return new EnvironmentError(
    `${title} is in use by another process. Wait for it to end, use another name (--run NAME), or work beside it (--join).`,
    { cause: error },
  );
}
