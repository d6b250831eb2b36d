import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openSqliteRun } from '../../../src/storage/sqlite/open.ts';

const MEGABYTE = 1024 * 1024;
const ports = { clock: systemClock, random: Math.random, log: silentLog };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-checkpoint-'));
});

afterEach(() => rm(folder, { recursive: true }));

test('keeps the log short while much is written, and the database file grows instead', async () => {
  const file = join(folder, 'run.sqlite');
  const store = await openSqliteRun({ file, durability: 'normal', ports });
  const rows = Array.from({ length: 250 }, () => JSON.stringify('x'.repeat(1_000)));
  // 350 MB in all: without checkpoints the log would be as long.
  for (let i = 0; i < 1_400; i++) {
    await store.datasets.push('default', rows);
    if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(statSync(`${file}-wal`).size).toBeLessThan(320 * MEGABYTE);
  expect(statSync(file).size).toBeGreaterThan(100 * MEGABYTE);
  await store.close();
  expect(statSync(file).size).toBeGreaterThan(330 * MEGABYTE);
}, 120_000);
