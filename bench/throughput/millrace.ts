// The whole product, by its command line. argv: base URL, requests, concurrency, further arguments.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [base = '', requests = '0', concurrency = '50', ...more] = process.argv.slice(2);
const total = Number(requests);
const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
const list = join(folder, 'urls.txt');
writeFileSync(list, Array.from({ length: total }, (_, index) => `${base}/items/${index}\n`).join(''));
const bin = new URL('../../bin/millrace.mjs', import.meta.url).pathname;
const run = (file: string): { durationSecs: number; wallMs: number; cpuMs: number } => {
  const args = [bin, file, '--no-discovery', '--no-export', '--json', '--quiet', '--storage-dir', join(folder, 's')];
  args.push('--fresh', '--max-concurrency', concurrency, '--max-concurrency-per-host', concurrency, ...more);
  const startedMs = performance.now();
  const out = execFileSync(process.execPath, args, { maxBuffer: 1 << 24 });
  const wallMs = performance.now() - startedMs;
  const summary = JSON.parse(out.toString()) as { durationSecs: number; requests: { succeeded: number } };
  if (file === list && summary.requests.succeeded !== total) throw new Error('not all succeeded');
  return { durationSecs: summary.durationSecs, wallMs, cpuMs: childCpuMs() };
};

/** Time this process's children have used, ms: the kernel adds it up when they are waited for. */
function childCpuMs(): number {
  // Fields 16 and 17 of /proc/self/stat: children's user and system time, in ticks of 10 ms.
  const stat = execFileSync('cat', [`/proc/${process.pid}/stat`]).toString();
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

const few = join(folder, 'few.txt');
writeFileSync(few, `${base}/items/0\n`);
const start = run(few);
const full = run(list);
const cpuMs = full.cpuMs - 2 * start.cpuMs;
console.log(
  JSON.stringify({
    requestsPerSecond: total / full.durationSecs,
    cpuMicros: (cpuMs * 1000) / (total - 1),
    startUpMs: start.wallMs,
  }),
);
rmSync(folder, { recursive: true, force: true });
