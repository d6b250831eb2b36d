import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkReportFile, writeReportFile } from '../../src/app/report-file.ts';
import { EnvironmentError } from '../../src/core/errors.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-report-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a place that can be written passes, its folder is made, and nothing is left in it', async () => {
  await checkReportFile(join(folder, 'new/deep/r.html'));
  expect(await readdir(join(folder, 'new/deep'))).toEqual([]);
});

test('a report that is there stays as it is', async () => {
  const file = join(folder, 'r.html');
  await writeFile(file, 'old');
  await checkReportFile(file);
  expect(await readFile(file, 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['r.html']);
});

test('a place that cannot be written is refused before anything is begun, with the reason', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  await mkdir(join(folder, 'taken'));
  const refused: [string, string][] = [
    [join(folder, 'taken'), `it is a folder (EISDIR at ${folder}/taken)`],
    [join(file, 'r.html'), `there is a file of that name (EEXIST at ${file})`],
    ['/proc/r.html', 'the system creates nothing there (ENOENT at /proc/r.html.partial)'],
  ];
  for (const [path, reason] of refused) {
    const checked = checkReportFile(path);
    await expect(checked).rejects.toThrow(EnvironmentError);
    await expect(checked).rejects.toThrow(
      `--report ${path} cannot be written: ${reason}. Name another file; nothing was begun.`,
    );
  }
});

test('one that cannot be written in the end says where the page lies all the same', async () => {
  const written = writeReportFile('/proc/r.html', 'page', ' The same page lies in x.html.');
  await expect(written).rejects.toThrow(
    /^The report \/proc\/r\.html cannot be written: .*\. The same page lies in x\.html\.$/,
  );
});
