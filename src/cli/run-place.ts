import { resolve } from 'node:path';
import type { RunPlace } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import { DEFAULT_RUN, shellWord } from '../core/run-command.ts';
import type { Arguments } from './arguments.ts';
import type { Edge } from './run-cli.ts';

const DEFAULT_STORAGE_DIR = 'storage';

// It names a folder: no separators, no hidden files, and nothing a shell would expand.
const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * The run that --run and --storage-dir (or CRAWLEE_STORAGE_DIR), or --database, name.
 * @throws UsageError when the name cannot be a folder's
 */
export function runPlaceOf(args: Arguments, edge: Pick<Edge, 'cwd' | 'env'>): RunPlace {
  const run = runNameOf(args, '--run') ?? DEFAULT_RUN;
  const folder = args.text('--storage-dir') || edge.env.CRAWLEE_STORAGE_DIR || DEFAULT_STORAGE_DIR;
  return { run, storageDir: resolve(edge.cwd, folder), ...databaseOf(args, edge), ...typedPlaceOf(args) };
}

function typedPlaceOf(args: Arguments): Pick<RunPlace, 'typedPlace'> {
  const folder = args.text('--storage-dir');
  const typed = [
    folder ? ` --storage-dir ${shellWord(folder)}` : '',
    // It may hold a password: whoever typed it has it.
    args.text('--database') ? ' --database URL' : '',
  ].join('');
  return typed === '' ? {} : { typedPlace: typed };
}

/**
 * The run that an option names; undefined when it was not given.
 * @throws UsageError when the name cannot be a folder's
 */
export function runNameOf(args: Arguments, option: string): string | undefined {
  const run = args.text(option);
  if (run === undefined || RUN_NAME.test(run)) return run;
  throw new UsageError(
    `${option}: "${run}" cannot be the name of a run. Use letters, digits, ".", "_" and "-", a letter or digit first, 100 at most.`,
  );
}

/** The PostgreSQL that --database or MILLRACE_DATABASE_URL names. @throws UsageError when it is no URL of one */
function databaseOf(args: Arguments, { env }: Pick<Edge, 'env'>): Pick<RunPlace, 'database'> {
  const database = args.text('--database') || env.MILLRACE_DATABASE_URL;
  if (!database) return {};
  const url = URL.canParse(database) ? new URL(database) : null;
  // The text is not repeated: it may hold a password.
  if (url?.protocol === 'postgres:' || url?.protocol === 'postgresql:') return { database };
  throw new UsageError(
    `${args.has('--database') ? '--database' : 'MILLRACE_DATABASE_URL'}: must be a URL such as postgres://user@host:5432/database.`,
  );
}
