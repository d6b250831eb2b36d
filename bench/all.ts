// `npm run bench:all`: every measurement there is, one after the other, results into bench/results. Two to three hours on a
// quiet machine; `npm run bench:soak` (an hour) is not among them.
import { spawnSync } from 'node:child_process';

const runs: readonly (readonly [script: string, ...args: string[]])[] = [
  ['throughput/run.ts', '--rounds', '5', '--requests', '20000', '--stock', '1000'],
  ['throughput/profile.ts'],
  ['throughput/steps.ts'],
  ['slots/run.ts', '--rounds', '3'],
  ['startup/run.ts'],
  ['memory/run.ts'],
  ['http/run.ts', '4000', '6'],
  ['sources/run.ts', '400000', '2'],
  ['storage/run.ts'],
  ['export/run.ts', '1000000', '2'],
  ['sessions/session-cost.ts'],
  ['api/page-cost.ts'],
  ['measure/against-wrk.ts'],
  ['measure/recorder-cost.ts'],
  ['zoo/simulate.ts', '--seeds', '3', '--out', 'bench/results/zoo-simulated.md'],
  ['zoo/run.ts', '--out', 'bench/results/zoo'],
];

for (const [script, ...args] of runs) {
  console.log(`\n${script} ${args.join(' ')}`);
  const path = new URL(script, import.meta.url).pathname;
  const { status } = spawnSync(process.execPath, [path, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
