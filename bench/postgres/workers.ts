// One worker and several on one run, against a server on this machine that limits nothing. What is compared is the CPU time
// that one request takes of each process, between two moments at which all are at work: other work on the machine changes
// the rate, but hardly that. In turns, and with one worker that has as few to do as each of the several: a process that has just
// started takes more for each request, whoever is beside it.
// node bench/postgres/workers.ts URLS WORKERS ROUNDS
import { loadavg } from 'node:os';
import { type Started, Workplace } from '../../test/e2e/millrace.ts';
import { type LimitedServer, serveLimited } from '../../test/e2e/shared-limit.ts';
import { startPostgres, type TestServer } from '../../test/storage/postgres/server.ts';
import { machine } from '../common/machine.ts';
import { processCpuMs, serverCpuMs } from './server-cost.ts';

const [whole = 0, most = 0, rounds = 0] = process.argv.slice(2).map(Number);
const UNLIMITED = { requestsPerSecond: 1_000_000, burst: 1_000_000 };
const FROM = 0.3;
const TO = 0.9;
const SETTINGS = ['--no-discovery', '--max-concurrency-per-host', '200', '--json'];

type Moment = { atMs: number; seen: number; workersMs: number; postgresMs: number; apiMs: number };
type Played = { server: LimitedServer; database: TestServer; workers: Started[] };

function momentOf({ server, database, workers }: Played): Moment {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    seen: server.seen.length,
    workersMs: workers.reduce((sum, { child }) => sum + processCpuMs(child.pid!), 0),
    postgresMs: serverCpuMs(database.pid()!),
    apiMs: (user + system) / 1_000,
  };
}

async function untilSeen(server: LimitedServer, seen: number): Promise<void> {
  while (server.seen.length < seen) await new Promise((resolve) => setTimeout(resolve, 5));
}

type Arm = { workers: number; count: number };

async function play({ workers, count }: Arm, run: string): Promise<Record<string, number>> {
  const server = await serveLimited(UNLIMITED);
  const database = await startPostgres();
  const place = await Workplace.open();
  const urls = Array.from({ length: count }, (_, i) => `${server.url}/items/${i}`);
  await place.write('urls.txt', urls.join('\n'));
  const start = (args: string[]): Started =>
    place.start([...args, ...SETTINGS, '--run', run], { MILLRACE_DATABASE_URL: database.url });
  const all = [start(['crawl', 'urls.txt', '--no-export'])];
  for (let i = 1; i < workers; i++) all.push(start(['worker']));
  const played = { server, database, workers: all };
  await untilSeen(server, FROM * count);
  const from = momentOf(played);
  await untilSeen(server, TO * count);
  const to = momentOf(played);
  const ended = await Promise.all(all.map(({ finished }) => finished));
  const failed = ended.find(({ code }) => code !== 0);
  if (failed) throw new Error(failed.stderr);
  await place.remove();
  await database.end();
  await server.close();
  return { workers, urls: count, ...costs(from, to), loadAtEnd: Number(loadavg()[0]!.toFixed(1)) };
}

/** CPU of each kind of process, us a request. */
function costs(from: Moment, to: Moment): Record<string, number> {
  const requests = to.seen - from.seen;
  const us = (key: 'workersMs' | 'postgresMs' | 'apiMs'): number =>
    Math.round(((to[key] - from[key]) * 1_000) / requests);
  const [workersUs, postgresUs, apiUs] = [us('workersMs'), us('postgresMs'), us('apiMs')];
  const seconds = (to.atMs - from.atMs) / 1_000;
  const totalUs = workersUs + postgresUs + apiUs;
  return {
    workersUs,
    postgresUs,
    apiUs,
    totalUs,
    requestsPerSecond: Math.round(requests / seconds),
    coresUsed: Number(((totalUs * requests) / 1e6 / seconds).toFixed(2)),
  };
}

const ARMS: readonly Arm[] = [
  { workers: 1, count: whole / most },
  { workers: 1, count: whole },
  { workers: most, count: whole },
];
const results = [];
for (let round = 0; round < rounds; round++)
  for (const [index, arm] of ARMS.entries()) results.push(await play(arm, `r${round}-${index}`));
process.stdout.write(
  `${JSON.stringify({ bench: 'workers', command: `node bench/postgres/workers.ts ${process.argv.slice(2).join(' ')}`, ...machine(), results })}\n`,
);
process.exit(0);
