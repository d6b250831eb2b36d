import { readFileSync } from 'node:fs';
import { formatCount, formatShare } from '../../src/report/format.ts';

const BEGIN = '<!-- results: made from bench/results by node scripts/generate-docs.ts -->';
const END = '<!-- end of results -->';

type Throughput = {
  command: string;
  machine: { cores: number; cpu: string; node: string; date: string };
  rows: { name: string; requestsPerSecond: number }[];
};
type Slots = { results: Record<string, Record<string, { share: number }[]>> };
type Export = { results: Record<string, { rowsPerSec: number; peakRssMb: number }[]> };
type Memory = { mostMb: number; requestsPerSecond: number; command: string };
type ZooRow = { cell: { name: string }; strategy: string; goodput: number; refused: number };
type Soak = {
  account: { records: number; lost: number; doubled: number };
  lives: { samples: { rssMb: number }[]; secs: number; wasKilled: boolean }[];
};
type StartUp = { results: Record<string, number[]> };
type Storage = { bench: string; handled?: number; pending?: number; cleanMs?: string | number[]; killedMs?: number };

/** @returns README.md with its table of results as the committed measurements have them */
export function readmeWithResults(): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from < 0 || to < from) throw new Error(`README.md lacks ${BEGIN} ... ${END}`);
  return `${readme.slice(0, from)}${BEGIN}\n${resultsTable()}\n${readme.slice(to)}`;
}

function resultsTable(): string {
  const { machine, command } = resultsOf<Throughput>('throughput');
  const rows = [throughputRow(), slotsRow(), limitRow(), memoryRow(), soakRow(), exportRow(), openRow(), startUpRow()];
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return `| | millrace | beside it, in the same rounds | how it was measured |
|---|---|---|---|
${lines}

On ${machine.cores} cores of ${machine.cpu}, Node ${machine.node.slice(1)}, ${machine.date.slice(0, 10)}; the first row by \`${command}\`.`;
}

function throughputRow(): string[] {
  const { rows } = resultsOf<Throughput>('throughput');
  const rate = (name: string): string => {
    const row = rows.find((candidate) => candidate.name.startsWith(name));
    if (row === undefined) throw new Error(`bench/results/throughput.json has no row "${name}"`);
    return `${formatCount(row.requestsPerSecond)} requests/s`;
  };
  return [
    'everything on, a server that answers at once',
    rate('millrace'),
    `bare undici ${rate('bare undici')}, stock Crawlee ${rate('stock Crawlee')}`,
    '[throughput](bench/results/throughput.md)',
  ];
}

function slotsRow(): string[] {
  const shares = resultsOf<Slots>('slots').results['50'];
  const of = (name: string): string => formatShare(median((shares?.[name] ?? []).map(({ share }) => share)));
  return [
    '50 slots, a server 50 ms away: share of the possible',
    of('millrace'),
    `bare undici ${of('bare undici')}`,
    '[slots](bench/results/slots.md)',
  ];
}

function limitRow(): string[] {
  const name = 'token bucket 100/s, 429 retry-after';
  const rows = resultsOf<{ rows: ZooRow[] }>('zoo').rows.filter(({ cell }) => cell.name === name);
  const of = (strategy: string): string => {
    const row = rows.find((candidate) => candidate.strategy === strategy);
    if (row === undefined) throw new Error(`bench/results/zoo.json has no row of ${strategy} for "${name}"`);
    return `${formatShare(row.goodput)}, ${formatCount(row.refused)} refused`;
  };
  return [
    'an unknown limit of 100 requests/s (429, Retry-After): share of it that was served in a minute',
    of('millrace'),
    `AIMD ${of('aimd')}; AWS adaptive retry ${of('aws-adaptive')}`,
    '[limiter zoo](bench/results/zoo.md)',
  ];
}

function startUpRow(): string[] {
  const { results } = resultsOf<StartUp>('startup');
  const ms = Math.round(median(results['millrace URL: first request on the wire'] ?? []));
  const nodeMs = Math.round(median(results['node, nothing'] ?? []));
  return [
    'from start to the first request on the wire',
    `${formatCount(ms)} ms`,
    `Node alone, doing nothing, ${formatCount(nodeMs)} ms`,
    '[start-up](bench/results/startup.md)',
  ];
}

function memoryRow(): string[] {
  const { mostMb, command } = resultsOf<Memory>('memory');
  const requests = Number(/--requests (\d+)/.exec(command)?.[1]);
  return [
    `memory of a crawl of ${formatCount(requests)} URLs, every record kept`,
    `at most ${formatCount(mostMb)} MB, flat`,
    '–',
    '[memory](bench/results/memory.md)',
  ];
}

function soakRow(): string[] {
  const { account, lives } = resultsOf<Soak>('soak');
  const secs = lives.reduce((sum, life) => sum + life.secs, 0);
  const kills = lives.filter(({ wasKilled }) => wasKilled).length;
  const mostMb = Math.max(...lives.flatMap(({ samples }) => samples.map(({ rssMb }) => rssMb)));
  return [
    `${formatCount(account.records)} URLs in ${formatCount(secs / 60)} minutes, killed by SIGKILL ${kills} times on the way`,
    `${formatCount(account.lost)} lost, ${formatCount(account.doubled)} doubled; at most ${formatCount(mostMb)} MB`,
    '–',
    '[soak](bench/results/soak.md)',
  ];
}

function exportRow(): string[] {
  const { results } = resultsOf<Export>('export');
  const of = (name: string): string => {
    const runs = results[name] ?? [];
    const mb = Math.max(...runs.map(({ peakRssMb }) => peakRssMb));
    return `${formatCount(median(runs.map(({ rowsPerSec }) => rowsPerSec)))} rows/s in ${formatCount(mb)} MB`;
  };
  return [
    'CSV of records of 1 KB: a million; Crawlee 100,000',
    of('millrace, CSV'),
    `Crawlee's exportToCSV ${of('Crawlee 3.18 exportToCSV (csv-stringify/sync)')}`,
    '[export](bench/results/export.md)',
  ];
}

function openRow(): string[] {
  const opened = resultsOf<Storage[]>('storage').findLast(({ bench }) => bench === 'open');
  if (opened === undefined) throw new Error('bench/results/storage.json has no result of "open"');
  return [
    `open a run of ${formatCount(opened.handled ?? 0)} requests handled and as many pending, after kill -9`,
    `${opened.killedMs} ms`,
    '–',
    '[storage](bench/results/storage.md)',
  ];
}

function resultsOf<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../bench/results/${name}.json`, import.meta.url), 'utf8')) as T;
}

function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('bench/results: a result that README quotes is missing');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
