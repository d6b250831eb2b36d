import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EnvironmentError } from '../../src/core/errors.ts';
import { makeFolder } from '../../src/storage/make-folder.ts';
import { createFolder } from '../../src/storage/runs.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('a folder', () => {
  test('is made with those above it, by several at once too', async () => {
    const deep = join(folder, 'a/b/c');
    await Promise.all([makeFolder(deep), makeFolder(deep), makeFolder(deep)]);
    expect((await stat(deep)).isDirectory()).toBe(true);
    await makeFolder(deep);
  });

  test('below a virtual file system is refused at once, with where and what to do', async () => {
    const asked = createFolder('/proc/millrace/runs/default');
    await expect(asked).rejects.toThrow(EnvironmentError);
    await expect(asked).rejects.toThrow(
      'The folder /proc/millrace/runs/default cannot be created: the system creates nothing there (ENOENT at /proc/millrace). Name another place by --storage-dir.',
    );
  });

  test('below a file is refused, naming the file', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(createFolder(join(file, 'runs'))).rejects.toThrow(`there is a file of that name (EEXIST at ${file})`);
  });
});
