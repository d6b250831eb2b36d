// Makes a store slow: holds the write lock of a database again and again, `lock-holder.ts FILE`, until its standard input ends.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const HOLD_MS = 1_200;
const PAUSE_MS = 150;
const file = process.argv[2] ?? '';
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

process.stdin.on('end', () => process.exit(0)).resume();
while (!existsSync(file)) await pause(20);
const database = new DatabaseSync(file, { timeout: 10_000 });
for (;;) {
  database.exec('BEGIN IMMEDIATE');
  await pause(HOLD_MS);
  database.exec('COMMIT');
  await pause(PAUSE_MS);
}
