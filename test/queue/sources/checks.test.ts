import { copyFileSync, utimesSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { SourceSpec } from '../../../src/config/crawl-job.ts';
import { listFileSpec } from '../../../src/config/source-specs.ts';
import { silentLog } from '../../../src/core/log.ts';
import { sourcesFingerprint } from '../../../src/queue/sources/fingerprint.ts';
import { MalformedReport } from '../../../src/queue/sources/malformed-report.ts';
import { requireUrls } from '../../../src/queue/sources/require-urls.ts';
import { fileSpec, temporaryFile } from './collect.ts';

describe('requireUrls', () => {
  const check = (specs: readonly SourceSpec[], mayBeEmpty = false): Promise<void> =>
    requireUrls(specs, { defaults: { method: 'GET', body: null }, stdin: Readable.from([]), mayBeEmpty });
  const stdin: SourceSpec = { kind: 'stdin', format: 'auto', urlColumn: null };
  const missing: SourceSpec = {
    kind: 'file',
    path: '/nowhere/urls.txt',
    name: 'urls.txt',
    format: 'text',
    urlColumn: null,
  };

  test('accepts lists of which one has a URL somewhere', async () => {
    await check([fileSpec('empty.txt', ''), fileSpec('urls.txt', `${'# comment\n'.repeat(3_000)}https://a.b/`)]);
  });

  test('says of lists without a URL what they have instead', async () => {
    await expect(check([fileSpec('empty.txt', '\n# nothing\n'), fileSpec('bad.txt', 'x\ny')])).rejects.toThrow(
      [
        'empty.txt has no URL: nothing but blank lines and comments.',
        'bad.txt has no URL that can be crawled. Malformed: 2 lines, the first of them 1: x is not an absolute URL.',
      ].join('\n'),
    );
  });

  test('lets lists be empty beside standard input, or where there is more to crawl', async () => {
    await check([fileSpec('empty.txt', ''), stdin]);
    await check([fileSpec('empty.txt', '')], true);
  });

  test('lists every file that cannot be read, and every column that is not there', async () => {
    const folder: SourceSpec = { ...missing, path: '/', name: 'folder' };
    const specs = [missing, folder, fileSpec('a.csv', 'id,link\n', 'url'), fileSpec('ok.txt', 'https://a.b/')];
    await expect(check(specs)).rejects.toThrow(
      [
        'urls.txt: there is no such file.',
        'folder: it is a folder, not a file.',
        'a.csv has no column "url". Its columns: id, link.',
      ].join('\n'),
    );
  });
});

describe('sourcesFingerprint', () => {
  test('is of path and content, not of the time or the name in messages', async () => {
    const path = temporaryFile('urls.txt', 'https://a.b/1');
    const spec = listFileSpec({ path, name: 'urls.txt', urlColumn: null });
    const before = await sourcesFingerprint([spec]);
    utimesSync(path, 1, 1);
    expect(await sourcesFingerprint([{ ...spec, name: '../urls.txt' }])).toBe(before);
    expect(before).toMatch(/^[0-9a-f]{64}$/);
  });

  test('differs by content, by path, by column and by order', async () => {
    const path = temporaryFile('urls.csv', 'url\nhttps://a.b/1');
    const spec = listFileSpec({ path, name: 'x', urlColumn: null });
    copyFileSync(path, `${path}.copy.csv`);
    const copied = listFileSpec({ path: `${path}.copy.csv`, name: 'x', urlColumn: null });
    const changed = fileSpec('urls.csv', 'url\nhttps://a.b/2');
    const lists = [[spec], [copied], [changed], [{ ...spec, urlColumn: 'url' }], [spec, copied], [copied, spec], []];
    const prints = await Promise.all(lists.map((list) => sourcesFingerprint(list)));
    expect(new Set(prints).size).toBe(lists.length);
  });

  test('of a file that is gone is an error with its path', async () => {
    const spec = listFileSpec({ path: '/nowhere/urls.txt', name: 'urls.txt', urlColumn: null });
    await expect(sourcesFingerprint([spec])).rejects.toThrow(/^\/nowhere\/urls\.txt cannot be read: ENOENT/);
  });
});

test('malformed lines are told in full up to 20, the others as a sum for each source', () => {
  const warnings: string[] = [];
  const report = new MalformedReport({ ...silentLog, warn: (message) => warnings.push(message) });
  for (let line = 1; line <= 25; line++) report.add({ source: 'a.txt', line, reason: 'x is not an absolute URL' });
  report.add({ source: 'b.txt', line: 7, reason: 'x is not an absolute URL' });
  expect(warnings).toHaveLength(20);
  expect(warnings[0]).toBe('a.txt:1: x is not an absolute URL; skipped');
  report.end();
  expect(warnings.slice(20)).toEqual([
    'a.txt: malformed and skipped as well: 5 lines, from 21 to 25',
    'b.txt: malformed and skipped as well: line 7',
  ]);
  expect(report.count).toBe(26);
});
