// PostgreSQL's CPU time for one request's whole life: added, claimed, committed with one record of 1 KB.
// node bench/postgres/claim-commit.ts COUNT BATCH HOSTS
import { loadavg } from 'node:os';
import { openPostgresRun } from '../../src/storage/postgres/open.ts';
import { startPostgres } from '../../test/storage/postgres/server.ts';
import { machine } from '../common/machine.ts';
import { addRequests, claimOptions, ports, unitOf } from '../storage/common.ts';
import { serverCpuMs } from './server-cost.ts';

const [count = 0, batch = 0, hosts = 0] = process.argv.slice(2).map(Number);

const server = await startPostgres({ isDurable: true, settings: ['shared_buffers=256MB', 'max_wal_size=4GB'] });
const store = await openPostgresRun({ url: server.url, name: 'bench', ports });
const cpu = (): number => serverCpuMs(server.pid()!);
const bytesOf = async (): Promise<number> => Number((await store.queue.counts()).total);

const begun = cpu();
const startedMs = performance.now();
await addRequests(store, { count, hosts });
const added = { cpuMs: cpu() - begun, wallMs: performance.now() - startedMs };

const claims = { cpuMs: 0, wallMs: 0, count: 0 };
const commits = { cpuMs: 0, wallMs: 0 };
for (;;) {
  const claimCpu = cpu();
  const claimAt = performance.now();
  const { requests } = await store.queue.claim({ ...claimOptions(batch), claimsAgain: true });
  claims.wallMs += performance.now() - claimAt;
  if (requests.length === 0) break;
  claims.count += 1;
  const commitCpu = cpu();
  claims.cpuMs += commitCpu - claimCpu;
  const commitAt = performance.now();
  await store.queue.commit(requests.map(unitOf));
  commits.wallMs += performance.now() - commitAt;
  commits.cpuMs += cpu() - commitCpu;
}
const total = await bytesOf();
await store.close();
const sizes = await sizeOf(server.url);
const us = (ms: number): number => Math.round((ms * 1000) / count);
process.stdout.write(
  `${JSON.stringify({
    bench: 'claim-commit',
    command: `node bench/postgres/claim-commit.ts ${process.argv.slice(2).join(' ')}`,
    ...machine(),
    loadAtEnd: loadavg()[0]!.toFixed(2),
    postgres: sizes.version,
    requests: total,
    batch,
    hosts,
    postgresCpuUs: {
      add: us(added.cpuMs),
      claim: us(claims.cpuMs),
      commit: us(commits.cpuMs),
      claimAndCommit: us(claims.cpuMs + commits.cpuMs),
      whole: us(cpu() - begun),
    },
    wallUs: { add: us(added.wallMs), claim: us(claims.wallMs), commit: us(commits.wallMs) },
    bytesARequest: Math.round(sizes.bytes / count),
  })}\n`,
);
await server.end();

async function sizeOf(url: string): Promise<{ bytes: number; version: string }> {
  const { queryRows } = await import('../../test/storage/postgres/server.ts');
  const [row] = await queryRows<{ bytes: string; version: string }>(
    url,
    `SELECT sum(pg_total_relation_size(c.oid))::text AS bytes, current_setting('server_version') AS version
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'millrace' AND c.relkind = 'r'`,
  );
  return { bytes: Number(row!.bytes), version: row!.version };
}
