import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadBlob, saveBlob } from '../../src/actor/blob.ts';
import { RunSnapshot } from '../../src/actor/run-snapshot.ts';
import { copyDatabase } from '../../src/storage/sqlite/copy-database.ts';
import { MemoryRecords } from './memory-records.ts';

let folder: string;
let records: MemoryRecords;
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-snapshot-'));
  records = new MemoryRecords();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a file in the key-value store', () => {
  test('comes back as it was, in parts that a record can hold', async () => {
    // Random bytes do not get smaller.
    const bytes = randomBytes(20_000_000);
    writeFileSync(at('big'), bytes);
    await saveBlob(records, 'FILE', at('big'));
    const sizes = [...records.stored].filter(([key]) => key !== 'FILE').map(([, { length }]) => length);
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThan(9_000_000);
    expect(await loadBlob(records, 'FILE', at('back'))).toBe(true);
    expect(readFileSync(at('back')).equals(bytes)).toBe(true);
  });

  test('is named when it is complete, and the one before is deleted after that', async () => {
    for (const text of ['first', 'second']) {
      writeFileSync(at('file'), text);
      await saveBlob(records, 'FILE', at('file'));
    }
    expect(records.log).toEqual(['set FILE-1-0', 'set FILE', 'set FILE-2-0', 'set FILE', 'delete FILE-1-0']);
    await loadBlob(records, 'FILE', at('back'));
    expect(readFileSync(at('back'), 'utf8')).toBe('second');
  });

  test('that is not there is nothing', async () => {
    expect(await loadBlob(records, 'FILE', at('back'))).toBe(false);
    expect(existsSync(at('back'))).toBe(false);
  });

  test('that is damaged is refused, and does not take the place of a file', async () => {
    writeFileSync(at('file'), 'text');
    await saveBlob(records, 'FILE', at('file'));
    records.stored.delete('FILE-1-0');
    await expect(loadBlob(records, 'FILE', at('back'))).rejects.toThrow('part 1 of 1 is gone');
    await saveBlob(new MemoryRecords(), 'FILE', at('file'));
    writeFileSync(at('other'), 'another text');
    const other = new MemoryRecords();
    await saveBlob(other, 'FILE', at('other'));
    records.stored.set('FILE-1-0', other.stored.get('FILE-1-0')!);
    await expect(loadBlob(records, 'FILE', at('back'))).rejects.toThrow('its parts do not belong together');
    expect(existsSync(at('back'))).toBe(false);
  });
});

describe('a copy of a database', () => {
  test('has what was committed, while a transaction is under way', async () => {
    const db = new DatabaseSync(at('run.sqlite'));
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER); INSERT INTO rows VALUES (1), (2)');
    db.exec('BEGIN IMMEDIATE; INSERT INTO rows VALUES (3)');
    await copyDatabase({ from: at('run.sqlite'), to: at('copy.sqlite') });
    db.exec('COMMIT');
    db.close();
    const copy = new DatabaseSync(at('copy.sqlite'), { readOnly: true });
    expect(copy.prepare('SELECT count(*) AS count FROM rows').get()).toEqual({ count: 2 });
    copy.close();
    expect(existsSync(at('copy.sqlite-wal'))).toBe(false);
  });

  test('of a file that is not there, or onto one that is, says which', async () => {
    const to = at('copy.sqlite');
    await expect(copyDatabase({ from: at('none.sqlite'), to })).rejects.toThrow(
      `${at('none.sqlite')} cannot be copied`,
    );
    new DatabaseSync(at('run.sqlite')).close();
    writeFileSync(to, 'somebody else');
    await expect(copyDatabase({ from: at('run.sqlite'), to })).rejects.toThrow('cannot be copied');
    expect(readFileSync(to, 'utf8')).toBe('somebody else');
  });
});

describe('the state of a run', () => {
  const savedCount = (): number => records.log.filter((entry) => entry === 'set MILLRACE-RUN').length;

  test('is saved now and then: so seldom that it takes at most 5 % of the time', async () => {
    let nowMs = 0;
    // Each look at the clock is 100 ms later: to save takes as long.
    const clock = { nowMs: () => (nowMs += 100) } as never;
    new DatabaseSync(at('run.sqlite')).close();
    const snapshot = new RunSnapshot({ records, clock, database: at('run.sqlite') });
    await snapshot.saveNowAndThen(); // from 200 to 300: not again before 2,300
    nowMs = 2_100;
    await snapshot.saveNowAndThen();
    expect(savedCount()).toBe(1);
    nowMs = 2_200;
    await snapshot.saveNowAndThen();
    expect(savedCount()).toBe(2);
    await snapshot.save();
    expect(savedCount()).toBe(3);
  });

  test('comes back in an empty folder', async () => {
    const clock = { nowMs: () => 0 } as never;
    const db = new DatabaseSync(at('run.sqlite'));
    db.exec('CREATE TABLE rows (id INTEGER); INSERT INTO rows VALUES (7)');
    await new RunSnapshot({ records, clock, database: at('run.sqlite') }).save();
    db.close();
    const database = at('runs/actor/run.sqlite');
    expect(await new RunSnapshot({ records, clock, database }).restore()).toBe(true);
    const restored = new DatabaseSync(database);
    expect(restored.prepare('SELECT id FROM rows').all()).toEqual([{ id: 7 }]);
    restored.close();
    expect(existsSync(at('run.sqlite.copy'))).toBe(false);
  });
});
