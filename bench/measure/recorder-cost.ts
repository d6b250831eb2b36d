// `node bench/measure/recorder-cost.ts [--rounds 7]`: what recording its timings costs a request, in CPU microseconds of the
// main thread: one attempt with all its phases, parse, handler and commit afterwards, and the request being handled.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { createRecorder, type Recorder } from '../../src/report/recorder.ts';
import { machine, median } from '../common/machine.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } });
const REQUESTS = 300_000;
const HOSTS = [1, 100];

function record(recorder: Recorder, host: string, index: number): void {
  const spread = (index * 7_919) % 1_000;
  const firstByte = 20 + spread / 10;
  recorder.attempt({
    host,
    status: 200,
    failure: null,
    timings: {
      politeness: spread / 100,
      queue: spread / 50,
      dns: 0,
      connect: 0,
      tls: 0,
      firstByte,
      download: 1 + spread / 500,
      parse: 0,
      handler: 0,
      commit: 0,
    },
    reused: true,
    httpVersion: '1.1',
    limited: false,
  });
  recorder.time(host, 'parse', 0.02);
  recorder.time(host, 'handler', 0.03);
  recorder.time(host, 'commit', 5);
  recorder.handled({ host, result: 'succeeded', code: null, url: `https://${host}/${index}` });
}

/** @returns CPU microseconds a request */
function measure(hostCount: number): number {
  const ports = { clock: systemClock, random: Math.random, log: silentLog };
  const recorder = createRecorder({ ports, run: 'bench' });
  const hosts = Array.from({ length: hostCount }, (_, index) => `api-${index}.example.com`);
  const before = process.cpuUsage();
  for (let index = 0; index < REQUESTS; index++) record(recorder, hosts[index % hostCount]!, index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}

const about = machine();
for (const count of HOSTS) measure(count);
const rounds = new Map<number, number[]>(HOSTS.map((count) => [count, []]));
for (let round = 0; round < Number(values.rounds); round++)
  for (const [count, micros] of rounds) micros.push(measure(count));

const rows = [...rounds].map(([count, micros]) => {
  const [least, most] = [Math.min(...micros), Math.max(...micros)];
  return `| ${count} | ${median(micros).toFixed(2)} | ${least.toFixed(2)} to ${most.toFixed(2)} |`;
});
const command = `node bench/measure/recorder-cost.ts --rounds ${values.rounds}`;
const text = [
  '# What recording costs a request',
  '',
  `CPU of the main thread for all ten timings of a request, its status, and what became of it, over ${REQUESTS.toLocaleString('en')} requests. Histograms are of a fixed size, so memory does not grow with the crawl.`,
  '',
  '| hosts | us a request (median) | range |',
  '|---|---|---|',
  ...rows,
  '',
  `\`${command}\` on ${about.cores} cores of ${about.cpu}, Node ${about.node}, ${about.date}, load at start ${about.loadAtStart}.`,
  '',
].join('\n');
console.log(text);
const folder = new URL('../results/', import.meta.url).pathname;
writeFileSync(`${folder}recorder-cost.md`, text);
const results = Object.fromEntries(rounds);
writeFileSync(`${folder}recorder-cost.json`, `${JSON.stringify({ command, machine: about, results }, null, 2)}\n`);
