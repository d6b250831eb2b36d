// `node bench/startup/run.ts [--rounds 10]`: from the start of the process to the first request on the wire, and --help,
// beside a Node that does nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine, median } from '../common/machine.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const bin = new URL('../../bin/millrace.mjs', import.meta.url).pathname;
const about = machine();

let onRequest: (url: string) => void = () => {};
const server = createServer((request, response) => {
  onRequest(request.url ?? '');
  response.writeHead(request.url === '/robots.txt' ? 404 : 200, { 'content-type': 'application/json' });
  response.end('{}');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function ended(args: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'close');
  return performance.now() - startedMs;
}

/** The first request is that of robots.txt. */
async function firstRequest(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-startup-'));
  const startedMs = performance.now();
  const arrived = new Promise<number>((resolve) => {
    onRequest = () => resolve(performance.now() - startedMs);
  });
  const child = spawn(process.execPath, [bin, `${base}/items/1`, '--quiet', '--storage-dir', folder], {
    stdio: 'ignore',
  });
  const closed = once(child, 'close');
  const tookMs = await arrived;
  await closed;
  rmSync(folder, { recursive: true });
  return tookMs;
}

const measures: Record<string, () => Promise<number>> = {
  'node, nothing': () => ended(['-e', '0']),
  'millrace --help': () => ended([bin, '--help']),
  'millrace URL: first request on the wire': firstRequest,
};
const results: Record<string, number[]> = {};
for (const measure of Object.values(measures)) await measure();
for (let round = 0; round < Number(values.rounds); round++)
  for (const [name, measure] of Object.entries(measures)) {
    const all = results[name] ?? [];
    all.push(await measure());
    results[name] = all;
  }
server.close();

const table = [
  '| | median ms | least | most |',
  '|---|---|---|---|',
  ...Object.entries(results).map(([name, all]) => {
    const cells = [median(all), Math.min(...all), Math.max(...all)].map((ms) => ms.toFixed(0));
    return `| ${name} | ${cells.join(' | ')} |`;
  }),
].join('\n');
console.log(table);
const command = `node bench/startup/run.ts --rounds ${values.rounds}`;
const folder = new URL('../results/', import.meta.url).pathname;
writeFileSync(`${folder}startup.json`, `${JSON.stringify({ command, machine: about, results }, null, 2)}\n`);
const place = `${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}`;
writeFileSync(
  `${folder}startup.md`,
  `# Start-up\n\nAfter one start of each, so that Node's compile cache is warm.\n\n${table}\n\n\`${command}\` on ${place}.\n`,
);
