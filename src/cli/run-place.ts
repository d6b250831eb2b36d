import { resolve } from 'node:path';
import type { RunPlace } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Arguments } from './arguments.ts';
import type { Edge } from './run-cli.ts';

const DEFAULT_RUN = 'default';
const DEFAULT_STORAGE_DIR = 'storage';

// It names a folder: no separators, no hidden files, and nothing a shell would expand.
const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * The run that --run and --storage-dir (or CRAWLEE_STORAGE_DIR) name.
 * @throws UsageError when the name cannot be a folder's
 */
export function runPlaceOf(args: Arguments, edge: Pick<Edge, 'cwd' | 'env'>): RunPlace {
  const run = args.text('--run') ?? DEFAULT_RUN;
  if (!RUN_NAME.test(run)) {
    throw new UsageError(
      `--run: "${run}" cannot be the name of a run. Use letters, digits, ".", "_" and "-", a letter or digit first, 100 at most.`,
    );
  }
  const folder = args.text('--storage-dir') || edge.env.CRAWLEE_STORAGE_DIR || DEFAULT_STORAGE_DIR;
  return { run, storageDir: resolve(edge.cwd, folder) };
}
