import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../core/clock.ts';
import { EnvironmentError } from '../core/errors.ts';
import { explainSqliteError, isBusy } from './sqlite/errors.ts';

/** Another process works on it. */
export class InUseError extends EnvironmentError {}

export type LockRequest = {
  /** The lock database; created when missing. */
  file: string;
  /** How messages call what is locked, for example `Run "default"`. */
  title: string;
  clock: Clock;
  /** How long to wait for somebody who only looks, ms; default 500. */
  graceMs?: number;
};

// Others hold the lock for a moment when they look whether it is held, or while they open the run.
const DEFAULT_GRACE_MS = 500;
const RETRY_MS = 10;

const ALONE = 'BEGIN EXCLUSIVE';
const OWNER = 'BEGIN IMMEDIATE';
// A transaction takes its SHARED lock at the first read.
const JOINER = 'BEGIN; SELECT count(*) FROM sqlite_schema';

// A connection that is garbage collected gives up its lock, so a lock that nobody refers to is referred to from here.
const HELD_LOCKS = new Set<RunLock>();

/**
 * A held lock: an open transaction in a database of its own. SQLite's locks are the kernel's, so they vanish with their
 * process, however it ends, which a PID file does not. EXCLUSIVE proves that nobody else is there; RESERVED keeps out
 * other owners and lets joiners in, who hold SHARED.
 */
export class RunLock {
  readonly #db: DatabaseSync;
  readonly #request: LockRequest;
  #isOwner: boolean;

  private constructor(db: DatabaseSync, request: LockRequest, isOwner: boolean) {
    this.#db = db;
    this.#request = request;
    this.#isOwner = isOwner;
    HELD_LOCKS.add(this);
  }

  /**
   * Takes the run for this process; others may join beside it afterwards.
   * @param whenAlone runs while nobody else can be there, not even a joiner
   * @throws InUseError when somebody is
   */
  static async own<T>(request: LockRequest, whenAlone: () => Promise<T>): Promise<{ lock: RunLock; value: T }> {
    const db = await begin(request, ALONE);
    try {
      const value = await whenAlone();
      const lock = new RunLock(db, request, true);
      await lock.#fallBackTo(OWNER);
      return { lock, value };
    } catch (error) {
      db.close();
      throw explain(error, request);
    }
  }

  /**
   * Works on the run beside others.
   * @throws InUseError while an owner keeps it for itself
   */
  static async join(request: LockRequest): Promise<RunLock> {
    return new RunLock(await begin(request, JOINER), request, false);
  }

  /**
   * Runs `action` if nobody else is there, and keeps everybody out meanwhile.
   * @returns whether it ran; never beside a joiner, nor as one
   */
  async whileAlone(action: () => Promise<void>): Promise<boolean> {
    if (!this.#isOwner) return false;
    this.#db.exec('ROLLBACK');
    const isAlone = tryBegin(this.#db, ALONE);
    try {
      if (isAlone) await action();
    } finally {
      await this.#fallBackTo(OWNER);
    }
    return isAlone;
  }

  release(): void {
    HELD_LOCKS.delete(this);
    if (this.#db.isOpen) this.#db.close();
  }

  /** Between two locks somebody else may have become the owner: then we are beside them. */
  async #fallBackTo(sql: string): Promise<void> {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    this.#isOwner = tryBegin(this.#db, sql);
    while (!this.#isOwner && !tryBegin(this.#db, JOINER)) await this.#request.clock.sleep(RETRY_MS);
  }
}

/**
 * Does something to a run that nobody uses, such as moving its folder.
 * @throws InUseError when somebody does
 */
export async function whileUnused<T>(request: LockRequest, action: () => Promise<T>): Promise<T> {
  const db = await begin(request, ALONE);
  try {
    return await action();
  } finally {
    db.close();
  }
}

/** @returns whether somebody works on the run now */
export function isInUse(request: LockRequest): boolean {
  const db = open(request);
  try {
    return !tryBegin(db, ALONE);
  } catch (error) {
    throw explainSqliteError(error, request.file);
  } finally {
    db.close();
  }
}

async function begin(request: LockRequest, sql: string): Promise<DatabaseSync> {
  const { clock, graceMs = DEFAULT_GRACE_MS } = request;
  const giveUpAtMs = clock.nowMs() + graceMs;
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

function tryBegin(db: DatabaseSync, sql: string): boolean {
  try {
    db.exec(sql);
    return true;
  } catch (error) {
    if (!isBusy(error)) throw error;
    // The SHARED lock is asked for within the transaction.
    if (db.isTransaction) db.exec('ROLLBACK');
    return false;
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
  return new InUseError(
    `${title} is in use by another process. Wait for it to end, use another name (--run NAME), or work beside it (--join).`,
    { cause: error },
  );
}
