import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it. Step by step: Node's own `recursive` never ends where the system says ENOENT though
 * the folder above is there, as in /proc.
 * @throws the system's error; its `path` is the folder that was refused
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  try {
    await mkdir(folder);
  } catch (error) {
    // Somebody else was quicker; a file of that name is none of theirs.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST' && (await isFolder(folder))))
      throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  // What cannot be looked at is told of by the making.
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ?? false;
}
