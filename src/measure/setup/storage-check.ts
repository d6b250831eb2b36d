import { mkdtemp, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { MIB } from '../../core/units.ts';
import { ok, problem, type SetupCheck, warning } from './check.ts';

const NAME = 'Storage';
const LEAST_FREE_MIB = 200;

/**
 * Writes a file where the runs would lie, and removes it. A folder that is not there yet is not made: the nearest one
 * above it is tried.
 */
export async function checkStorage(storageDir: string): Promise<SetupCheck> {
  const folder = await nearestFolder(storageDir);
  try {
    const tried = await mkdtemp(join(folder, '.millrace-probe-'));
    try {
      await writeFile(join(tried, 'file'), 'x');
    } finally {
      await rm(tried, { recursive: true, force: true });
    }
    return await freeSpace(storageDir, folder);
  } catch (error) {
    return problem(NAME, `${storageDir} cannot be written: ${messageOf(error)}. Name another by --storage-dir.`);
  }
}

async function freeSpace(storageDir: string, folder: string): Promise<SetupCheck> {
  const { bavail, bsize } = await statfs(folder);
  const freeMib = Math.floor((bavail * bsize) / MIB);
  const isThere = folder === storageDir ? '' : ' (not there yet)';
  const text = `${storageDir}${isThere} can be written, ${freeMib} MiB are free`;
  return freeMib >= LEAST_FREE_MIB ? ok(NAME, text) : warning(NAME, `${text}: little for a crawl.`);
}

async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  const parent = dirname(path);
  return found !== null || parent === path ? path : nearestFolder(parent);
}
