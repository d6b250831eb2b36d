// How long storage keeps the main thread during a crawl at a steady rate, by where checkpoints run.
// 'control' does no storage at all, but as much computing: what the machine's other load costs.
// node bench/storage/latency.ts [requests] [requests/s] [thread|main|storage-thread|control] [durability]
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { type Durability, SqliteDatabase } from '../../src/storage/sqlite/database.ts';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import { openSqliteRunInThread } from '../../src/storage/sqlite/open-in-thread.ts';
import { buildRun } from './build-run.ts';
import {
  claimOptions,
  costFigures,
  fileMb,
  measure,
  ports,
  quantiles,
  report,
  round,
  scratchFolder,
  unitOf,
} from './common.ts';

const count = Number(process.argv[2] ?? 200_000);
const rate = Number(process.argv[3] ?? 8_000);
const where = process.argv[4] ?? 'thread';
const durability = (process.argv[5] ?? 'normal') as Durability;
const BATCH = 100;

const { folder, remove } = scratchFolder();
const file = join(folder, 'run.sqlite');
await buildRun(file, { handled: 1_000_000 - count, pending: count, hosts: 20 });

/** What the main thread does within a call, without what it awaits: the time others are kept waiting. */
const busyMs: number[] = [];
timeTransactions();
if (where === 'main') checkpointOnMain();

const open = where === 'storage-thread' ? openSqliteRunInThread : openSqliteRun;
const store = await open({ file, durability, ports });
const callMs: number[] = [];
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const cost = await measure(async () => {
  const startMs = performance.now();
  let done = 0;
  while (done < count) {
    if (where === 'control') {
      await timed(async () => compute());
      await timed(async () => compute());
      done += BATCH;
      await pauseUntilDue(startMs, done);
      continue;
    }
    const { requests } = await timed(() => store.queue.claim(claimOptions(BATCH, BATCH / 20)));
    if (requests.length === 0) break;
    await timed(() => store.queue.commit(requests.map(unitOf)));
    done += requests.length;
    await pauseUntilDue(startMs, done);
  }
  return done;
});
delay.disable();
report({
  bench: 'latency',
  count,
  rate,
  checkpoints: where,
  durability,
  ...costFigures(cost),
  callMs: quantiles(callMs),
  mainThreadMs: quantiles(busyMs),
  loopDelayP999Ms: round(delay.percentile(99.9) / 1e6, 1),
  walMb: fileMb(`${file}-wal`),
});
await store.close();
remove();

async function pauseUntilDue(startMs: number, done: number): Promise<void> {
  const dueMs = startMs + (done / rate) * 1_000;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
}

/** About 1 ms on one core, like one storage call. */
function compute(): void {
  const startMs = performance.now();
  for (let i = 0; i < 700; i++) hash('sha256', `${i}`);
  busyMs.push(performance.now() - startMs);
}

async function timed<T>(call: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const pending = call();
  // Across a thread, copying is what the call costs here.
  if (where === 'storage-thread') busyMs.push(performance.now() - startMs);
  const result = await pending;
  callMs.push(performance.now() - startMs);
  return result;
}

function timeTransactions(): void {
  const { exec } = DatabaseSync.prototype;
  let startedMs = 0;
  DatabaseSync.prototype.exec = function (sql: string) {
    if (sql.startsWith('BEGIN')) startedMs = performance.now();
    exec.call(this, sql);
    if (sql === 'COMMIT') busyMs.push(performance.now() - startedMs);
  };
}

/** SQLite's own way: whoever commits the thousandth page copies them all. */
function checkpointOnMain(): void {
  const { exec } = SqliteDatabase.prototype;
  SqliteDatabase.prototype.exec = function (sql: string) {
    exec.call(this, sql.replace('wal_autocheckpoint = 0', 'wal_autocheckpoint = 1000'));
  };
}
