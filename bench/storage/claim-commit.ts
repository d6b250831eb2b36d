// Claims and commits with one 1 KB record each: requests/s, and CPU per request, by batch size and number of hosts.
// node bench/storage/claim-commit.ts [requests] [batch] [hosts]
import { join } from 'node:path';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import {
  addRequests,
  claimOptions,
  costFigures,
  measure,
  ports,
  report,
  rssMb,
  scratchFolder,
  unitOf,
} from './common.ts';

const count = Number(process.argv[2] ?? 200_000);
const batch = Number(process.argv[3] ?? 100);
const hosts = Number(process.argv[4] ?? 1);

const { folder, remove } = scratchFolder();
const store = await openSqliteRun({ file: join(folder, 'run.sqlite'), durability: 'normal', ports });
await addRequests(store, { count, hosts });
const perHost = Math.max(1, Math.ceil(batch / hosts));
const cost = await measure(async () => {
  let done = 0;
  for (;;) {
    const { requests } = await store.queue.claim(claimOptions(batch, perHost));
    if (requests.length === 0) return done;
    await store.queue.commit(requests.map(unitOf));
    done += requests.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
});
report({ bench: 'claim-commit', count, batch, hosts, ...costFigures(cost), rssMb: rssMb() });
await store.close();
remove();
