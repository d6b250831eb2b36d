import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointReply, CheckpointRequest } from './checkpointer.ts';

/** What a checkpoint pragma answers: frames in the log, and how many of them the database file has. */
type Progress = { busy: number; log: number; checkpointed: number };

// A pass copies what was written during the pass before, so each is shorter; a pause of the writer ends it.
const MOST_PASSES = 6;
// 128 MiB of 4 KiB frames: SQLite reads through the whole log when a killed process's file is opened (about 0.2 s).
const LONGEST_LOG_FRAMES = 32_000;
const WRITER_TIMEOUT_MS = 2_000;

const port = parentPort;
if (!port) throw new Error('checkpoint-worker.ts runs in a worker thread');

const db = new DatabaseSync(workerData.file, { timeout: WRITER_TIMEOUT_MS });
db.exec(`PRAGMA synchronous = ${workerData.durability === 'full' ? 'FULL' : 'NORMAL'}`);
const look = db.prepare('PRAGMA wal_checkpoint(NOOP)');
const copy = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
const copyAndRestart = db.prepare('PRAGMA wal_checkpoint(RESTART)');

port.on('message', (request: CheckpointRequest) => {
  if (request === 'close') return close();
  port.postMessage(answer());
});

function answer(): CheckpointReply {
  try {
    checkpoint();
    return { error: null };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function checkpoint(): void {
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    run(copy);
    // With nothing left the next writer begins the log anew by itself.
    if (remaining(run(look)) === 0) return;
  }
  // This makes writers wait for the disk, so not before the log is long; most logs end by a pause.
  if (run(look).log > LONGEST_LOG_FRAMES) run(copyAndRestart);
}

function run(statement: StatementSync): Progress {
  return statement.get() as Progress;
}

function remaining({ log, checkpointed }: Progress): number {
  return log - checkpointed;
}

function close(): void {
  db.close();
  port?.close();
}
