// `node bench/memory/run.ts [--requests 1000000]`: the memory of one long crawl, the command line's process as the kernel
// counts it, once a second.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { machine, median } from '../common/machine.ts';

const { values } = parseArgs({ options: { requests: { type: 'string', default: '1000000' } } });
const total = Number(values.requests);
const TENTHS = 10;
const bin = new URL('../../bin/millrace.mjs', import.meta.url).pathname;
const about = machine();

const server = spawn(process.execPath, [new URL('../throughput/server.ts', import.meta.url).pathname], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const folder = mkdtempSync(join(tmpdir(), 'millrace-memory-'));
try {
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const list = join(folder, 'urls.txt');
  await writeUrls(list, `http://127.0.0.1:${String(port).trim()}/items/`);
  const args = [bin, list, '--no-discovery', '--no-export', '--json', '--quiet', '--storage-dir', join(folder, 's')];
  const crawl = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const output: Buffer[] = [];
  crawl.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const rssMb: number[] = [];
  const watch = setInterval(() => rssMb.push(rssOf(crawl.pid as number)), 1_000);
  await once(crawl, 'close');
  clearInterval(watch);
  const summary = JSON.parse(Buffer.concat(output).toString()) as {
    durationSecs: number;
    requests: { succeeded: number };
  };
  if (summary.requests.succeeded !== total) throw new Error(`${summary.requests.succeeded} of ${total} succeeded`);
  report(
    rssMb.filter((mb) => mb > 0),
    total / summary.durationSecs,
  );
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}

async function writeUrls(path: string, base: string): Promise<void> {
  const file = createWriteStream(path);
  for (let index = 0; index < total; index++) if (!file.write(`${base}${index}\n`)) await once(file, 'drain');
  file.end();
  await finished(file);
}

/** @returns resident memory, MB; 0 when the process has ended */
function rssOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

function report(rssMb: readonly number[], requestsPerSecond: number): void {
  const tenths = Array.from({ length: TENTHS }, (_, index) => {
    const part = rssMb.slice(
      Math.floor((index * rssMb.length) / TENTHS),
      Math.max(1, Math.floor(((index + 1) * rssMb.length) / TENTHS)),
    );
    return { median: median(part), most: Math.max(...part) };
  });
  const command = `node bench/memory/run.ts --requests ${total}`;
  const results = { command, machine: about, requestsPerSecond, mostMb: Math.max(...rssMb), tenths };
  const row = (name: string, of: (tenth: (typeof tenths)[number]) => number): string =>
    `| ${name} | ${tenths.map((tenth) => of(tenth).toFixed(0)).join(' | ')} |`;
  const table = [
    `| tenth of the crawl | ${tenths.map((_, index) => index + 1).join(' | ')} |`,
    `|---|${'---|'.repeat(TENTHS)}`,
    row('median RSS, MB', (tenth) => tenth.median),
    row('most, MB', (tenth) => tenth.most),
  ].join('\n');
  console.log(table);
  const target = new URL('../results/', import.meta.url).pathname;
  writeFileSync(`${target}memory.json`, `${JSON.stringify(results, null, 2)}\n`);
  const place = `${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}`;
  writeFileSync(
    `${target}memory.md`,
    `# Memory of a crawl of ${total.toLocaleString('en')} URLs\n\n1 KB of JSON each from a loopback server that answers at once, concurrency 50, every record kept: ${requestsPerSecond.toFixed(0)} requests/s, at most ${results.mostMb.toFixed(0)} MB.\n\n${table}\n\n\`${command}\` on ${place}.\n`,
  );
}
