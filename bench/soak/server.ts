// Several hosts of a soak: 1 KB of JSON for every path, 1 % of first tries fail with 503, and the last host allows fewer
// requests a second, more or less from minute to minute. Prints the ports; at SIGTERM how often each path was served.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TokenBucket } from '../zoo/limiters.ts';

const [hosts = '4', limitText = '300'] = process.argv.slice(2);
const FAULTY_SHARE = 0.01;
const limit = Number(limitText);
const LIMIT_EVERY_MS = 60_000;
const SHARES = [1, 0.5, 0.75];

const bucket = new TokenBucket(limit, limit);
let minutes = 0;
setInterval(() => bucket.scale(SHARES[++minutes % SHARES.length] ?? 1), LIMIT_EVERY_MS).unref();

const counts = { served: 0, failed: 0, refused: 0 };
const filler = 'x'.repeat(960);

function isFaulty(path: string): boolean {
  let hash = 2_166_136_261;
  for (let index = 0; index < path.length; index++) hash = Math.imul(hash ^ path.charCodeAt(index), 16_777_619);
  // FNV alone gives paths that follow one another nearly the same upper bits: their faults would come in clusters.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32 < FAULTY_SHARE;
}

const failedOnce = new Set<string>();

function listen(isLimited: boolean): Promise<number> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') return response.writeHead(404).end();
    if (isLimited && !bucket.arrive(performance.now()).accepted) {
      counts.refused++;
      return response.writeHead(429, { 'retry-after': '1' }).end('{}');
    }
    if (isFaulty(path) && !failedOnce.has(path)) {
      failedOnce.add(path);
      counts.failed++;
      return response.writeHead(503).end('{}');
    }
    counts.served++;
    return response.writeHead(200, { 'content-type': 'application/json' }).end(`{"path":"${path}","name":"${filler}"}`);
  });
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const ports = await Promise.all(
  Array.from({ length: Number(hosts) }, (_, index) => listen(index === Number(hosts) - 1)),
);
console.log(JSON.stringify(ports));
process.on('SIGTERM', () => {
  console.log(JSON.stringify(counts));
  process.exit(0);
});
