// What happens around a worker whose network is cut; runs within the hub's network namespace.
// node cut-scenario.ts NAME FAR_NAMESPACE
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openPostgresRun, type PostgresRunStore } from '../../../src/storage/postgres/open.ts';
import type { QueueCounts } from '../../../src/storage/store.ts';
import { Workplace } from '../../e2e/millrace.ts';
import { serve } from '../../fixtures/servers/serve.ts';
import { startPostgres, type TestServer } from '../../storage/postgres/server.ts';
import { cable, HUB_ADDRESS } from './cut-network.ts';
import { type Done, requestOf, requestsOf } from './task.ts';
import { WorkerProcess } from './worker-process.ts';

/** What each scenario has seen at its end. */
export type Observed = {
  fenced: { held: number; other: Done; cut: Done; urls: string[]; counts: QueueCounts };
  goesOn: { other: Done; cut: Done; urls: string[]; counts: QueueCounts };
  crawl: {
    /** Exit codes and what was said. */
    crawl: { code: number | null; stdout: string; stderr: string };
    cut: { code: number | null; stdout: string; stderr: string };
    /** The API's requests: from beyond the cable in all, and those of them that others have repeated. */
    fromFar: number;
    repeated: number;
    /** Of the records, in the order they were written. */
    urls: string[];
    wanted: string[];
  };
};
export type ScenarioName = keyof Observed;

const [name = '', far = ''] = process.argv.slice(2);
const ports = { clock: systemClock, random: Math.random, log: silentLog };
const LEASE_MS = 2_000;
const RUN = 'run';

async function urlsOf(store: PostgresRunStore): Promise<string[]> {
  const rows = await store.datasets.page('default', { afterSeq: 0, limit: 100_000 });
  return rows.map(({ json }) => (JSON.parse(json) as { url: string }).url);
}

/** The address of the server for whoever is beyond the cable. */
function farUrl({ url }: TestServer): string {
  return url.replace('127.0.0.1', HUB_ADDRESS);
}

/** It has requests leased and sends its commit into a network that is cut; that arrives when another has done them. */
async function fenced(server: TestServer, store: PostgresRunStore): Promise<Observed['fenced']> {
  await store.queue.add(requestsOf(60));
  const cut = new WorkerProcess({ url: farUrl(server), run: RUN, kind: 'hold', batch: 25, leaseMs: LEASE_MS }, far);
  const held = await cut.next<string[]>();
  await cable.cut();
  cut.tell('go on');
  const other = await new WorkerProcess({ url: server.url, run: RUN, kind: 'work', leaseMs: LEASE_MS }).done();
  await cable.mend();
  return {
    held: held.length,
    other,
    cut: await cut.done(),
    urls: await urlsOf(store),
    counts: await store.queue.counts(),
  };
}

/** It is cut off while it claims and commits, others do the rest; more comes when it is back, and nobody else is there. */
async function goesOn(server: TestServer, store: PostgresRunStore): Promise<Observed['goesOn']> {
  const facts = { run: RUN, kind: 'work', leaseMs: LEASE_MS } as const;
  await store.queue.add(requestsOf(400));
  const cut = new WorkerProcess({ ...facts, url: farUrl(server), batch: 2 }, far);
  for (let claims = 0; claims < 10; claims++) await cut.next();
  await cable.cut();
  const other = await new WorkerProcess({ ...facts, url: server.url }).done();
  await store.queue.add(Array.from({ length: 100 }, (_, n) => requestOf(400 + n)));
  await cable.mend();
  return { other, cut: await cut.done(), urls: await urlsOf(store), counts: await store.queue.counts() };
}

const CRAWLED = 2_000;
const CUT_AFTER = 300;

/** A crawl with two workers, of which one is cut off half-way until the others have done all. */
async function crawl(server: TestServer, store: PostgresRunStore): Promise<Observed['crawl']> {
  const seen: { path: string; isFar: boolean }[] = [];
  const api = await serve(
    ({ path, from }) => {
      if (path === '/robots.txt') return { status: 404 };
      seen.push({ path, isFar: from === cable.address });
      return { status: 200, body: JSON.stringify({ path }), afterMs: 20 };
    },
    { address: HUB_ADDRESS },
  );
  const place = await Workplace.open();
  try {
    const wanted = Array.from({ length: CRAWLED }, (_, n) => `${api.url}/items/${n}`);
    await place.write('urls.txt', wanted.join('\n'));
    const env = (url: string) => ({ MILLRACE_DATABASE_URL: url });
    const args = ['--run', RUN, '--json'];
    const work = place.start(['worker', ...args], env(farUrl(server)), far);
    const lead = place.start(['crawl', 'urls.txt', '--requests-per-second', '200', ...args], env(server.url));
    const fromFar = () => seen.filter(({ isFar }) => isFar).length;
    while (fromFar() < CUT_AFTER) await systemClock.sleep(10);
    await cable.cut();
    const crawled = await lead.finished;
    await cable.mend();
    const cut = await work.finished;
    const byFar = new Set(seen.filter(({ isFar }) => isFar).map(({ path }) => path));
    const repeated = seen.filter(({ path, isFar }) => !isFar && byFar.has(path)).length;
    return { crawl: crawled, cut, fromFar: fromFar(), repeated, urls: await urlsOf(store), wanted };
  } finally {
    await place.remove();
    await api.close();
  }
}

const server = await startPostgres({ address: HUB_ADDRESS });
const store = await openPostgresRun({ url: server.url, name: RUN, ports });
const observed = await { fenced, goesOn, crawl }[name as ScenarioName](server, store);
await store.close();
await server.end();
process.send!(observed, () => process.disconnect());
