import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { type FollowOptions, type FollowPosition, openFollower } from '../../src/export/follow.ts';
import type { StoredRow } from '../../src/export/rows.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-follow-'));
  path = join(folder, 'x.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

class Dataset {
  rows: StoredRow[] = [];
  saved: FollowPosition | null = null;
  warnings: string[] = [];

  push(...jsons: string[]): void {
    for (const json of jsons) this.rows.push({ seq: (this.rows.at(-1)?.seq ?? 0) + 1, json });
  }

  open(options: Partial<FollowOptions> = {}) {
    return openFollower({
      page: async ({ afterSeq, limit }) => this.rows.filter((row) => row.seq > afterSeq).slice(0, limit),
      position: {
        load: async () => this.saved,
        save: async (position) => {
          this.saved = position;
        },
      },
      destination: { path },
      log: { ...silentLog, warn: (message) => void this.warnings.push(message) },
      ...options,
    });
  }
}

const read = () => readFile(path, 'utf8');

test('rows are appended as they are committed, each once', async () => {
  const dataset = new Dataset();
  const follower = await dataset.open();
  expect(await read()).toBe('');
  dataset.push('1', '2');
  expect(await follower.catchUp()).toBe(2);
  dataset.push('3');
  expect(await follower.catchUp()).toBe(1);
  expect(await follower.catchUp()).toBe(0);
  dataset.push('4');
  await follower.close();
  expect(await read()).toBe('1\n2\n3\n4\n');
});

test('calls at the same time do not write a row twice', async () => {
  const dataset = new Dataset();
  const follower = await dataset.open();
  dataset.push(...Array.from({ length: 2_500 }, (_, index) => String(index)));
  expect(await Promise.all([follower.catchUp(), follower.catchUp(), follower.close()])).toEqual([2_500, 0, undefined]);
  expect((await read()).split('\n')).toHaveLength(2_501);
});

test('what was written after the last saved position is cut off and written again', async () => {
  const dataset = new Dataset();
  dataset.push('1', '2');
  await (await dataset.open()).close();
  await appendFile(path, '3\n{"torn');
  dataset.push('3', '4');
  await (await dataset.open()).close();
  expect(await read()).toBe('1\n2\n3\n4\n');
  expect(dataset.warnings).toEqual([]);
});

test('a file that was cut short by somebody else is written anew, and the log says so', async () => {
  const dataset = new Dataset();
  dataset.push('1', '2', '3');
  await (await dataset.open()).close();
  await truncate(path, 3);
  await (await dataset.open()).close();
  expect(await read()).toBe('1\n2\n3\n');
  expect(dataset.warnings).toEqual([`${path} has been changed by somebody else: it is written anew`]);
});

test('a row that may still be replaced is left out, and its replacement comes once', async () => {
  const dataset = new Dataset();
  const isFinal = (row: StoredRow) => !row.json.includes('"error"');
  dataset.push('{"url":"a"}', '{"url":"b","error":"HTTP_500"}', '{"url":"c"}');
  await (await dataset.open({ isFinal })).close();
  dataset.rows.splice(1, 1);
  dataset.push('{"url":"b"}');
  await (await dataset.open({ isFinal })).close();
  expect(await read()).toBe('{"url":"a"}\n{"url":"c"}\n{"url":"b"}\n');
});

test('a file of somebody else is refused and left alone', async () => {
  await writeFile(path, 'precious');
  const dataset = new Dataset();
  await expect(dataset.open()).rejects.toThrow('--force');
  expect(await read()).toBe('precious');
  expect(dataset.saved).toBeNull();
  dataset.push('1');
  await (await dataset.open({ destination: { path, force: true } })).close();
  expect(await read()).toBe('1\n');
});

test('a position that cannot be saved loses and doubles nothing', async () => {
  const dataset = new Dataset();
  let failures = 1;
  const follower = await dataset.open({
    position: {
      load: async () => dataset.saved,
      save: async (position) => {
        if (position.seq > 0 && failures-- > 0) throw new Error('database is locked');
        dataset.saved = position;
      },
    },
  });
  dataset.push('1', '2');
  await expect(follower.catchUp()).rejects.toThrow('locked');
  await follower.close();
  expect(await read()).toBe('1\n2\n');
});

describe('kill -9', () => {
  test('at any moment: no row twice, none missing', async () => {
    const databasePath = join(folder, 'rows.sqlite');
    const database = new DatabaseSync(databasePath);
    database.exec('create table rows (seq integer primary key, json text); create table position (seq, bytes)');
    const insert = database.prepare('insert into rows (json) values (?)');
    for (let row = 0; row < 2_000; row++) insert.run(`{"row":${row},"text":"${'x'.repeat(row % 50)}"}`);
    let kills = 0;
    for (let run = 0; ; run++) {
      const child = spawn(
        process.execPath,
        [join(import.meta.dirname, 'support', 'follow-process.ts'), databasePath, path],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      const timer = run < 6 ? setTimeout(() => child.kill('SIGKILL'), 20 + run * 17) : undefined;
      const [, signal] = await ended;
      clearTimeout(timer);
      if (signal === null) break;
      kills++;
    }
    database.close();
    expect(kills).toBeGreaterThanOrEqual(3);
    const lines = (await read()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).row)).toEqual(Array.from({ length: 2_000 }, (_, row) => row));
  }, 60_000);
});
