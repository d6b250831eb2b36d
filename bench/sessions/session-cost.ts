// What a session costs a request: ours beside Crawlee's SessionPool, interleaved. Run: node bench/sessions/session-cost.ts
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Session, SessionPool } from '@crawlee/core';
import { hostConfig } from '../../src/config/host-config.ts';
import type { HostEntry } from '../../src/config/host-schema.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { createSessionPools, type SessionPools } from '../../src/sessions/session-pools.ts';

const HOST = 'api.example.com';
const URL_1 = `https://${HOST}/items/1`;
const ROUNDS = 7;
const credentials = ['a', 'b', 'c'].map((name) => ({ name, headers: { 'x-key': name } }));
const proxyUrls = ['http://p1:1', 'http://p2:2', 'http://p3:3'];

type Case = { name: string; runs: number; act: (index: number) => unknown };

function poolsWith(entry: HostEntry): SessionPools {
  const config = hostConfig({ default: entry }, HOST);
  return createSessionPools({
    hostConfig: () => config,
    ports: { clock: systemClock, random: Math.random, log: silentLog },
    reveal: String,
    values: { set: async () => {}, delete: async () => {}, entries: async () => [] },
  });
}

function request(pools: SessionPools): void {
  const session = pools.take(HOST, pools.keysOf(HOST)[0]!);
  pools.proxyOf(session);
  pools.headersFor(session, URL_1);
  pools.onResponse(session, URL_1, 200);
  session.markGood();
}

function withCookie(pools: SessionPools): SessionPools {
  pools.onResponse(pools.take(HOST, HOST), URL_1, 200, 'a=1; Path=/');
  return pools;
}

async function cases(): Promise<Case[]> {
  const crawlee = new SessionPool({ persistenceOptions: { enable: false }, maxPoolSize: 10 });
  await crawlee.initialize();
  const ours = (name: string, pools: SessionPools): Case => ({ name, runs: 200_000, act: () => request(pools) });
  const many = poolsWith({});
  return [
    ours('ours: nothing configured', poolsWith({})),
    ours('ours: one credential', poolsWith({ sessionPool: { credentials: credentials.slice(0, 1) } })),
    ours('ours: three credentials', poolsWith({ sessionPool: { credentials } })),
    ours('ours: three proxies', poolsWith({ sessionPool: { proxyUrls } })),
    ours('ours: a cookie in the jar', withCookie(poolsWith({ sessionPool: { maxPoolSize: 1 } }))),
    {
      name: 'Crawlee: getSession, getCookieString, setCookiesFromResponse, markGood',
      runs: 20_000,
      act: async () => {
        const session = await crawlee.getSession();
        session.getCookieString(URL_1);
        session.setCookiesFromResponse({ headers: {}, url: URL_1 } as never);
        session.markGood();
      },
    },
    { name: 'ours: the first request to a new host', runs: 5_000, act: (index) => many.take(`h${index}.example`, '') },
    { name: 'Crawlee: new Session', runs: 2_000, act: () => new Session({ sessionPool: crawlee }) },
    {
      name: 'Crawlee: new SessionPool',
      runs: 1_000,
      act: () => new SessionPool({ persistenceOptions: { enable: false } }),
    },
  ];
}

async function microsOf({ runs, act }: Case, round: number): Promise<number> {
  const startMs = performance.now();
  for (let run = 0; run < runs; run++) {
    const result = act(round * runs + run);
    if (result instanceof Promise) await result;
  }
  return ((performance.now() - startMs) / runs) * 1000;
}

/** Bytes left on the heap by each run; 0 when it allocates nothing. */
async function bytesOf({ runs, act }: Case): Promise<number> {
  const before = process.memoryUsage().heapUsed;
  for (let run = 0; run < runs / 10; run++) {
    const result = act(1e9 + run);
    if (result instanceof Promise) await result;
  }
  return Math.max(0, (process.memoryUsage().heapUsed - before) / (runs / 10));
}

const all = await cases();
const times = all.map((): number[] => []);
for (let round = 0; round < ROUNDS; round++)
  for (const [index, one] of all.entries()) times[index]!.push(await microsOf(one, round));
const rows: { name: string; bestMicros: number; medianMicros: number; bytes: number }[] = [];
for (const [index, one] of all.entries()) {
  const sorted = times[index]!.sort((a, b) => a - b);
  rows.push({ name: one.name, bestMicros: sorted[0]!, medianMicros: sorted[ROUNDS >> 1]!, bytes: await bytesOf(one) });
}
report(rows);

function report(results: typeof rows): void {
  const folder = new URL('../results/', import.meta.url);
  const { version } = JSON.parse(
    readFileSync(new URL('../../node_modules/@crawlee/core/package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const facts = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    node: process.version,
    crawlee: version,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    command: 'node bench/sessions/session-cost.ts',
    rounds: ROUNDS,
  };
  const table = results.map(
    ({ name, bestMicros, medianMicros, bytes }) =>
      `| ${name} | ${bestMicros.toFixed(3)} | ${medianMicros.toFixed(3)} | ${bytes.toFixed(0)} |`,
  );
  const head = `# What a session costs\n\n${facts.date}, ${facts.machine}, Node ${facts.node}, Crawlee ${facts.crawlee}. \`${facts.command}\`, ${ROUNDS} interleaved rounds.\n\n| Per request | best, us | median, us | bytes |\n|---|---|---|---|\n`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('session-cost.md', folder), `${head}${table.join('\n')}\n`);
  writeFileSync(new URL('session-cost.json', folder), `${JSON.stringify({ ...facts, results }, null, 2)}\n`);
  console.log(head + table.join('\n'));
}
process.exit(0);
