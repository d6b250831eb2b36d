import { EnvironmentError } from '../../core/errors.ts';

// https://www.sqlite.org/rescode.html: primary result codes are the low byte of the extended ones.
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}

/** @returns whether another connection was in the way: the same again may work. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/** @returns whether SQLite found the file damaged. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

/**
 * Says what SQLite met in words that help: the file, what it means, what to do.
 * @returns an EnvironmentError for what lies outside of the program, else the error itself
 */
export function explainSqliteError(error: unknown, file: string): unknown {
  const options = { cause: error };
  switch (resultCode(error)) {
    case CORRUPT:
    case NOT_A_DATABASE:
      return new EnvironmentError(damaged(file, error), options);
    case FULL:
      return new EnvironmentError(
        `The disk is full: ${file} could not grow. What was committed is safe; free some space and start again to continue.`,
        options,
      );
    case READONLY:
    case CANNOT_OPEN:
      return new EnvironmentError(
        `${file} cannot be opened for writing: check that its folder exists and is yours.`,
        options,
      );
    case IO_ERROR:
      return new EnvironmentError(
        `The disk failed while ${file} was read or written (${reasonOf(error)}). What was committed before is safe if the disk is.`,
        options,
      );
    default:
      return error;
  }
}

function damaged(file: string, error: unknown): string {
  return (
    `${file} is damaged (${reasonOf(error)}). Nothing was overwritten and no new run was started. ` +
    'Keep a copy of its folder. What can still be read is taken over into a new run by ' +
    '`millrace recover --run NAME --to NEW-NAME`: see "A damaged file" in docs/storage.md.'
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'errcode' in error ? `, SQLite code ${error.errcode}` : '';
  return `${error.message}${code}`;
}
