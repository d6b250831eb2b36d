import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EnvironmentError } from '../core/errors.ts';
import { makeFolder } from '../storage/make-folder.ts';
import { refusedWrite } from '../storage/refused-write.ts';

/**
 * Tries, before anything is crawled, whether a page can be written where --report says; its folder is made.
 * @throws EnvironmentError that says why it cannot
 */
export async function checkReportFile(path: string): Promise<void> {
  try {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR', path });
    await makeFolder(dirname(path));
    await writeFile(partOf(path), '');
    await rm(partOf(path));
  } catch (error) {
    throw new EnvironmentError(
      `--report ${path} cannot be written: ${refusedWrite(error)}. Name another file; nothing was begun.`,
      { cause: error },
    );
  }
}

/**
 * Writes a file beside its place, then renames it: whoever looks at it never sees half of it.
 * @throws EnvironmentError; `otherwise` says what to do
 */
export async function writeReportFile(path: string, text: string, otherwise = ''): Promise<void> {
  try {
    await writeFile(partOf(path), text);
    await rename(partOf(path), path);
  } catch (error) {
    throw new EnvironmentError(`The report ${path} cannot be written: ${refusedWrite(error)}.${otherwise}`, {
      cause: error,
    });
  }
}

function partOf(path: string): string {
  return `${path}.partial`;
}
