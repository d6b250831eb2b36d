import { messageOf } from '../core/errors.ts';

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file.',
  EACCES: 'it may not be read: check its permissions.',
  EPERM: 'it may not be read: check its permissions.',
  EISDIR: 'it is a folder, not a file.',
  ENOTDIR: 'a part of its path is a file, not a folder.',
  EMFILE: 'too many files are open: raise the limit (ulimit -n).',
};

/** @returns one line: why a file cannot be read */
export function fileProblem(name: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return `${name}: ${REASONS[code] ?? messageOf(error)}`;
}
