import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EnvironmentError, messageOf } from '../core/errors.ts';
import { loadBlob, saveBlob } from './blob.ts';
import type { PlatformRecords } from './platform.ts';

const RECORD = 'MILLRACE-LIST';
const PATIENCE_MS = 120_000;

/**
 * Fetches lists of URLs into files. A list is kept in the key-value store, so that a run goes on with the same one after
 * its container is gone.
 * @returns absolute paths, in order
 * @throws EnvironmentError when a list cannot be fetched
 */
export async function fetchLists(
  urls: readonly string[],
  { records, folder, signal }: { records: PlatformRecords; folder: string; signal: AbortSignal },
): Promise<string[]> {
  const files: string[] = [];
  for (const [index, url] of urls.entries()) {
    const file = join(folder, `list-${index + 1}`);
    const name = `${RECORD}-${index + 1}`;
    if (!(await loadBlob(records, name, file))) {
      await fetchList(url, file, signal);
      await saveBlob(records, name, file);
    }
    files.push(file);
  }
  return files;
}

async function fetchList(url: string, file: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
  } catch (error) {
    throw new EnvironmentError(`The list of URLs at ${url} cannot be fetched: ${messageOf(error)}`, { cause: error });
  }
}
