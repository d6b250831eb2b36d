// 1,000,000 records of 1 KB from SQLite to a file, beside the peers' ways, interleaved.
// node bench/export/run.ts [rows] [rounds]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { systemRandom } from '../../src/core/random.ts';
import { ColumnTracker } from '../../src/export/flatten.ts';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import { recordJson } from './record.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 2);
const BATCH = 5_000;
// What holds all rows in memory gets fewer.
const PEER_ROWS = Math.min(ROWS, 100_000);

type Measured = { rowsPerSec: number; cpuMicrosPerRow: number; peakRssMb: number };
type Case = { name: string; program: string; file: string; rows: number };

const CASES: readonly Case[] = [
  { name: 'millrace, CSV', program: 'millrace', file: 'm.csv', rows: ROWS },
  { name: 'millrace, JSON Lines', program: 'millrace', file: 'm.jsonl', rows: ROWS },
  { name: 'millrace, JSON', program: 'millrace', file: 'm.json', rows: ROWS },
  { name: 'millrace, CSV, gzip', program: 'millrace', file: 'm.csv.gz', rows: PEER_ROWS },
  { name: 'millrace, Parquet', program: 'millrace', file: 'm.parquet', rows: PEER_ROWS },
  { name: 'csv-stringify as a stream', program: 'csvStringifyStream', file: 's.csv', rows: PEER_ROWS },
  { name: 'Crawlee 3.18 exportToCSV (csv-stringify/sync)', program: 'crawleeWay', file: 'c.csv', rows: PEER_ROWS },
];

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
try {
  const database = join(folder, 'records.sqlite');
  const trackerMicros = await fill(database);
  const results = measure(database);
  report(results, trackerMicros);
} finally {
  rmSync(folder, { recursive: true });
}

async function fill(file: string): Promise<number> {
  const ports = { clock: systemClock, random: systemRandom, log: silentLog };
  const store = await openSqliteRun({ file, durability: 'normal', ports });
  const tracker = new ColumnTracker();
  let cpuMicros = 0;
  for (let from = 0; from < ROWS; from += BATCH) {
    const jsons = Array.from({ length: Math.min(BATCH, ROWS - from) }, (_, index) => recordJson(from + index));
    const before = process.cpuUsage();
    for (const json of jsons) tracker.add(json);
    const { user, system } = process.cpuUsage(before);
    cpuMicros += user + system;
    await store.datasets.push('default', jsons);
  }
  await store.datasets.addColumns('default', tracker.columns);
  await store.close();
  return cpuMicros / ROWS;
}

function measure(database: string): Map<string, Measured[]> {
  const results = new Map<string, Measured[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, program, file, rows } of CASES) {
      const path = join(folder, file);
      const script = join(import.meta.dirname, 'one.ts');
      const line = execFileSync(process.execPath, [script, program, database, path, String(rows)], {
        encoding: 'utf8',
      });
      const measured = JSON.parse(line) as Measured;
      console.log(name, measured, `${Math.round(statSync(path).size / 1e6)} MB`);
      results.set(name, [...(results.get(name) ?? []), measured]);
      rmSync(path);
    }
  }
  return results;
}

function report(results: Map<string, Measured[]>, trackerMicros: number): void {
  const facts = {
    machine: `${cpus().length} x ${cpus()[0]?.model}`,
    date: new Date().toISOString(),
    node: process.version,
    command: `node bench/export/run.ts ${ROWS} ${ROUNDS}`,
    loadAverage: Math.round(loadavg()[1] ?? 0),
    trackerMicrosPerRow: Number(trackerMicros.toFixed(2)),
    results: Object.fromEntries(results),
  };
  const best = (runs: readonly Measured[]): Measured => runs.reduce((a, b) => (b.rowsPerSec > a.rowsPerSec ? b : a));
  const lines = CASES.map(({ name, rows }) => {
    const runs = results.get(name) ?? [];
    const all = runs.map((run) => run.rowsPerSec.toLocaleString('en-US')).join(' / ');
    const { cpuMicrosPerRow } = best(runs);
    const rss = Math.max(...runs.map((run) => run.peakRssMb));
    return `| ${name} | ${rows.toLocaleString('en-US')} | ${all} | ${cpuMicrosPerRow.toFixed(1)} | ${rss} |`;
  });
  const target = join(import.meta.dirname, '..', 'results');
  writeFileSync(join(target, 'export.json'), `${JSON.stringify(facts, null, 2)}\n`);
  writeFileSync(
    join(target, 'export.md'),
    `# Export: records of 1 KB from SQLite to a file

${facts.machine}, Node ${facts.node}, ${facts.date.slice(0, 10)}. \`${facts.command}\`

Load average over the five minutes before the end: ${facts.loadAverage} (this benchmark alone makes about 1; with more, rows/s are
those of a machine that others were busy on, and CPU is what compares).

Each run is a process of its own; rounds are interleaved. Rows/s is wall time from the first page read to the file
renamed and flushed; CPU is of the fastest round, start of the process included.

| | Rows | Rows/s by round | CPU µs a row | Peak RSS, MB |
|---|---|---|---|---|
${lines.join('\n')}

Keeping the columns while crawling costs ${facts.trackerMicrosPerRow} µs of CPU a record, read as text.
`,
  );
}
