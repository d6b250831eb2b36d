// One export in a process of its own, so that its peak memory is its own: prints a JSON line.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { stringify as stringifySync } from 'csv-stringify/sync';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { systemRandom } from '../../src/core/random.ts';
import { exportDataset } from '../../src/export/export-dataset.ts';
import { formatOf } from '../../src/export/export-format.ts';
import { type PageReader, rowsByPage } from '../../src/export/rows.ts';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';

const [program, databasePath, path, limitText] = process.argv.slice(2) as [string, string, string, string];
const limit = Number(limitText);
const store = await openSqliteRun({
  file: databasePath,
  durability: 'normal',
  access: 'read',
  ports: { clock: systemClock, random: systemRandom, log: silentLog },
});
const page: PageReader = (options) => store.datasets.page('default', options);

async function millrace(): Promise<void> {
  await exportDataset({
    ...formatOf(path),
    rows: rowsByPage(page),
    limit,
    columns: () => store.datasets.columns('default'),
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
await store.close();
const usage = process.resourceUsage();
console.log(
  JSON.stringify({
    rowsPerSec: Math.round(limit / secs),
    cpuMicrosPerRow: (usage.userCPUTime + usage.systemCPUTime) / limit,
    peakRssMb: Math.round(usage.maxRSS / 1_024),
  }),
);
