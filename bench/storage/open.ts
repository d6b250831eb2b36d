// Opens a run with handled and pending requests and claims the first batch: ms, after a clean end and after kill -9.
// node bench/storage/open.ts [handled] [pending]
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import { buildRun } from './build-run.ts';
import { addRequests, claimOptions, fileMb, ports, report, round, scratchFolder } from './common.ts';

const handled = Number(process.argv[2] ?? 1_000_000);
const pending = Number(process.argv[3] ?? 1_000_000);
const ROUNDS = 5;

const { folder, remove } = scratchFolder();
const file = join(folder, 'run.sqlite');
await buildRun(file, { handled, pending, hosts: 20 });

const cleanMs: number[] = [];
for (let i = 0; i < ROUNDS; i++) cleanMs.push(await openAndClaim(file));

// A copy made while the run is open is what a killed process leaves: the log is still to be read.
const killed = join(folder, 'killed.sqlite');
const store = await openSqliteRun({ file, durability: 'normal', ports });
await addRequests(store, { count: 50_000, from: 10_000_000 });
copyFileSync(file, killed);
for (const suffix of ['-wal']) if (existsSync(file + suffix)) copyFileSync(file + suffix, killed + suffix);
await store.close();
const walMb = fileMb(`${killed}-wal`);
const killedMs = await openAndClaim(killed);

report({
  bench: 'open',
  handled,
  pending,
  databaseMb: fileMb(file),
  cleanMs: cleanMs.map((ms) => round(ms, 1)),
  walMb,
  killedMs: round(killedMs, 1),
});
remove();

async function openAndClaim(path: string): Promise<number> {
  const startMs = performance.now();
  const run = await openSqliteRun({ file: path, durability: 'normal', ports });
  const { requests } = await run.queue.claim(claimOptions(100, 5));
  const elapsedMs = performance.now() - startMs;
  if (requests.length !== 100) throw new Error(`${requests.length} requests were claimed instead of 100`);
  await run.queue.release(requests.map(({ lease }) => lease));
  await run.close();
  return elapsedMs;
}
