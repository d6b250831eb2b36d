// The yardstick: undici's pool with as many connections as slots, nothing kept. argv: base URL, requests, concurrency.
import { Pool } from 'undici';

const [base = '', requests = '0', concurrency = '50'] = process.argv.slice(2);
const pool = new Pool(base, { connections: Number(concurrency), pipelining: 1 });
let next = 0;
const tookMs: number[] = [];
await Promise.all(
  Array.from({ length: Number(concurrency) }, async () => {
    while (next < Number(requests)) {
      const startedMs = performance.now();
      const { body } = await pool.request({ path: `/${next++}`, method: 'GET' });
      await body.json();
      tookMs.push(performance.now() - startedMs);
    }
  }),
);
await pool.close();
tookMs.sort((a, b) => a - b);
const at = (share: number): number => tookMs[Math.floor(tookMs.length * share)] ?? Number.NaN;
console.log(JSON.stringify({ p50: at(0.5), p95: at(0.95) }));
