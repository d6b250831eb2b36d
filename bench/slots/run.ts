// `node bench/slots/run.ts [--rounds 3]`: how full the slots are against a server that takes 50 ms, counted by the server.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine, median } from '../common/machine.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const LATENCY_MS = 50;
const SECONDS = 8;
const CONCURRENCIES = [50, 200];
const MAX_OUTPUT = 1 << 24;
const bin = new URL('../../bin/millrace.mjs', import.meta.url).pathname;
const bare = new URL('bare-undici.ts', import.meta.url).pathname;

type Percentiles = { p50: number; p95: number };
type Round = Percentiles & { share: number; ofTaken: number; serverMs: number };
type Contestant = (base: string, requests: number, concurrency: number) => Percentiles;

const contestants: Record<string, Contestant> = {
  'bare undici': (base, requests, concurrency) =>
    JSON.parse(execFileSync(process.execPath, [bare, base, String(requests), String(concurrency)]).toString()),
  millrace: (base, requests, concurrency) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-slots-'));
    try {
      const list = join(folder, 'urls.txt');
      writeFileSync(list, Array.from({ length: requests }, (_, index) => `${base}/${index}\n`).join(''));
      const slots = ['--max-concurrency', String(concurrency), '--max-concurrency-per-host', String(concurrency)];
      const args = [bin, list, '--no-discovery', '--no-export', '--json', '--quiet', ...slots];
      const out = execFileSync(process.execPath, [...args, '--storage-dir', join(folder, 's')], {
        maxBuffer: MAX_OUTPUT,
      });
      return (JSON.parse(out.toString()) as { latencyMs: Percentiles }).latencyMs;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function round(contestant: Contestant, concurrency: number): Promise<Round> {
  const server = spawn(process.execPath, [new URL('server.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const theoretical = (concurrency * 1_000) / LATENCY_MS;
  const { p50, p95 } = contestant(`http://127.0.0.1:${String(port).trim()}`, theoretical * SECONDS, concurrency);
  const answer = once(server.stdout, 'data');
  server.kill('SIGTERM');
  const { counts, latencyMs } = JSON.parse(String((await answer)[0])) as { counts: number[]; latencyMs: number };
  // After the first second, and without the last half, when the list runs out.
  const steady = counts.slice(10, counts.length - 5);
  const perSecond = (steady.reduce((sum, count) => sum + count, 0) / steady.length) * 10;
  return {
    share: perSecond / theoretical,
    ofTaken: (perSecond * latencyMs) / (concurrency * 1_000),
    serverMs: latencyMs,
    p50,
    p95,
  };
}

const about = machine();
const results: Record<string, Record<string, Round[]>> = {};
for (const concurrency of CONCURRENCIES) {
  const rounds: Record<string, Round[]> = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let index = 0; index < Number(values.rounds); index++) {
    for (const [name, contestant] of Object.entries(contestants)) {
      const result = await round(contestant, concurrency);
      rounds[name]!.push(result);
      console.error(
        `${concurrency} slots, ${name}: ${result.share.toFixed(3)}, ${result.ofTaken.toFixed(3)} of what the server's ` +
          `${result.serverMs.toFixed(1)} ms allow, p50 ${result.p50.toFixed(1)} ms, p95 ${result.p95.toFixed(1)} ms`,
      );
    }
  }
  results[concurrency] = rounds;
}

function row(concurrency: string, name: string, rounds: Round[]): string {
  const shares = rounds.map((result) => result.share);
  const cells = [
    concurrency,
    name,
    ((Number(concurrency) * 1_000) / LATENCY_MS).toLocaleString('en'),
    median(shares).toFixed(3),
    Math.min(...shares).toFixed(3),
    median(rounds.map((result) => result.ofTaken)).toFixed(3),
    median(rounds.map((result) => result.serverMs)).toFixed(1),
    median(rounds.map((result) => result.p95 / result.p50)).toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
}

const table = [
  '| slots | | theoretical requests/s | share reached (median) | least | share with the time the server took | its ms | p95 / p50 |',
  '|---|---|---|---|---|---|---|---|',
  ...Object.entries(results).flatMap(([concurrency, rounds]) =>
    Object.entries(rounds).map(([name, results]) => row(concurrency, name, results)),
  ),
].join('\n');
const command = `node bench/slots/run.ts --rounds ${values.rounds}`;
console.log(table);
const folder = new URL('../results/', import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}slots.json`, `${JSON.stringify({ command, machine: about, results }, null, 2)}\n`);
const setting = `Against a server that answers after ${LATENCY_MS} ms, \`--no-discovery\`, counted by the server after the first second; rounds interleaved.`;
const place = `${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}`;
writeFileSync(`${folder}slots.md`, `# Slots\n\n${setting}\n\n${table}\n\n\`${command}\` on ${place}.\n`);
