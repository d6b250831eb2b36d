// `node bench/throughput/profile.ts [--requests 40000] [--top 30]`: where the main thread's time goes in a crawl from
// loopback, by part of the program, from V8's sampling profiler. Without the first 1.5 s, in which the program starts.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine } from '../common/machine.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '40000' }, top: { type: 'string', default: '30' } },
});
const total = Number(values.requests);
const START_MICROS = 1_500_000;
const bin = new URL('../../bin/millrace.mjs', import.meta.url).pathname;

type Node = { id: number; callFrame: { functionName: string; url: string }; children?: number[] };
type Profile = { nodes: Node[]; samples: number[]; timeDeltas: number[] };

const about = machine();
const server = spawn(process.execPath, [new URL('server.ts', import.meta.url).pathname], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const folder = mkdtempSync(join(tmpdir(), 'millrace-profile-'));
try {
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const list = join(folder, 'urls.txt');
  const base = `http://127.0.0.1:${String(port).trim()}/items/`;
  writeFileSync(list, Array.from({ length: total }, (_, index) => `${base}${index}\n`).join(''));
  const profiler = ['--cpu-prof', '--cpu-prof-interval', '500', '--cpu-prof-dir', join(folder, 'profiles')];
  const args = [list, '--no-discovery', '--no-export', '--quiet', '--storage-dir', join(folder, 's')];
  execFileSync(process.execPath, [...profiler, bin, ...args], { stdio: 'ignore' });
  report(tally(largestProfile(join(folder, 'profiles'))));
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}

/** That of the main thread: the checkpoint thread leaves one, too. */
function largestProfile(profiles: string): Profile {
  const paths = readdirSync(profiles).map((name) => join(profiles, name));
  const [largest = ''] = paths.toSorted((a, b) => statSync(b).size - statSync(a).size);
  return JSON.parse(readFileSync(largest, 'utf8')) as Profile;
}

type Tally = { parts: Map<string, number>; functions: Map<string, number> };

/** Microseconds by part: what Node does goes to whoever called it. */
function tally({ nodes, samples, timeDeltas }: Profile): Tally {
  const parents = new Map<number, Node>();
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  let passed = 0;
  for (const [index, id] of samples.entries()) {
    const micros = timeDeltas[index] ?? 0;
    passed += micros;
    const leaf = byId.get(id);
    if (passed < START_MICROS || leaf === undefined || leaf.callFrame.functionName === '(idle)') continue;
    const { part, name } = ownerOf(leaf, parents);
    parts.set(part, (parts.get(part) ?? 0) + micros);
    functions.set(name, (functions.get(name) ?? 0) + micros);
  }
  return { parts, functions };
}

function ownerOf(leaf: Node, parents: ReadonlyMap<number, Node>): { part: string; name: string } {
  for (let node: Node | undefined = leaf; node !== undefined; node = parents.get(node.id)) {
    const { functionName, url } = node.callFrame;
    const found = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? /\/(src\/[^/]+)\//.exec(url)?.[1];
    if (found !== undefined) return { part: found, name: `${functionName || '(anonymous)'}, ${url.split('/').at(-1)}` };
  }
  const isCollector = leaf.callFrame.functionName === '(garbage collector)';
  return { part: isCollector ? 'garbage collector' : 'Node itself', name: leaf.callFrame.functionName };
}

function rowsOf(micros: ReadonlyMap<string, number>, most: number): string[] {
  const sum = [...micros.values()].reduce((all, one) => all + one, 0);
  const sorted = [...micros].toSorted(([, a], [, b]) => b - a).slice(0, most);
  return sorted.map(([name, one]) => `| ${name} | ${(one / total).toFixed(1)} | ${((100 * one) / sum).toFixed(1)} % |`);
}

function report({ parts, functions }: Tally): void {
  const sum = [...parts.values()].reduce((all, one) => all + one, 0);
  const head = (what: string): string[] => [`| ${what} | us a request | share |`, '|---|---|---|'];
  const lines = [
    '# Where the main thread’s time goes',
    '',
    `A crawl of ${total.toLocaleString('en')} URLs, 1 KB of JSON each from loopback, everything on: ${(sum / total).toFixed(0)} us of the main thread a request, the profiler included.`,
    '',
    ...head('part'),
    ...rowsOf(parts, 14),
    '',
    ...head('function, with what it calls of Node'),
    ...rowsOf(functions, Number(values.top)),
    '',
    `\`node bench/throughput/profile.ts --requests ${total}\` on ${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}.`,
    '',
  ];
  console.log(lines.join('\n'));
  writeFileSync(new URL('../results/hot-path.md', import.meta.url), lines.join('\n'));
}
