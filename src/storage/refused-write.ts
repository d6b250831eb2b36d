import { messageOf } from '../core/errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'nothing may be written there: check its permissions',
  EPERM: 'nothing may be written there: check its permissions',
  EROFS: 'the file system is read-only',
  ENOENT: 'the system creates nothing there',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EEXIST: 'there is a file of that name',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
};

/** @returns why a file or folder cannot be written, as a clause, with the system's own code */
export function refusedWrite(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = REASONS[code];
  return reason === undefined ? messageOf(error) : `${reason} (${code}${placeOf(error)})`;
}

function placeOf(error: unknown): string {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? ` at ${error.path}` : '';
}
