// Runs the PostgreSQL benchmarks one after another and writes bench/results/postgres.{json,md}. The last takes three minutes.
// node bench/postgres/run.ts [SCRIPT ARGS]: of the runs that begin so; the results of the others stay, with their dates
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Result = Record<string, unknown> & { bench: string; command: string };

const RUNS: readonly (readonly [script: string, args: string])[] = [
  ['claim-commit', '10000 10 10'],
  ['claim-commit', '20000 100 10'],
  ['claim-commit', '20000 200 10'],
  ['claim-commit', '20000 500 10'],
  ['claim-size', '10000 40'],
  ['claim-size', '10000000 40'],
];

function play(script: string, args: readonly string[]): string {
  const file = fileURLToPath(new URL(`./${script}.ts`, import.meta.url));
  return execFileSync(process.execPath, [file, ...args], { encoding: 'utf8' }).trim();
}

const JSON_FILE = fileURLToPath(new URL('../results/postgres.json', import.meta.url));
const wanted = process.argv.slice(2).join(' ');
const earlier = JSON.parse(readFileSync(JSON_FILE, 'utf8')) as Result[];

function resultOf(script: string, args: string): Result {
  const known = earlier.find(({ command }) => command === `node bench/postgres/${script}.ts ${args}`);
  if (known !== undefined && !`${script} ${args}`.startsWith(wanted)) return known;
  return JSON.parse(play(script, args.split(' '))) as Result;
}

const results = RUNS.map(([script, args]) => resultOf(script, args));
const lines = results.map(({ command, bench, date, ...rest }) => {
  const { postgresCpuUs, wallUs, bytesARequest, waiting, postgresCpuMsAClaim, medianMs, loadAtEnd } = rest;
  const figures =
    bench === 'claim-commit'
      ? `CPU us a request ${JSON.stringify(postgresCpuUs)}, wall us ${JSON.stringify(wallUs)}, ${String(bytesARequest)} bytes`
      : `${String(waiting)} waiting: ${String(postgresCpuMsAClaim)} ms CPU a claim of 200, median ${String(medianMs)} ms`;
  return `| \`${command}\` | ${figures} | ${String(loadAtEnd)} | ${String(date)} |`;
});
const [{ cpu, cores, node, postgres } = {} as Result] = results;
const report = `# PostgreSQL

${String(cpu)}, ${String(cores)} cores, Node ${String(node)}, PostgreSQL ${String(postgres)}. \`node bench/postgres/run.ts\`. CPU is that of all
processes of the server; load is the machine's one-minute average when each run ended: above the number of cores, other work
ran beside, and wall times are that work's as much as ours.

| command | figures | load | date |
|---|---|---|---|
${lines.join('\n')}

## Simulation

${play('simulate', [])}
`;
writeFileSync(JSON_FILE, `${JSON.stringify(results, null, 2)}\n`);
writeFileSync(fileURLToPath(new URL('../results/postgres.md', import.meta.url)), report);
process.stdout.write(report);
