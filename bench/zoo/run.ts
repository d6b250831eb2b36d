/**
 * The limiter zoo on real sockets, counted on the servers' side:
 * `node bench/zoo/run.ts [--cell TEXT] [--not TEXT] [--strategy NAME] [--seconds N] [--parallel N] [--out FILE]`.
 * Writes FILE.md and FILE.json when --out is given; with --again the rows of a FILE.json already there are kept, but for
 * those that ran again.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type Cell, zooCells } from './cells.ts';
import { runClient, startServer } from './processes.ts';
import type { StrategyName } from './strategies.ts';
import { formatTable, type Row } from './table.ts';
import { judge, trueLimit } from './targets.ts';

const { values } = parseArgs({
  options: {
    cell: { type: 'string', default: '' },
    not: { type: 'string', default: '(none)' },
    strategy: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    parallel: { type: 'string', default: '6' },
    out: { type: 'string' },
    again: { type: 'boolean', default: false },
  },
});

type Job = { cell: Cell; strategy: StrategyName };

const jobs = zooCells()
  .filter(({ cell }) => cell.name.includes(values.cell) && !cell.name.includes(values.not))
  .filter(({ strategy }) => (values.strategy ?? strategy) === strategy)
  // Busy cells last and few at a time, so that they do not disturb the others.
  .sort((a, b) => load(a.cell) - load(b.cell));

function load(cell: Cell): number {
  return cell.limiter === 'no limit' || cell.rate >= 1000 ? 1 : 0;
}

async function run({ cell, strategy }: Job): Promise<Row> {
  const lastChangeMs = Math.max(0, ...(cell.changes ?? []).map((change) => change.atMs));
  const server = await startServer(cell);
  try {
    const sendForMs = lastChangeMs + Number(values.seconds) * 1000;
    const timeoutMs = cell.hangsEvery === undefined ? 30_000 : 10_000;
    const report = await runClient({
      cell,
      origin: server.origin,
      strategy,
      trueRps: trueLimit(cell),
      sendForMs,
      timeoutMs,
    });
    const counts = await server.counts();
    const secs = Math.floor(sendForMs / 1000);
    const result = {
      accepted: padded(counts.accepted, secs),
      refused: counts.refused,
      latenciesMs: report.latenciesMs,
    };
    const verdict = judge(cell, result);
    return { cell, strategy, ...verdict, lost: report.lost, doubled: counts.doubled, events: report.events.length };
  } finally {
    await server.stop();
  }
}

/** Only the seconds in which there was work for sure. */
function padded(counts: number[], secs: number): number[] {
  return Array.from({ length: secs }, (_, second) => counts[second] ?? 0);
}

// A busy cell is two processes that each take most of a core.
const BUSY_AT_ONCE = Math.max(1, Math.floor(cpus().length / 2));
const rows: Row[] = [];
const waiting = [...jobs];
let running = 0;

async function worker(): Promise<void> {
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
    while (load(job.cell) === 1 && running >= BUSY_AT_ONCE) await new Promise((resolve) => setTimeout(resolve, 200));
    running += 1;
    const row = await run(job);
    running -= 1;
    rows.push(row);
    const misses = row.misses.length > 0 ? `MISS ${row.misses.join('; ')}` : 'ok';
    console.log(
      `${rows.length}/${jobs.length} ${job.strategy} ${job.cell.name}: ${row.goodput.toFixed(3)} / ${row.refused} lost ${row.lost} doubled ${row.doubled} ${misses}`,
    );
  }
}

const light = jobs.filter((job) => load(job.cell) === 0).length;
const workers = Math.max(BUSY_AT_ONCE, Math.min(Number(values.parallel), light));
// One after the other, so that their processes do not all start at once.
await Promise.all(
  Array.from({ length: workers }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index * 2000));
    await worker();
  }),
);

if (values.out !== undefined) {
  const about = {
    date: new Date().toISOString(),
    machine: `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}`,
    node: process.version,
    command: `node bench/zoo/run.ts ${process.argv.slice(2).join(' ')}`,
  };
  const order = zooCells().map(({ cell, strategy }) => `${strategy} ${cell.name}`);
  const former = values.again ? (JSON.parse(await readFile(`${values.out}.json`, 'utf8')) as { rows: Row[] }).rows : [];
  const all = new Map([...former, ...rows].map((row) => [`${row.strategy} ${row.cell.name}`, row]));
  const sorted = [...all].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)).map(([, row]) => row);
  await writeFile(`${values.out}.json`, `${JSON.stringify({ ...about, rows: sorted }, null, 1)}\n`);
  await writeFile(`${values.out}.md`, formatTable(about, sorted));
}
