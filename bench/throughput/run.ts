// `node bench/throughput/run.ts [--rounds 5] [--requests 20000] [--stock 2000]`: interleaved rounds, medians, one table.
// Peers in Python run where Debian's packages python3-aiohttp, python3-httpx and python3-scrapy are installed.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { machine, median } from '../common/machine.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '20000' },
    stock: { type: 'string', default: '2000' },
    concurrency: { type: 'string', default: '50' },
    only: { type: 'string' },
  },
});

type Result = { requestsPerSecond: number; cpuMicros: number };
const here = (name: string): string => new URL(name, import.meta.url).pathname;
type Contestant = { name: string; program: string; file: string; requests: string };

// Debian's, whatever other Python is on the path.
const PYTHON = '/usr/bin/python3';
const FAST_PEER_REQUESTS = '5000';

function ours(name: string, file: string, requests: string): Contestant {
  return { name, program: process.execPath, file: here(file), requests };
}

/** @returns the peer, or nothing where it is not installed */
function peer(module: string, requests: string): Contestant[] {
  const { status, stdout } = spawnSync(PYTHON, ['-c', `import ${module}; print(${module}.__version__)`]);
  if (status !== 0) {
    console.error(`${module} is not installed: left out`);
    return [];
  }
  const name = `${module} ${stdout.toString().trim()}`;
  return [{ name, program: PYTHON, file: here(`peers/${module}_peer.py`), requests }];
}

const contestants: Contestant[] = [
  ours('bare undici (request, body.json)', 'bare-undici.ts', values.requests),
  ours('millrace, everything on', 'millrace.ts', values.requests),
  ...peer('aiohttp', FAST_PEER_REQUESTS),
  ...peer('httpx', values.stock),
  ...peer('scrapy', values.stock),
  ours('stock Crawlee, persistent storage', 'stock-crawlee.ts', values.stock),
].filter(({ name }) => values.only === undefined || name.includes(values.only));

const about = machine();
const server = spawn(process.execPath, [here('server.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
const [port] = (await once(server.stdout, 'data')) as [Buffer];
const base = `http://127.0.0.1:${String(port).trim()}`;
const results = new Map<string, Result[]>(contestants.map(({ name }) => [name, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const { name, program, file, requests } of contestants) {
    const out = execFileSync(program, [file, base, requests, values.concurrency], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const result = JSON.parse(out.toString()) as Result;
    results.get(name)!.push(result);
    console.error(
      `round ${round + 1}: ${name}: ${Math.round(result.requestsPerSecond)}/s, ${result.cpuMicros.toFixed(0)} us CPU`,
    );
  }
}
server.kill();

const rows = contestants.map(({ name, requests }) => {
  const all = results.get(name)!;
  const rates = all.map((result) => result.requestsPerSecond);
  return {
    name,
    requests: Number(requests),
    requestsPerSecond: Math.round(median(rates)),
    least: Math.round(Math.min(...rates)),
    most: Math.round(Math.max(...rates)),
    cpuMicrosPerRequest: Math.round(median(all.map((result) => result.cpuMicros))),
  };
});
const bare = rows[0]!.requestsPerSecond;
const table = [
  '| | requests/s (median) | range | of bare undici | CPU us a request |',
  '|---|---|---|---|---|',
  ...rows.map(
    (row) =>
      `| ${row.name} | ${row.requestsPerSecond.toLocaleString('en')} | ${row.least} to ${row.most} | ${(row.requestsPerSecond / bare).toFixed(2)} | ${row.cpuMicrosPerRequest} |`,
  ),
].join('\n');
const command = `node bench/throughput/run.ts --rounds ${values.rounds} --requests ${values.requests} --stock ${values.stock}`;
console.log(table);
if (values.only === undefined) {
  const folder = new URL('../results/', import.meta.url).pathname;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    `${folder}throughput.json`,
    `${JSON.stringify({ command, machine: about, concurrency: Number(values.concurrency), rows, rounds: Object.fromEntries(results) }, null, 2)}\n`,
  );
  writeFileSync(
    `${folder}throughput.md`,
    `# Throughput\n\n1 KB of JSON from a loopback server that answers at once, concurrency ${values.concurrency}; every contestant in a process of its own, rounds interleaved.\n\n${table}\n\n\`${command}\` on ${about.cores} cores of ${about.cpu}, Node ${about.node}, undici ${about.undici}, crawlee ${about.crawlee}, ${about.date}, load at start ${about.loadAtStart}.\n`,
  );
}
