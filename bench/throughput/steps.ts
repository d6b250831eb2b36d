// `node bench/throughput/steps.ts [--rounds 3] [--requests 20000]`: what each step of the hot path gives: the crawl as it
// is, beside the same crawl with one step taken back. Each runs from a copy of the sources; rounds interleaved.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine, median } from '../common/machine.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, requests: { type: 'string', default: '20000' } },
});
const root = new URL('../../', import.meta.url).pathname;
const CONCURRENCY = '50';

/** A step, and how the sources look without it. */
type Step = { name: string; edits: readonly (readonly [file: string, from: string, to: string])[]; args?: string[] };
const NONE = 'nothing: as it is';

const steps: readonly Step[] = [
  { name: NONE, edits: [] },
  {
    name: 'the next request goes out before the last answer is worked on',
    edits: [['src/crawl/json-crawler.ts', '      await this.#turns.next();\n', '']],
  },
  {
    name: 'a request is built without Crawlee’s constructor',
    edits: [
      [
        'src/crawl/lean-request.ts',
        'request: new LeanRequest(leased, data, patch) as unknown as Request',
        'request: new Request({ ...data, id: leased.id, url: leased.url, uniqueKey: leased.uniqueKey } as never)',
      ],
    ],
  },
  {
    name: 'requests are committed up to 128 at a time, not each by itself',
    edits: [['src/queue/committer.ts', 'const BATCH_SIZE = 128;', 'const BATCH_SIZE = 1;']],
  },
  {
    name: 'requests are claimed hundreds at a time, not ten',
    edits: [
      ['src/queue/host-aware-request-manager.ts', 'const LEAST_BATCH = 200;', 'const LEAST_BATCH = 10;'],
      ['src/queue/host-aware-request-manager.ts', 'const LARGEST_BATCH = 1_000;', 'const LARGEST_BATCH = 10;'],
    ],
  },
  {
    name: 'one undici client a connection, not got-scraping',
    edits: [],
    args: ['--http-client', 'got-scraping'],
  },
];

type Result = { requestsPerSecond: number; cpuMicros: number };

/** @returns the folder the step's sources are in */
function prepare(step: Step, parent: string): string {
  const folder = mkdtempSync(join(parent, 'copy-'));
  for (const part of ['src', 'bin', 'package.json', 'bench/throughput'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, from, to] of step.edits) {
    const path = join(folder, file);
    const source = readFileSync(path, 'utf8');
    if (!source.includes(from)) throw new Error(`${file} has changed: "${from.trim()}" is not in it, edit this bench`);
    writeFileSync(path, source.replace(from, to));
  }
  return folder;
}

function crawl(folder: string, base: string, args: readonly string[]): Result {
  const script = join(folder, 'bench/throughput/millrace.ts');
  const out = execFileSync(process.execPath, [script, base, values.requests, CONCURRENCY, ...args]);
  return JSON.parse(out.toString()) as Result;
}

const about = machine();
const parent = mkdtempSync(join(tmpdir(), 'millrace-steps-'));
const server = spawn(process.execPath, [new URL('server.ts', import.meta.url).pathname], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const results = new Map<Step, Result[]>(steps.map((step) => [step, []]));
try {
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const base = `http://127.0.0.1:${String(port).trim()}`;
  const folders = new Map(steps.map((step) => [step, prepare(step, parent)]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [step, folder] of folders) {
      const result = crawl(folder, base, step.args ?? []);
      results.get(step)!.push(result);
      console.error(`round ${round + 1}, without ${step.name}: ${Math.round(result.requestsPerSecond)}/s`);
    }
  }
} finally {
  server.kill();
  rmSync(parent, { recursive: true });
}

const rateOf = (step: Step): number => median(results.get(step)!.map((result) => result.requestsPerSecond));
const cpuOf = (step: Step): number => median(results.get(step)!.map((result) => result.cpuMicros));
const [whole] = steps as [Step];
const rows = steps.map((step) => {
  const cells = [
    step.name,
    Math.round(rateOf(step)).toLocaleString('en'),
    (rateOf(whole) / rateOf(step)).toFixed(2),
    cpuOf(step).toFixed(0),
    (cpuOf(step) - cpuOf(whole)).toFixed(0),
  ];
  return `| ${cells.join(' | ')} |`;
});
const text = [
  '# What each step of the hot path gives',
  '',
  `1 KB of JSON from a loopback server that answers at once, concurrency ${CONCURRENCY}, ${values.requests} requests, medians of ${values.rounds} interleaved rounds: the crawl as it is, and with one step taken back. What a slot's filling gives shows where the server takes its time: see slots.md.`,
  '',
  '| taken back | requests/s | the step gives, times | CPU us a request | the step saves, us |',
  '|---|---|---|---|---|',
  ...rows,
  '',
  `\`node bench/throughput/steps.ts --rounds ${values.rounds} --requests ${values.requests}\` on ${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}.`,
  '',
].join('\n');
console.log(text);
writeFileSync(new URL('../results/hot-path-steps.md', import.meta.url), text);
