// `node bench/soak/run.ts [--minutes 60] [--rate 3000] [--kill-every 240]`: one long crawl that is killed again and again,
// of hosts that fail now and then and whose limits change. Its memory and open files must not grow, nothing be lost or doubled.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { machine, median } from '../common/machine.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '3000' },
    'kill-every': { type: 'string', default: '240' },
  },
});
const HOSTS = 4;
const LIMITED_SHARE = 0.05;
const rate = Number(values.rate);
const total = rate * 60 * Number(values.minutes);
const killEveryMs = Number(values['kill-every']) * 1_000;
const limited = Math.round(rate * LIMITED_SHARE);
const bin = new URL('../../bin/millrace.mjs', import.meta.url).pathname;
const about = machine();

type Sample = { rssMb: number; openFiles: number };
/** One process of the crawl: how it went while it lived, once a second. */
type Life = { samples: Sample[]; secs: number; wasKilled: boolean };

const folder = mkdtempSync(join(tmpdir(), 'millrace-soak-'));
const server = spawn(
  process.execPath,
  [new URL('server.ts', import.meta.url).pathname, String(HOSTS), String(2 * limited)],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  const ports = JSON.parse(line.toString()) as number[];
  await writeUrls(ports);
  writeInput(ports);
  const lives: Life[] = [];
  do lives.push(await live());
  while (lives.at(-1)?.wasKilled);
  const answer = once(server.stdout, 'data');
  server.kill('SIGTERM');
  const counts = JSON.parse(String((await answer)[0])) as Record<string, number>;
  report(lives, { counts, ...(await accountOfRecords(ports)) });
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}

/** Every host has its share of the list; the limited one a small one, so that it does not end last. */
function hostOf(index: number): number {
  const isLimited = index % Math.round(1 / LIMITED_SHARE) === 0;
  return isLimited ? HOSTS - 1 : index % (HOSTS - 1);
}

async function writeUrls(ports: readonly number[]): Promise<void> {
  const file = createWriteStream(join(folder, 'urls.txt'));
  for (let index = 0; index < total; index++)
    if (!file.write(`http://127.0.0.1:${ports[hostOf(index)]}/items/${index}\n`)) await once(file, 'drain');
  file.end();
  await finished(file);
}

function writeInput(ports: readonly number[]): void {
  const free = ports
    .slice(0, -1)
    .map((port) => [`127.0.0.1:${port}`, { requestsPerSecond: Math.ceil(rate / (HOSTS - 1)) }]);
  const input = { urlsFile: 'urls.txt', hosts: Object.fromEntries(free) };
  writeFileSync(join(folder, 'soak.json'), JSON.stringify(input));
}

async function live(): Promise<Life> {
  const args = [bin, 'soak.json', '--no-export', '--quiet', '--max-concurrency', '100'];
  const startedMs = performance.now();
  const crawl = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const samples: Sample[] = [];
  const watch = setInterval(() => samples.push(...sampleOf(crawl)), 1_000);
  const killer = setTimeout(() => crawl.kill('SIGKILL'), killEveryMs);
  const [code, signal] = (await once(crawl, 'close')) as [number | null, NodeJS.Signals | null];
  clearInterval(watch);
  clearTimeout(killer);
  const life = { samples, secs: (performance.now() - startedMs) / 1_000, wasKilled: signal === 'SIGKILL' };
  console.error(`lived ${life.secs.toFixed(0)} s, ${signal ?? `exit code ${code}`}, most ${mostOf(samples)} MB`);
  if (!life.wasKilled && code !== 0) throw new Error(`the crawl ended with ${code}`);
  return life;
}

function sampleOf({ pid }: ChildProcess): Sample[] {
  try {
    const rssKb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    return rssKb > 0 ? [{ rssMb: rssKb / 1_024, openFiles: readdirSync(`/proc/${pid}/fd`).length }] : [];
  } catch {
    return []; // It has just ended.
  }
}

function mostOf(samples: readonly Sample[]): string {
  return Math.max(0, ...samples.map(({ rssMb }) => rssMb)).toFixed(0);
}

/** Reads every record back: how many there are, and how many of the list are missing or there twice. */
async function accountOfRecords(ports: readonly number[]): Promise<{ records: number; lost: number; doubled: number }> {
  const args = [bin, 'export', '--fields', 'url', '--format', 'jsonl', '--output', '-', '--quiet'];
  const exporting = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const seen = new Uint8Array(total);
  let records = 0;
  for await (const line of createInterface({ input: exporting.stdout })) {
    const { url } = JSON.parse(line) as { url: string };
    const index = Number(url.slice(url.lastIndexOf('/') + 1));
    if (url !== `http://127.0.0.1:${ports[hostOf(index)]}/items/${index}`) throw new Error(`nobody asked for ${url}`);
    seen[index] = (seen[index] ?? 0) + 1;
    records++;
  }
  let lost = 0;
  let doubled = 0;
  for (const times of seen) {
    if (times === 0) lost++;
    else if (times > 1) doubled++;
  }
  return { records, lost, doubled };
}

type Account = { counts: Record<string, number>; records: number; lost: number; doubled: number };

/** The second half of a life against its first, after a minute of warming up. */
function growthOf({ samples }: Life, of: (sample: Sample) => number): number | null {
  const warm = samples.slice(Math.min(60, Math.floor(samples.length / 3))).map(of);
  if (warm.length < 4) return null;
  const middle = Math.floor(warm.length / 2);
  return median(warm.slice(middle)) / median(warm.slice(0, middle)) - 1;
}

function report(lives: readonly Life[], account: Account): void {
  const command = `node bench/soak/run.ts --minutes ${values.minutes} --rate ${values.rate} --kill-every ${values['kill-every']}`;
  const secs = lives.reduce((sum, life) => sum + life.secs, 0);
  const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);
  const rows = lives.map((life, index) => {
    const files = life.samples.map(({ openFiles }) => openFiles);
    const cells = [
      index + 1,
      life.secs.toFixed(0),
      life.wasKilled ? 'SIGKILL' : 'finished',
      mostOf(life.samples),
      percent(growthOf(life, ({ rssMb }) => rssMb)),
      Math.max(...files),
      percent(growthOf(life, ({ openFiles }) => openFiles)),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const { counts, records, lost, doubled } = account;
  const text = [
    '# Soak',
    '',
    `${total.toLocaleString('en')} URLs of ${HOSTS} hosts in ${(secs / 60).toFixed(1)} minutes (${(total / secs).toFixed(0)} requests/s), 1 % of first tries failing, one host with a limit that changes every minute; killed ${lives.length - 1} times.`,
    '',
    `${records.toLocaleString('en')} records, ${lost} lost, ${doubled} doubled. The servers answered ${counts.served?.toLocaleString('en')}, failed ${counts.failed?.toLocaleString('en')} and refused ${counts.refused?.toLocaleString('en')}.`,
    '',
    '| life | s | ended by | most RSS, MB | its growth | most open files | their growth |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    'Growth: the second half of a life against its first, medians, without the first minute.',
    '',
    `\`${command}\` on ${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}.`,
    '',
  ].join('\n');
  console.log(text);
  const target = new URL('../results/', import.meta.url).pathname;
  writeFileSync(`${target}soak.md`, text);
  writeFileSync(`${target}soak.json`, `${JSON.stringify({ command, machine: about, account, lives }, null, 1)}\n`);
  if (lost + doubled > 0) process.exitCode = 1;
}
