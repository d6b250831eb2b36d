// The yardstick: undici's pool, request() and body.json(), nothing kept. argv: base URL, requests, concurrency.
import { Pool } from 'undici';

const [base = '', requests = '0', concurrency = '50'] = process.argv.slice(2);
const pool = new Pool(base, { connections: Number(concurrency), pipelining: 1 });
let next = 0;
const total = Number(requests);
const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
await Promise.all(
  Array.from({ length: Number(concurrency) }, async () => {
    while (next < total) {
      const { body } = await pool.request({ path: `/items/${next++}`, method: 'GET' });
      await body.json();
    }
  }),
);
const wallMs = performance.now() - startedMs;
const { user, system } = process.cpuUsage(cpuBefore);
console.log(JSON.stringify({ requestsPerSecond: (total / wallMs) * 1000, cpuMicros: (user + system) / total }));
await pool.close();
