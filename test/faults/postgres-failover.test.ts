import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { openPostgresRun } from '../../src/storage/postgres/open.ts';
import { Relay } from '../storage/postgres/relay.ts';
import { queryRows, startPostgres, startStandby } from '../storage/postgres/server.ts';
import { requestsOf } from './postgres/task.ts';
import { WorkerProcess } from './postgres/worker-process.ts';

const ports = { clock: systemClock, random: Math.random, log: silentLog };
const REPLICATING = { settings: ['wal_level=replica', 'hot_standby=on'] };
const COUNT = 6_000;

test('the primary is killed and its standby promoted: workers go on there, nothing is lost, nothing doubled', async () => {
  const primary = await startPostgres(REPLICATING);
  const standby = await startStandby(primary, REPLICATING);
  const relay = await Relay.open(primary.port);
  const url = primary.url.replace(`:${primary.port}/`, `:${relay.port}/`);
  const store = await openPostgresRun({ url, name: 'run', ports });
  const workers: WorkerProcess[] = [];
  try {
    await store.queue.add(requestsOf(COUNT));
    await untilReplicated(primary.url);
    for (let i = 0; i < 3; i++) workers.push(new WorkerProcess({ url, run: 'run', kind: 'work' }));
    await Promise.all(workers.map((worker) => worker.next()));
    process.kill(primary.pid()!, 'SIGKILL');
    // For a moment it is there, but only reads.
    relay.leadTo(standby.port);
    await systemClock.sleep(1_500);
    const beforehand = (await store.queue.counts()).succeeded;
    expect(beforehand).toBeLessThan(COUNT);
    await queryRows(standby.url, 'SELECT pg_promote()');
    const done = await Promise.all(workers.map((worker) => worker.done()));
    expect(done.reduce((sum, { committed }) => sum + committed, 0)).toBeGreaterThanOrEqual(COUNT - beforehand);
    expect(await store.queue.counts()).toEqual({ total: COUNT, succeeded: COUNT, failed: 0, skipped: 0, pending: 0 });
    const rows = await store.datasets.page('default', { afterSeq: 0, limit: 2 * COUNT });
    const urls = rows.map(({ json }) => (JSON.parse(json) as { url: string }).url);
    expect(urls).toHaveLength(COUNT);
    expect(new Set(urls).size).toBe(COUNT);
  } finally {
    for (const worker of workers) await worker.kill();
    await store.close();
    relay.close();
    await standby.end();
    await primary.end();
  }
}, 240_000);

async function untilReplicated(url: string): Promise<void> {
  const sql = 'SELECT count(*)::int AS count FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()';
  for (let tries = 0; tries < 200; tries++) {
    const [row] = await queryRows<{ count: number }>(url, sql);
    if (row?.count === 1) return;
    await systemClock.sleep(100);
  }
  throw new Error('The standby does not follow');
}
