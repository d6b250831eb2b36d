// Two processes add the same COUNT requests at the same time, one from the first to the last, the other from the last to the
// first; then the tables are counted. The result is in bench/results/postgres-adders.{json,md}.
// node bench/postgres/adders.ts COUNT
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { openPostgresRun } from '../../src/storage/postgres/open.ts';
import { WorkerProcess } from '../../test/faults/postgres/worker-process.ts';
import { queryRows, startPostgres } from '../../test/storage/postgres/server.ts';
import { machine } from '../common/machine.ts';
import { ports } from '../storage/common.ts';
import { serverCpuMs } from './server-cost.ts';

const count = Number(process.argv[2]);
const BATCH = 2_500;
const ADDERS = 2;

const server = await startPostgres({ isDurable: true, settings: ['shared_buffers=256MB', 'max_wal_size=4GB'] });
const store = await openPostgresRun({ url: server.url, name: 'bench', ports });
const adders = Array.from(
  { length: ADDERS },
  (_, n) => new WorkerProcess({ url: server.url, run: 'bench', kind: 'add', count, batch: BATCH, isReverse: n === 1 }),
);
await Promise.all(adders.map((adder) => adder.next()));
const cpuBefore = serverCpuMs(server.pid()!);
const startedMs = performance.now();
for (const adder of adders) adder.tell('go');
const added = (await Promise.all(adders.map((adder) => adder.done()))).map((done) => done.added);
const wallMs = performance.now() - startedMs;
const cpuMs = serverCpuMs(server.pid()!) - cpuBefore;
const counted = (await store.queue.counts()).total;
await store.close();
const [rows] = await queryRows<{ requests: string; keys: string; ready: string; version: string }>(
  server.url,
  `SELECT (SELECT count(*) FROM millrace.run_1_request)::text AS requests,
     (SELECT count(DISTINCT url) FROM millrace.run_1_request)::text AS keys,
     (SELECT count(DISTINCT request_id) FROM millrace.run_1_ready)::text AS ready, current_setting('server_version') AS version`,
);
await server.end();

const result = {
  bench: 'adders',
  command: `node bench/postgres/adders.ts ${process.argv.slice(2).join(' ')}`,
  ...machine(),
  loadAtEnd: loadavg()[0]!.toFixed(2),
  postgres: rows!.version,
  urls: count,
  adders: ADDERS,
  addedByEach: added,
  seconds: Number((wallMs / 1_000).toFixed(1)),
  offeredPerSecond: Math.round((ADDERS * count * 1_000) / wallMs),
  postgresCpuUsAnOffer: Number(((cpuMs * 1_000) / (ADDERS * count)).toFixed(1)),
  rows: Number(rows!.requests),
  differentUrls: Number(rows!.keys),
  waiting: Number(rows!.ready),
  counted,
};
const isRight = [result.rows, result.differentUrls, result.waiting, counted, added[0]! + added[1]!].every(
  (number) => number === count,
);
const place = (name: string): string => fileURLToPath(new URL(`../results/${name}`, import.meta.url));
const shown = (value: number): string => value.toLocaleString('en-US');
const report = `# Two workers add the same ${shown(count)} URLs

${result.cpu}, ${result.cores} cores, Node ${result.node}, PostgreSQL ${result.postgres}, ${result.date}, load ${result.loadAtEnd} at the end.
\`${result.command}\`: two processes offer the same URLs at the same time, one from the first to the last, the other from the last
to the first, ${shown(BATCH)} at a time; the server syncs its log.

| | |
|---|---:|
| offered | ${shown(ADDERS * count)} |
| added by each | ${added.map(shown).join(' + ')} |
| rows of requests, different URLs among them | ${shown(result.rows)}, ${shown(result.differentUrls)} |
| requests that wait to be claimed | ${shown(result.waiting)} |
| total by the counters | ${shown(counted)} |
| time | ${result.seconds} s: ${shown(result.offeredPerSecond)} a second offered |
| PostgreSQL's CPU for each one offered | ${result.postgresCpuUsAnOffer} us |

${isRight ? 'None is there twice, and none is missing.' : 'THESE FIGURES ARE WRONG: they should all be the same.'}
`;
writeFileSync(place('postgres-adders.json'), `${JSON.stringify(result, null, 2)}\n`);
writeFileSync(place('postgres-adders.md'), report);
process.stdout.write(report);
if (!isRight) process.exitCode = 1;
