// `npm run bench`: throughput beside its peers, and how full the slots are. About two minutes on a quiet machine. What is
// measured elsewhere (storage, export, limiters, sources, ...) has a folder of its own here, each with a run.ts.
import { spawnSync } from 'node:child_process';

const runs = [
  ['throughput/run.ts', '--rounds', '3', '--requests', '20000', '--stock', '1000'],
  ['slots/run.ts', '--rounds', '1'],
];
for (const [file = '', ...args] of runs) {
  const { status } = spawnSync(process.execPath, [new URL(file, import.meta.url).pathname, ...args], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
