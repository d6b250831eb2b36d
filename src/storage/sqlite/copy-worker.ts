import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import type { DatabaseCopy } from './copy-database.ts';

const { from, to }: DatabaseCopy = workerData;
const db = new DatabaseSync(from, { readOnly: true, timeout: 10_000 });
db.prepare('VACUUM INTO ?').run(to);
db.close();
