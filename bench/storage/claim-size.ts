// The cost of a claim of 100 requests over 20 hosts, by the size of the run.
// node bench/storage/claim-size.ts [pending]
import { join } from 'node:path';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import { buildRun } from './build-run.ts';
import { claimOptions, fileMb, measure, ports, report, round, rssMb, scratchFolder, unitOf } from './common.ts';

const pending = Number(process.argv[2] ?? 10_000);
const CLAIMS = 90;
const BATCH = 100;
const HOSTS = 20;

const { folder, remove } = scratchFolder();
const file = join(folder, 'run.sqlite');
await buildRun(file, { handled: 0, pending, hosts: HOSTS });
const store = await openSqliteRun({ file, durability: 'normal', ports });
const claim = () => store.queue.claim(claimOptions(BATCH, BATCH / HOSTS));
await store.queue.commit((await claim()).requests.map(unitOf));

const cost = await measure(async () => {
  for (let i = 0; i < CLAIMS; i++) {
    const { requests } = await claim();
    if (requests.length !== BATCH) throw new Error(`${requests.length} requests were claimed`);
  }
  return CLAIMS;
});
const countsStartMs = performance.now();
await store.queue.counts();
const countsMs = performance.now() - countsStartMs;
report({
  bench: 'claim-size',
  pending,
  mainCpuMicrosPerClaim: round((cost.mainCpuMs * 1_000) / CLAIMS),
  wallMicrosPerClaim: round((cost.wallMs * 1_000) / CLAIMS),
  statusMs: round(countsMs, 2),
  databaseMb: fileMb(file),
  rssMb: rssMb(),
});
await store.close();
remove();
