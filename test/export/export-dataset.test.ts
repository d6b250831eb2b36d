import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EnvironmentError, UsageError } from '../../src/core/errors.ts';
import { checkDestination } from '../../src/export/destination.ts';
import { type ExportOptions, exportDataset } from '../../src/export/export-dataset.ts';
import { formatOf } from '../../src/export/export-format.ts';
import { type PageReader, rowsByPage } from '../../src/export/rows.ts';
import { columnsOfAll, rowsOf } from './support/rows.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-export-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const JSONS = ['{"id":1,"a":{"b":"x"}}', '{"id":2,"a":{"b":"y"}}', '{"id":3}', '{"id":4}', '{"id":5}'];

function exportTo(name: string, options: Partial<ExportOptions> = {}) {
  const path = name === '-' ? '-' : join(folder, name);
  return exportDataset({
    ...formatOf(path, name === '-' ? 'csv' : null),
    rows: rowsOf(JSONS),
    columns: async () => columnsOfAll(JSONS),
    ...options,
    destination: { path, ...options.destination },
  });
}

const read = (name: string) => readFile(join(folder, name), 'utf8');
const CSV = 'id,a.b\n1,x\n2,y\n3,\n4,\n5,\n';

describe('formats', () => {
  test('the extension decides, .gz compresses', async () => {
    expect(await exportTo('x.csv')).toEqual({
      path: join(folder, 'x.csv'),
      rows: 5,
      bytes: CSV.length,
      complete: true,
    });
    expect(await read('x.csv')).toBe(CSV);
    await exportTo('x.jsonl');
    expect(await read('x.jsonl')).toBe(`${JSONS.join('\n')}\n`);
    await exportTo('x.csv.gz');
    expect(gunzipSync(await readFile(join(folder, 'x.csv.gz'))).toString()).toBe(CSV);
    await exportTo('x.json.gz');
    expect(JSON.parse(gunzipSync(await readFile(join(folder, 'x.json.gz'))).toString())).toHaveLength(5);
    await exportTo('x.parquet');
    expect((await readFile(join(folder, 'x.parquet'))).subarray(-4).toString()).toBe('PAR1');
  });

  test('fields and limit', async () => {
    expect(await exportTo('x.csv', { fields: ['a'], limit: 4 })).toMatchObject({ rows: 4 });
    expect(await read('x.csv')).toBe('a.b\nx\ny\n""\n""\n');
    await exportTo('x.jsonl', { fields: ['a.b'], limit: 2 });
    expect(await read('x.jsonl')).toBe('{"a":{"b":"x"}}\n{"a":{"b":"y"}}\n');
    expect(await exportTo('none.csv', { limit: 0 })).toMatchObject({ rows: 0 });
    expect(await read('none.csv')).toBe('id,a.b\n');
  });

  test('progress counts rows', async () => {
    const seen: number[] = [];
    await exportTo('x.csv', { onProgress: (rows) => seen.push(rows) });
    expect(seen).toEqual([3, 5]);
  });

  test.each(['', ',,', '"', '\n', 'a', '1', '-', '.'])('delimiter %j is refused', async (delimiter) => {
    await expect(exportTo('x.csv', { csv: { delimiter } })).rejects.toThrow(UsageError);
  });
});

