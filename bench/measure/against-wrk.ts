/**
 * Measures one rate-capped server by `millrace bench` and by wrk, in turns: `node bench/measure/against-wrk.ts [--rounds N]`.
 * wrk is in Debian: apt-get install wrk.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs, promisify } from 'node:util';
import { describeMachine, machineText } from '../../src/measure/common/machine.ts';
import { quantile } from '../../src/measure/common/numbers.ts';
import { serveInProcess } from '../../test/fixtures/servers/in-process.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const CONCURRENCY = 10;
const LATENCY_MS = 20;
const BIN = new URL('../../bin/millrace.mjs', import.meta.url).pathname;
const RESULTS = new URL('../results/', import.meta.url);
const run = promisify(execFile);

type Figures = { requestsPerSecond: number; p50Ms: number; p99Ms: number };

async function byBench(url: string): Promise<Figures> {
  const args = [BIN, 'bench', url, '--requests', '1500', '--concurrency', String(CONCURRENCY), '--json', '--quiet'];
  const { results } = JSON.parse((await run(process.execPath, args)).stdout);
  const [{ requestsPerSecond, latencyMs }] = results;
  return { requestsPerSecond, p50Ms: latencyMs.p50, p99Ms: latencyMs.p99 };
}

async function byWrk(url: string): Promise<Figures> {
  const { stdout } = await run('wrk', ['-t1', `-c${CONCURRENCY}`, '-d3s', '--latency', url]);
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1]);
  return {
    requestsPerSecond: number(/Requests\/sec:\s+([\d.]+)/),
    p50Ms: number(/50%\s+([\d.]+)ms/),
    p99Ms: number(/99%\s+([\d.]+)ms/),
  };
}

const server = await serveInProcess({ json: { latencyMs: LATENCY_MS, bodyBytes: 1_000 } });
const rounds: { bench: Figures; wrk: Figures }[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round++)
    rounds.push({ bench: await byBench(`${server.url}/items/1`), wrk: await byWrk(`${server.url}/items/1`) });
} finally {
  await server.close();
}

const median = (tool: 'bench' | 'wrk', figure: keyof Figures): number =>
  quantile(
    rounds.map((round) => round[tool][figure]),
    0.5,
  ) ?? 0;
const machine = describeMachine(process.env, '0.1.0');
const ratio = median('bench', 'requestsPerSecond') / median('wrk', 'requestsPerSecond');
const row = (tool: 'bench' | 'wrk', name: string): string =>
  `| ${name} | ${median(tool, 'requestsPerSecond').toFixed(1)} | ${median(tool, 'p50Ms').toFixed(1)} | ${median(tool, 'p99Ms').toFixed(1)} |`;
const text = `# millrace bench against wrk

A server that takes ${LATENCY_MS} ms a request, ${CONCURRENCY} requests in flight, ${rounds.length} rounds in turns, medians. ${machineText(machine)};
${new Date().toISOString().slice(0, 10)}; \`node bench/measure/against-wrk.ts\`.

| | requests/s | p50, ms | p99, ms |
| --- | --- | --- | --- |
${row('bench', 'millrace bench')}
${row('wrk', 'wrk 4')}

The rates are ${(Math.abs(ratio - 1) * 100).toFixed(1)} % apart.
`;
await mkdir(RESULTS, { recursive: true });
await writeFile(new URL('bench-against-wrk.md', RESULTS), text);
const json = { madeAt: new Date().toISOString(), machine, rounds, ratio };
await writeFile(new URL('bench-against-wrk.json', RESULTS), `${JSON.stringify(json, null, 2)}\n`);
console.log(text);
if (Math.abs(ratio - 1) > 0.1) process.exitCode = 1;
