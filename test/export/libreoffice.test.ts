import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { CSV_DEFAULTS, csvChunks } from '../../src/export/csv.ts';
import { columnsOfAll, rowsOf, textOf } from './support/rows.ts';

function findOffice(): string | null {
  for (const name of ['soffice', 'libreoffice']) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    } catch {
      // Not this name.
    }
  }
  return null;
}

const office = findOffice();
const folder = mkdtempSync(join(tmpdir(), 'millrace-office-'));
afterAll(() => rmSync(folder, { recursive: true }));

// LibreOffice (Debian: libreoffice-calc) is large: without it the test is skipped, but never with CI=true.
test.skipIf(office === null && process.env.CI !== 'true')(
  'LibreOffice opens the CSV with the right columns and reads every text as it is',
  async () => {
    if (office === null) throw new Error('LibreOffice is not installed: apt-get install libreoffice-calc');
    const jsons = [
      '{"id":1,"name":"Zürich, \\"old\\" town","a":{"b":"two\\nlines"},"tags":["x","y"],"ok":true}',
      '{"id":2,"name":"日本 😀","a":{"b":";"},"tags":[],"ok":false,"x,y":"=1+1"}',
      '{"id":3,"name":"","a":{"b":null},"a.b":"dotted"}',
    ];
    const options = { ...CSV_DEFAULTS, bom: true, lineEnding: 'crlf' as const, escapeFormulas: true };
    const csv = await textOf(csvChunks(rowsOf(jsons), columnsOfAll(jsons), options));
    await writeFile(join(folder, 'data.csv'), csv);
    // To its own format and back: what it shows is what it understood. 44 = comma, 34 = quote, 76 = UTF-8.
    await convert(office, 'ods', 'data.csv', ['--infilter=CSV:44,34,76']);
    await convert(office, 'csv:Text - txt - csv (StarCalc):44,34,76', 'data.ods', []);
    const rows: string[][] = parse(await readFile(join(folder, 'data.csv')), { bom: true });
    expect(rows).toEqual([
      ['id', 'name', 'a.b', 'tags', 'ok', 'x,y', 'a.b_2'],
      ['1', 'Zürich, "old" town', 'two\nlines', '["x","y"]', 'TRUE', '', ''],
      ['2', '日本 😀', ';', '[]', 'FALSE', "'=1+1", ''],
      ['3', '', '', '', '', '', 'dotted'],
    ]);
  },
  120_000,
);

async function convert(program: string, format: string, file: string, options: string[]): Promise<void> {
  await promisify(execFile)(
    program,
    [
      // A profile of its own: neither the user's nor that of a run at the same time.
      `-env:UserInstallation=file://${folder}/profile`,
      '--headless',
      ...options,
      '--convert-to',
      format,
      '--outdir',
      folder,
      join(folder, file),
    ],
    { timeout: 100_000 },
  );
}
