// Lists of 1,000,000 URLs, each way in a process of its own, interleaved.
// node bench/sources/run.ts [lines] [rounds]
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machine, median } from '../common/machine.ts';
import { type ListKind, writeList } from './lists.ts';

const LINES = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 3);

type Case = { name: string; reader: string; kind: ListKind; lines: number };
type Measured = { lines: number; ms: number; cpuMs: number; peakRssMb: number };
type Result = Case & { linesPerSec: number; cpuMicrosPerLine: number; peakRssMb: number };

const CASES: readonly Case[] = [
  { name: 'millrace, text', reader: 'millrace', kind: 'text', lines: LINES },
  { name: 'millrace, text, four times as long', reader: 'millrace', kind: 'text', lines: 4 * LINES },
  { name: 'readline and new URL', reader: 'readlineAndUrl', kind: 'text', lines: LINES },
  { name: 'readline and Crawlee Request', reader: 'readlineAndCrawlee', kind: 'text', lines: LINES / 10 },
  { name: 'millrace, CSV', reader: 'millrace', kind: 'csv', lines: LINES },
  { name: 'csv-parse, CSV', reader: 'csvParse', kind: 'csv', lines: LINES / 4 },
  { name: 'millrace, quoted CSV', reader: 'millrace', kind: 'quoted csv', lines: LINES },
  { name: 'csv-parse, quoted CSV', reader: 'csvParse', kind: 'quoted csv', lines: LINES / 4 },
  { name: 'millrace, JSON Lines', reader: 'millrace', kind: 'jsonl', lines: LINES },
  { name: 'readline, JSON.parse and new URL', reader: 'readlineAndJson', kind: 'jsonl', lines: LINES },
];
const ENDINGS: Record<ListKind, string> = { text: 'txt', csv: 'csv', 'quoted csv': 'quoted.csv', jsonl: 'jsonl' };

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
try {
  await writeLists();
  const facts = machine();
  report(measure(), facts);
} finally {
  rmSync(folder, { recursive: true });
}

function pathOf({ kind, lines }: Pick<Case, 'kind' | 'lines'>): string {
  return join(folder, `${lines}.${ENDINGS[kind]}`);
}

async function writeLists(): Promise<void> {
  for (const list of new Map(CASES.map((each) => [pathOf(each), each])).values()) {
    await writeList(pathOf(list), list.kind, list.lines);
  }
}

function measure(): Result[] {
  const runs = CASES.map((): Measured[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, each] of CASES.entries()) runs[index]!.push(measureOne(each));
  }
  return CASES.map((each, index) => ({
    ...each,
    linesPerSec: Math.round(median(runs[index]!.map(({ lines, ms }) => (lines / ms) * 1_000))),
    cpuMicrosPerLine: Number(median(runs[index]!.map(({ lines, cpuMs }) => (cpuMs / lines) * 1_000)).toFixed(2)),
    peakRssMb: Math.round(median(runs[index]!.map(({ peakRssMb }) => peakRssMb))),
  }));
}

function measureOne(each: Case): Measured {
  const one = new URL('./one.ts', import.meta.url).pathname;
  const measured = JSON.parse(execFileSync(process.execPath, [one, each.reader, pathOf(each)]).toString()) as Measured;
  if (measured.lines !== each.lines) throw new Error(`${each.name}: ${measured.lines} of ${each.lines} lines`);
  return measured;
}

function report(results: readonly Result[], facts: ReturnType<typeof machine>): void {
  const command = `node bench/sources/run.ts ${LINES} ${ROUNDS}`;
  const rows = results.map(
    ({ name, lines, linesPerSec, cpuMicrosPerLine, peakRssMb }) =>
      `| ${name} | ${lines.toLocaleString('en')} | ${linesPerSec.toLocaleString('en')} | ${cpuMicrosPerLine} | ${peakRssMb} |`,
  );
  const text = [
    '# Reading lists of URLs',
    '',
    `\`${command}\`, ${facts.date.slice(0, 10)}; ${facts.cores} cores (${facts.cpu}), Node ${facts.node}, load ${facts.loadAtStart} at the start.`,
    `Median of ${ROUNDS} rounds, interleaved, each in a process of its own. millrace: URL checked, unique key and host found,`,
    'in batches as the store takes them. csv-parse: the records alone. On a busy machine the CPU time says more.',
    '',
    '| | lines | lines/s | CPU, µs a line | peak RSS, MB |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
  ].join('\n');
  const target = new URL('../results/', import.meta.url);
  mkdirSync(target, { recursive: true });
  writeFileSync(new URL('sources.md', target), text);
  writeFileSync(new URL('sources.json', target), `${JSON.stringify({ command, machine: facts, results }, null, 2)}\n`);
  console.log(text);
}
