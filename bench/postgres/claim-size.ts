// What a claim costs PostgreSQL with COUNT requests waiting. They are made by the database itself, and without the index of
// unique keys, which a claim does not use: adding ten million takes half an hour.
// node bench/postgres/claim-size.ts COUNT CLAIMS
import { loadavg } from 'node:os';
import { openPostgresRun } from '../../src/storage/postgres/open.ts';
import { runSql, startPostgres } from '../../test/storage/postgres/server.ts';
import { machine, median } from '../common/machine.ts';
import { ports, requestOf } from '../storage/common.ts';
import { serverCpuMs } from './server-cost.ts';

const [count = 0, claims = 0] = process.argv.slice(2).map(Number);
const HOSTS = 10;
const LIMIT = 200;

const server = await startPostgres({ settings: ['shared_buffers=256MB', 'max_wal_size=8GB', 'autovacuum=on'] });
const store = await openPostgresRun({ url: server.url, name: 'bench', ports });
for (let i = 0; i < HOSTS; i++) await store.queue.add([requestOf(i, HOSTS)]);
const table = (name: string): string => `millrace.run_1_${name}`;
await runSql(
  server.url,
  `ALTER TABLE ${table('request')} DROP CONSTRAINT run_1_request_pkey, DROP CONSTRAINT run_1_request_key_key;
   ALTER TABLE ${table('ready')} DROP CONSTRAINT run_1_ready_pkey;
   INSERT INTO ${table('request')} (id, key, host_id, added_at, url)
   SELECT 1000000 + n, md5(n::text)::uuid, 1 + n % ${HOSTS}, 0, 'https://api' || n % ${HOSTS} || '.example.com/v1/items/' || n || '?expand=all'
   FROM generate_series(1, ${count}) n;
   INSERT INTO ${table('ready')} (host_id, rank, request_id, claims, redo)
   SELECT 1 + n % ${HOSTS}, 0, 1000000 + n, 0, false FROM generate_series(1, ${count}) n;
   ALTER TABLE ${table('request')} ADD PRIMARY KEY (id);
   ALTER TABLE ${table('ready')} ADD PRIMARY KEY (host_id, rank, request_id);
   ANALYZE ${table('request')}; ANALYZE ${table('ready')}; CHECKPOINT`,
);
const wallMs: number[] = [];
const options = {
  limit: LIMIT,
  perHost: LIMIT / HOSTS,
  skipHosts: new Set<string>(),
  leaseMs: 600_000,
  claimsAgain: true,
};
for (let i = 0; i < 10; i++) await store.queue.claim(options);
const cpuBefore = serverCpuMs(server.pid()!);
for (let i = 0; i < claims; i++) {
  const startedMs = performance.now();
  const { requests } = await store.queue.claim(options);
  wallMs.push(performance.now() - startedMs);
  if (requests.length !== LIMIT) throw new Error(`Claim ${i} gave ${requests.length}`);
}
const cpuMs = serverCpuMs(server.pid()!) - cpuBefore;
await store.close();
process.stdout.write(
  `${JSON.stringify({
    bench: 'claim-size',
    command: `node bench/postgres/claim-size.ts ${process.argv.slice(2).join(' ')}`,
    ...machine(),
    loadAtEnd: loadavg()[0]!.toFixed(2),
    waiting: count,
    claims,
    of: LIMIT,
    postgresCpuMsAClaim: Number((cpuMs / claims).toFixed(2)),
    medianMs: Number(median(wallMs).toFixed(2)),
  })}\n`,
);
await server.end();
