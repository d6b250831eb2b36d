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
const bin = new URL('../../bin/millrace.mjs', import.meta.url).pathname;

type Round = { share: number; p50: number; p95: number };

async function round(concurrency: number): Promise<Round> {
  const server = spawn(process.execPath, [new URL('server.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const folder = mkdtempSync(join(tmpdir(), 'millrace-slots-'));
  const theoretical = (concurrency * 1_000) / LATENCY_MS;
  const urls = Array.from(
    { length: theoretical * SECONDS },
    (_, index) => `http://127.0.0.1:${String(port).trim()}/${index}\n`,
  );
  writeFileSync(join(folder, 'urls.txt'), urls.join(''));
  const slots = ['--max-concurrency', String(concurrency), '--max-concurrency-per-host', String(concurrency)];
  const args = [bin, join(folder, 'urls.txt'), '--no-discovery', '--no-export', '--json', '--quiet', ...slots];
  const out = execFileSync(process.execPath, [...args, '--storage-dir', join(folder, 's')], { maxBuffer: 1 << 24 });
  const { latencyMs } = JSON.parse(out.toString()) as { latencyMs: { p50: number; p95: number } };
  const answer = once(server.stdout, 'data');
  server.kill('SIGTERM');
  const counts = JSON.parse(String((await answer)[0])) as number[];
  rmSync(folder, { recursive: true, force: true });
  // After the first second, and without the last half, when the list runs out.
  const steady = counts.slice(10, counts.length - 5);
  const perSecond = (steady.reduce((sum, count) => sum + count, 0) / steady.length) * 10;
  return { share: perSecond / theoretical, p50: latencyMs.p50, p95: latencyMs.p95 };
}

const about = machine();
const lines: string[] = [];
const results: Record<string, Round[]> = {};
for (const concurrency of [50, 200]) {
  const rounds: Round[] = [];
  for (let index = 0; index < Number(values.rounds); index++) {
    const result = await round(concurrency);
    console.error(`concurrency ${concurrency}: ${result.share.toFixed(3)}, p50 ${result.p50} ms, p95 ${result.p95} ms`);
    rounds.push(result);
  }
  results[concurrency] = rounds;
  const share = median(rounds.map((result) => result.share));
  const spread = median(rounds.map((result) => result.p95 / result.p50));
  lines.push(
    `| ${concurrency} | ${((concurrency * 1_000) / LATENCY_MS).toLocaleString('en')} | ${share.toFixed(3)} | ${Math.min(...rounds.map((r) => r.share)).toFixed(3)} | ${spread.toFixed(2)} |`,
  );
}
const table = [
  '| concurrency | theoretical requests/s | share reached (median) | least | p95 / p50 |',
  '|---|---|---|---|---|',
  ...lines,
].join('\n');
const command = `node bench/slots/run.ts --rounds ${values.rounds}`;
console.log(table);
const folder = new URL('../results/', import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}slots.json`, `${JSON.stringify({ command, machine: about, results }, null, 2)}\n`);
writeFileSync(
  `${folder}slots.md`,
  `# Slots\n\nAgainst a server that answers after 50 ms, \`--no-discovery\`, counted by the server after the first second.\n\n${table}\n\n\`${command}\` on ${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}.\n`,
);
