// One export in a process of its own, so that its peak memory is its own: prints a JSON line.
import { createWriteStream } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { stringify as stringifySync } from 'csv-stringify/sync';
import { exportDataset } from '../../src/export/export-dataset.ts';
import { formatOf } from '../../src/export/export-format.ts';
import { rowsByPage } from '../../src/export/rows.ts';

const [program, databasePath, path, limitText] = process.argv.slice(2) as [string, string, string, string];
const limit = Number(limitText);
const database = new DatabaseSync(databasePath, { readOnly: true });
const select = database.prepare('select seq, json from records where seq > ? order by seq limit ?');
const page = async (options: { afterSeq: number; limit: number }) =>
  select.all(options.afterSeq, options.limit) as { seq: number; json: string }[];
const columns = database
  .prepare('select path from columns order by place')
  .all()
  .map((row) => String(row.path));

async function millrace(): Promise<void> {
  await exportDataset({
    ...formatOf(path),
    rows: rowsByPage(page),
    limit,
    columns: async () => columns,
    destination: { path, force: true },
  });
}

async function* items(): AsyncGenerator<unknown> {
  let count = 0;
  for await (const batch of rowsByPage(page)())
    for (const row of batch) {
      if (count++ === limit) return;
      yield JSON.parse(row.json);
    }
}

// As Crawlee 3.18's Dataset.exportToCSV does: all items in memory, columns of the first one.
async function crawleeWay(): Promise<void> {
  const all: unknown[] = [];
  for await (const item of items()) all.push(item);
  const { writeFile } = await import('node:fs/promises');
  await writeFile(path, stringifySync(all, { header: true }));
}

async function csvStringifyStream(): Promise<void> {
  await pipeline(Readable.from(items()), stringify({ header: true }), createWriteStream(path));
}

const programs: Record<string, () => Promise<void>> = { millrace, crawleeWay, csvStringifyStream };
const startedMs = performance.now();
await programs[program]?.();
const secs = (performance.now() - startedMs) / 1_000;
const usage = process.resourceUsage();
console.log(
  JSON.stringify({
    rowsPerSec: Math.round(limit / secs),
    cpuMicrosPerRow: (usage.userCPUTime + usage.systemCPUTime) / limit,
    peakRssMb: Math.round(usage.maxRSS / 1_024),
  }),
);