describe('files', () => {
  test('one that is there is refused, and stays, unless it is the run’s own or --force', async () => {
    await writeFile(join(folder, 'x.csv'), 'precious');
    await expect(exportTo('x.csv')).rejects.toThrow('--force');
    expect(await read('x.csv')).toBe('precious');
    const path = join(folder, 'x.csv');
    await exportTo('x.csv', { destination: { path, isOwn: (asked) => asked === path } });
    expect(await read('x.csv')).toBe(CSV);
    await writeFile(path, 'precious');
    await exportTo('x.csv', { destination: { path, force: true } });
    expect(await read('x.csv')).toBe(CSV);
  });

  test('one that comes in while writing is not replaced either', async () => {
    const rows = async function* () {
      yield [{ seq: 1, json: JSONS[0] as string }];
      await writeFile(join(folder, 'x.csv'), 'precious');
    };
    await expect(exportTo('x.csv', { rows })).rejects.toThrow(UsageError);
    expect(await read('x.csv')).toBe('precious');
    expect(await readdir(folder)).toEqual(['x.csv']);
  });

  test('a failure half-way leaves the earlier file and nothing else', async () => {
    await writeFile(join(folder, 'x.csv'), 'earlier');
    const path = join(folder, 'x.csv');
    const rows = async function* () {
      yield [{ seq: 1, json: JSONS[0] as string }];
      throw new Error('store gone');
    };
    await expect(exportTo('x.csv', { rows, destination: { path, force: true } })).rejects.toThrow('store gone');
    expect(await read('x.csv')).toBe('earlier');
    expect(await readdir(folder)).toEqual(['x.csv']);
  });

  test('an abort leaves the earlier file and nothing else', async () => {
    const path = join(folder, 'x.csv');
    await writeFile(path, 'earlier');
    const abort = new AbortController();
    const rows = async function* () {
      yield [{ seq: 1, json: JSONS[0] as string }];
      abort.abort();
      yield [{ seq: 2, json: JSONS[1] as string }];
    };
    await expect(exportTo('x.csv', { rows, signal: abort.signal, destination: { path, force: true } })).rejects.toThrow(
      /abort/i,
    );
    expect(await readdir(folder)).toEqual(['x.csv']);
    expect(await read('x.csv')).toBe('earlier');
  });

  test('what a killed export left behind is cleared away when it is an hour old, a younger one is not', async () => {
    const old = join(folder, '.x.csv.0123456789ab.partial');
    await writeFile(old, '');
    await utimes(old, new Date(Date.now() - 4_000_000), new Date(Date.now() - 4_000_000));
    await writeFile(join(folder, '.x.csv.ba9876543210.partial'), '');
    await exportTo('x.csv');
    expect((await readdir(folder)).sort()).toEqual(['.x.csv.ba9876543210.partial', 'x.csv']);
  });

  test('a symbolic link stays one', async () => {
    await writeFile(join(folder, 'real.csv'), 'old');
    await symlink('real.csv', join(folder, 'x.csv'));
    await exportTo('x.csv', { destination: { path: join(folder, 'x.csv'), force: true } });
    expect(await read('real.csv')).toBe(CSV);
    expect((await readdir(folder)).sort()).toEqual(['real.csv', 'x.csv']);
  });

  test('a folder is refused even with --force, a missing folder is named', async () => {
    await mkdir(join(folder, 'x.csv'));
    const path = join(folder, 'x.csv');
    await expect(checkDestination({ path, force: true })).rejects.toThrow('is a folder');
    await expect(exportTo('none/x.csv')).rejects.toThrow('the folder does not exist');
  });

  test.skipIf(process.platform !== 'linux')(
    'what the system refuses in a folder that is there is told as it said it',
    async () => {
      await expect(exportTo('x.csv', { destination: { path: '/proc/x.csv' } })).rejects.toThrow(
        /^\/proc\/x\.csv: the system does not create it \(ENOENT: no such file or directory, open '\/proc\/\.x\.csv\./,
      );
    },
  );

  test('a full disk is a clear message', async () => {
    await expect(exportTo('x.csv', { destination: { path: '/dev/full' }, format: 'csv' })).rejects.toThrow(
      /\/dev\/full: the disk is full/,
    );
    await expect(exportTo('x.csv', { destination: { path: '/dev/full' } })).rejects.toThrow(EnvironmentError);
  });
});

describe('columns that come in while the file is written', () => {
  test('the file is begun anew with them', async () => {
    const jsons = ['{"a":1}', '{"b":2}'];
    let asked = 0;
    const columns = async () => (asked++ === 0 ? ['a'] : ['a', 'b']);
    await exportTo('x.csv', { rows: rowsOf(jsons), columns });
    expect(await read('x.csv')).toBe('a,b\n1,\n,2\n');
    expect(await readdir(folder)).toEqual(['x.csv']);
  });

  test('columns nobody kept are an error', async () => {
    await expect(exportTo('x.csv', { rows: rowsOf(['{"b":2}']), columns: async () => ['a'] })).rejects.toThrow('"b"');
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('standard output', () => {
  test('is written as fast as it is read: a slow reader holds the rows back', async () => {
    let pulled = 0;
    const rows = async function* () {
      for (let batch = 0; batch < 200; batch++) {
        pulled++;
        yield Array.from({ length: 100 }, (_, index) => ({
          seq: batch * 100 + index,
          json: `{"a":"${'x'.repeat(1_000)}"}`,
        }));
      }
    };
    const release: (() => void)[] = [];
    const stdout = new Writable({ highWaterMark: 16_384, write: (_chunk, _encoding, done) => void release.push(done) });
    const done = exportTo('-', { rows, columns: async () => ['a'], destination: { path: '-', stdout } });
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    // A chunk is 256 KB, so about three batches; some chunks wait between the stages.
    expect(pulled).toBeLessThan(20);
    const timer = setInterval(() => release.shift()?.(), 0);
    expect(await done).toMatchObject({ rows: 20_000, complete: true });
    clearInterval(timer);
    expect(stdout.writableEnded).toBe(false);
  });

  test('a reader that has seen enough ends the export without an error', async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
    expect(await exportTo('-', { destination: { path: '-', stdout } })).toMatchObject({ complete: false });
  });
});

test('paging goes by the last row seen, never by counting', async () => {
  const asked: number[] = [];
  const page: PageReader = async ({ afterSeq, limit }) => {
    asked.push(afterSeq);
    return [10, 20, 35, 60]
      .filter((seq) => seq > afterSeq)
      .slice(0, limit)
      .map((seq) => ({ seq, json: `{"id":${seq}}` }));
  };
  await exportTo('x.jsonl', { rows: rowsByPage(page, { rowsPerPage: 3 }) });
  expect(asked).toEqual([0, 35, 60]);
  expect(await read('x.jsonl')).toBe('{"id":10}\n{"id":20}\n{"id":35}\n{"id":60}\n');
});
