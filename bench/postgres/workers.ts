// One worker and several on one run, against a server on this machine that limits nothing: requests/s from the first answer
// to the last, and PostgreSQL's CPU for each request. In turns.
// node bench/postgres/workers.ts URLS WORKERS ROUNDS
import { loadavg } from 'node:os';
import { Workplace } from '../../test/e2e/millrace.ts';
import { serveLimited } from '../../test/e2e/shared-limit.ts';
import { startPostgres } from '../../test/storage/postgres/server.ts';
import { machine } from '../common/machine.ts';
import { serverCpuMs } from './server-cost.ts';

const [count = 0, most = 0, rounds = 0] = process.argv.slice(2).map(Number);
const UNLIMITED = { requestsPerSecond: 1_000_000, burst: 1_000_000 };

async function play(workers: number, run: string): Promise<Record<string, number>> {
  const server = await serveLimited(UNLIMITED);
  const database = await startPostgres();
  const place = await Workplace.open();
  const urls = Array.from({ length: count }, (_, i) => `${server.url}/items/${i}`);
  await place.write('urls.txt', urls.join('\n'));
  const env = { MILLRACE_DATABASE_URL: database.url };
  const settings = ['--no-discovery', '--max-concurrency-per-host', '200', '--no-export', '--run', run, '--json'];
  const all = [place.start(['crawl', 'urls.txt', ...settings], env)];
  for (let i = 1; i < workers; i++)
    all.push(
      place.start(['worker', '--no-discovery', '--max-concurrency-per-host', '200', '--run', run, '--json'], env),
    );
  const ended = await Promise.all(all.map(({ finished }) => finished));
  const failed = ended.find(({ code }) => code !== 0);
  if (failed) throw new Error(failed.stderr);
  const [first, last] = [server.seen[0]!.atMs, server.seen.at(-1)!.atMs];
  const cpuUs = (serverCpuMs(database.pid()!) * 1000) / count;
  await place.remove();
  await database.end();
  await server.close();
  return {
    workers,
    requestsPerSecond: Math.round((server.seen.length * 1000) / (last - first)),
    postgresCpuUsARequest: Math.round(cpuUs),
    loadAtEnd: Number(loadavg()[0]!.toFixed(1)),
  };
}

const results = [];
for (let round = 0; round < rounds; round++)
  for (const workers of [1, most]) results.push(await play(workers, `r${round}-${workers}`));
process.stdout.write(
  `${JSON.stringify({ bench: 'workers', command: `node bench/postgres/workers.ts ${process.argv.slice(2).join(' ')}`, ...machine(), urls: count, results })}\n`,
);
process.exit(0);
