import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { SqliteStorageClient } from '../../../src/storage/crawlee/sqlite-storage-client.ts';
import { openRun } from '../../../src/storage/runs.ts';
import type { ClaimOptions, NewRecord, RunStore, UnitOfWork } from '../../../src/storage/store.ts';
import { faultUrl, requestOf, type Task } from './task.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };
const LONG_LEASE_MS = 600_000;

function say(message: unknown): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()));
}

/** Never: the parent ends us. */
function forever(): Promise<never> {
  process.channel?.ref();
  return new Promise(() => {});
}

function heard(): Promise<string> {
  return new Promise((resolve) => process.once('message', (message) => resolve(String(message))));
}

async function open(storageDir: string, access: 'own' | 'join' = 'own'): Promise<RunStore> {
  return (await openRun({ storageDir, name: 'default', durability: 'normal', ports, access })).store;
}

const claimOptions = (limit: number, leaseMs = LONG_LEASE_MS): ClaimOptions => ({
  limit,
  perHost: limit,
  skipHosts: new Set(),
  leaseMs,
});

function unitOf(url: string, lease: UnitOfWork['lease'], records: readonly NewRecord[]): UnitOfWork {
  const next = Number(url.split('/').at(-1)) + 1_000_000;
  const isFirst = next < 2_000_000;
  const requests = isFirst ? [requestOf(next)] : [];
  return {
    lease,
    outcome: { kind: 'handled', result: 'succeeded', reason: null, patch: null },
    records,
    requests,
    values: [],
    columns: [],
  };
}

const recordOf = (url: string): NewRecord => ({
  dataset: 'default',
  json: JSON.stringify({ url, pad: 'x'.repeat(900) }),
});

async function claimAndWait(task: Task & { kind: 'claim-and-wait' }): Promise<void> {
  const store = await open(task.storageDir, task.access);
  const { requests } = await store.queue.claim(claimOptions(task.limit, task.leaseMs));
  await say(requests.map(({ url }) => url));
  await heard();
  await say(await store.queue.commit(requests.map(({ url, lease }) => unitOf(url, lease, [recordOf(url)]))));
  await forever();
}

/** Claims and commits as fast as it can, until nothing is left. */
async function work({ storageDir }: Task & { kind: 'work' }): Promise<void> {
  const store = await open(storageDir);
  await say('begun');
  for (;;) {
    const { requests } = await store.queue.claim(claimOptions(20));
    if (requests.length === 0) break;
    await store.queue.commit(requests.map(({ url, lease }) => unitOf(url, lease, [recordOf(url)])));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await say('done');
  await forever();
}

/** Records that end the process when half of the batch is written. */
class DeadlyRecords extends Array<NewRecord> {
  override [Symbol.iterator](): ArrayIterator<NewRecord> {
    process.kill(process.pid, 'SIGKILL');
    return super[Symbol.iterator]();
  }
}

async function dieInCommit({ storageDir, limit }: Task & { kind: 'die-in-commit' }): Promise<void> {
  const store = await open(storageDir);
  const { requests } = await store.queue.claim(claimOptions(limit));
  await say(requests.length);
  const deadly = Math.floor(requests.length / 2);
  await store.queue.commit(
    requests.map(({ url, lease }, i) => unitOf(url, lease, i === deadly ? new DeadlyRecords() : [recordOf(url)])),
  );
}

async function commitAndWait({ storageDir, limit }: Task & { kind: 'commit-and-wait' }): Promise<void> {
  const store = await open(storageDir);
  const { requests } = await store.queue.claim(claimOptions(limit));
  const units = requests.map(({ url, lease }) => unitOf(url, lease, [recordOf(url)]));
  const results = await store.queue.commit(units);
  await say({ units, results });
  await forever();
}

async function add({ storageDir, from, to }: Task & { kind: 'add' }): Promise<void> {
  const store = await open(storageDir, 'join');
  const step = Math.sign(to - from);
  let added = 0;
  for (let n = from; n !== to; n += step * 100) {
    const batch = Array.from({ length: 100 }, (_, i) => requestOf(n + step * i));
    for (const { wasAlreadyPresent } of await store.queue.add(batch)) if (!wasAlreadyPresent) added += 1;
  }
  await say(added);
  await forever();
}

async function holdWriteLock({ file, holdMs }: Task & { kind: 'hold-write-lock' }): Promise<void> {
  const db = new DatabaseSync(file);
  db.exec('BEGIN IMMEDIATE');
  await say('held');
  await new Promise((resolve) => setTimeout(resolve, holdMs));
  db.exec('COMMIT');
  await say('released');
  await forever();
}

async function pushAndWait({ storageDir, rows }: Task & { kind: 'push-and-wait' }): Promise<void> {
  const store = await open(storageDir);
  for (let n = 0; n < rows; n++) await store.datasets.push('default', [JSON.stringify({ n, pad: 'x'.repeat(900) })]);
  await say('pushed');
  await forever();
}

async function openAndWait({ storageDir, access }: Task & { kind: 'open-and-wait' }): Promise<void> {
  await open(storageDir, access);
  await say('open');
  await forever();
}

async function useCrawlee({ file }: Task & { kind: 'use-crawlee' }): Promise<void> {
  const client = new SqliteStorageClient({ file });
  const dataset = client.dataset((await client.datasets().getOrCreate('default')).id);
  await dataset.pushItems({ n: 1 });
  const queue = client.requestQueue((await client.requestQueues().getOrCreate('default')).id);
  await queue.addRequest({ url: faultUrl(1), uniqueKey: faultUrl(1) });
  await queue.listAndLockHead({ lockSecs: 600 });
  await say('used');
  await forever();
}

async function perform(task: Task): Promise<void> {
  switch (task.kind) {
    case 'claim-and-wait':
      return claimAndWait(task);
    case 'work':
      return work(task);
    case 'die-in-commit':
      return dieInCommit(task);
    case 'commit-and-wait':
      return commitAndWait(task);
    case 'add':
      return add(task);
    case 'hold-write-lock':
      return holdWriteLock(task);
    case 'push-and-wait':
      return pushAndWait(task);
    case 'open-and-wait':
      return openAndWait(task);
    case 'use-crawlee':
      return useCrawlee(task);
  }
}

await perform(JSON.parse(process.argv[2]!) as Task);
