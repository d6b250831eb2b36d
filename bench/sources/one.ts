// One measurement in a process of its own: node bench/sources/one.ts READER FILE
import { READERS } from './readers.ts';

const [reader, path] = process.argv.slice(2);
const read = READERS[reader ?? ''];
if (read === undefined || path === undefined) throw new Error('usage: node bench/sources/one.ts READER FILE');
const before = process.cpuUsage();
const startedMs = performance.now();
const lines = await read(path);
const ms = performance.now() - startedMs;
const { user, system } = process.cpuUsage(before);
const peakRssMb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ lines, ms, cpuMs: (user + system) / 1_000, peakRssMb }));
