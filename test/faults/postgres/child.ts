import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openPostgresRun, type PostgresRunStore } from '../../../src/storage/postgres/open.ts';
import type { LeasedRequest, UnitOfWork } from '../../../src/storage/store.ts';
import { type Done, requestsOf, type Task } from './task.ts';

const task = JSON.parse(process.argv[2] ?? '') as Task;

const clock: Clock = { ...systemClock, wallMs: () => systemClock.wallMs() + task.skewMs };
const ports = { clock, random: Math.random, log: silentLog };
const done: Done = { committed: 0, lost: 0, added: 0 };

function say(message: unknown): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()));
}

function heard(): Promise<unknown> {
  return new Promise((resolve) => process.once('message', resolve));
}

function unitOf({ url, lease }: LeasedRequest): UnitOfWork {
  return {
    lease,
    outcome: { kind: 'handled', result: 'succeeded', reason: null, patch: null },
    records: [{ dataset: 'default', json: JSON.stringify({ url }) }],
    requests: [],
    values: [],
    columns: [],
  };
}

async function commit(store: PostgresRunStore, requests: readonly LeasedRequest[]): Promise<void> {
  for (const { status } of await store.queue.commit(requests.map(unitOf))) done[status] += 1;
}

async function work(store: PostgresRunStore): Promise<void> {
  for (;;) {
    const { leaseMs, batch } = task;
    const claim = await store.queue.claim({ limit: batch, perHost: batch, skipHosts: new Set(), leaseMs });
    if (claim.requests.length > 0) {
      await say('claimed');
      await commit(store, claim.requests);
    } else if (claim.nextDueAtMs === null) return;
    else {
      await say('idle');
      await clock.sleep(Math.min(Math.max(claim.nextDueAtMs - clock.wallMs(), 1), 200));
    }
  }
}

async function hold(store: PostgresRunStore): Promise<void> {
  const { leaseMs, batch } = task;
  const { requests } = await store.queue.claim({ limit: batch, perHost: batch, skipHosts: new Set(), leaseMs });
  await say(requests.map(({ url }) => url));
  await heard();
  await commit(store, requests);
}

async function add(store: PostgresRunStore): Promise<void> {
  const all = requestsOf(task.count);
  if (task.isReverse) all.reverse();
  await say('ready');
  await heard();
  for (let start = 0; start < all.length; start += task.batch) {
    const results = await store.queue.add(all.slice(start, start + task.batch));
    done.added += results.filter(({ wasAlreadyPresent }) => !wasAlreadyPresent).length;
  }
}

const store = await openPostgresRun({ url: task.url, name: task.run, ports });
await { work, hold, add }[task.kind](store);
await store.close();
await say(done);
process.disconnect();
