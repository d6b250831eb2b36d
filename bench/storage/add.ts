// Adds unique URLs from a file, line by line, then the same file again: URLs/s, CPU, memory.
// node bench/storage/add.ts [urls] [sequential|shuffled]

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hostOf } from '../../src/core/host.ts';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import type { NewRequest } from '../../src/storage/store.ts';
import { costFigures, fileMb, measure, ports, report, requestOf, rssMb, scratchFolder } from './common.ts';

const BATCH = 1_000;
const count = Number(process.argv[2] ?? 1_000_000);
const order = process.argv[3] ?? 'sequential';
// Coprime to every count used here: visits each number once, far apart.
const STRIDE = 7_368_787;

const { folder, remove } = scratchFolder();
const list = join(folder, 'urls.txt');
await writeList();
const file = join(folder, 'run.sqlite');
const store = await openSqliteRun({ file, durability: 'normal', ports });
let peakRssMb = 0;
const first = await measure(addAll);
const again = await measure(addAll);
const { total } = await store.queue.counts();
if (total !== count) throw new Error(`${total} requests are stored instead of ${count}`);
await store.close();
const figures = { first: costFigures(first), again: costFigures(again), peakRssMb, databaseMb: fileMb(file) };
report({ bench: 'add', count, order, ...figures });
remove();

async function writeList(): Promise<void> {
  const out = createWriteStream(list);
  for (let n = 0; n < count; n++) {
    const item = order === 'shuffled' ? (n * STRIDE) % count : n;
    if (!out.write(`${requestOf(item).url}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

async function addAll(): Promise<number> {
  let added = 0;
  let batch: NewRequest[] = [];
  const flush = async () => {
    added += (await store.queue.add(batch)).length;
    batch = [];
    peakRssMb = Math.max(peakRssMb, rssMb());
  };
  for await (const url of createInterface({ input: createReadStream(list) })) {
    batch.push({ uniqueKey: url, url, host: hostOf(url), method: 'GET', label: null, data: null });
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return added;
}
