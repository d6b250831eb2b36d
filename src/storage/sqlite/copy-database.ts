import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { EnvironmentError } from '../../core/errors.ts';

/** From where to where, absolute. `to` must not be there yet. */
export type DatabaseCopy = { from: string; to: string };

/**
 * Copies an SQLite file as it is at one moment, while others write to it, on a thread of its own: all of it is in the one
 * new file, packed as tightly as it goes.
 * @throws EnvironmentError when it cannot be read, or the copy not be written
 */
export async function copyDatabase(copy: DatabaseCopy): Promise<void> {
  const worker = new Worker(new URL('./copy-worker.ts', import.meta.url), { execArgv: [], workerData: copy });
  try {
    await once(worker, 'exit');
  } catch (error) {
    throw new EnvironmentError(`${copy.from} cannot be copied to ${copy.to}: ${String(error)}`, { cause: error });
  }
}
