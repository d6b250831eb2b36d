// Runs the storage benchmarks one after another and writes bench/results/storage.{json,md}.
// node bench/storage/run.ts [name ...]   names: add claim-commit open claim-size latency; all when none is given;
// report: only write the tables anew
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Result = Record<string, unknown> & { bench: string; command: string };

const RESULTS = fileURLToPath(new URL('../results/storage.json', import.meta.url));
const REPORT = fileURLToPath(new URL('../results/storage.md', import.meta.url));

const RUNS: Record<string, string[]> = {
  add: ['1000000 sequential', '1000000 shuffled'],
  'claim-commit': ['200000 50 1', '200000 100 1', '200000 500 1', '200000 100 50', '200000 500 50', '100000 100 1000'],
  open: ['1000000 1000000'],
  'claim-size': ['10000', '10000000', '10000', '10000000'],
  latency: [
    '200000 8000 control normal',
    '200000 8000 main normal',
    '200000 8000 thread normal',
    '200000 8000 storage-thread normal',
    '200000 8000 control normal',
    '200000 8000 main normal',
    '200000 8000 thread normal',
    '200000 8000 storage-thread normal',
    '100000 8000 storage-thread full',
  ],
};

function run(name: string, args: string): Result {
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const line = execFileSync(process.execPath, [script, ...args.split(' ')], { encoding: 'utf8' }).trim();
  process.stdout.write(`${line}\n`);
  return JSON.parse(line) as Result;
}

function table(results: Result[]): string {
  const columns = Object.keys(flat(results[0]!));
  const cells = results.map((result) => Object.values(flat(result)).join(' | '));
  return [`| ${columns.join(' | ')} |`, `|${'---|'.repeat(columns.length)}`, ...cells.map((row) => `| ${row} |`)].join(
    '\n',
  );
}

const HEADER_KEYS = new Set(['bench', 'date', 'node', 'cpu', 'cores', 'command']);

function flat(result: Result): Record<string, unknown> {
  const entries = Object.entries(result).filter(([key]) => !HEADER_KEYS.has(key));
  return Object.fromEntries(
    entries.flatMap(([key, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([inner, one]) => [`${key} ${inner}`, one])
        : [[key, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function report(results: Result[]): string {
  const [first] = results;
  const sections = [...new Set(results.map(({ bench }) => bench))].map((bench) => {
    const own = results.filter((result) => result.bench === bench);
    const commands = own.map(({ command, date }) => `- \`${command}\` (${date})`).join('\n');
    return `## ${bench}\n\n${commands}\n\n${table(own)}`;
  });
  return `# Storage benchmarks\n\n${first!.cpu}, ${first!.cores} cores, Node ${first!.node}. \`node bench/storage/run.ts\`; load is the machine's one-minute load average when each run ended. Where it is above the number of cores other work ran beside, wall times and latencies are that work's as much as ours: read the CPU columns, and compare latencies with the control rows, which do no storage at all.\n\n${sections.join('\n\n')}\n`;
}

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(RUNS);
const kept = existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Result[]) : [];
const results = kept.filter(({ bench }) => !names.includes(bench));
for (const name of names) for (const args of RUNS[name] ?? []) results.push(run(name, args));
writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
writeFileSync(REPORT, report(results));
