/** @fastify/rate-limit, a limiter nobody here wrote, in a process of its own: `node fastify-server.ts CELL_JSON`. */
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import type { Cell } from './cells.ts';

const cell = JSON.parse(process.argv[2] ?? '{}') as Cell;
const accepted: number[] = [];
const refused: number[] = [];
const seen = new Map<string, number>();
let startedAtMs: number | null = null;

const app = Fastify({ keepAliveTimeout: 60_000 });
const isSilent = cell.headers === 'none';
const shown = { 'x-ratelimit-limit': !isSilent, 'x-ratelimit-remaining': !isSilent, 'x-ratelimit-reset': !isSilent };
await app.register(rateLimit, {
  max: cell.rate,
  timeWindow: 1000,
  enableDraftSpec: cell.headers === 'ietf',
  addHeaders: { ...shown, 'retry-after': !isSilent },
  addHeadersOnExceeding: shown,
});
app.addHook('onSend', async (request, reply) => {
  const nowMs = performance.now();
  startedAtMs ??= nowMs;
  const counts = reply.statusCode === 200 ? accepted : refused;
  const second = Math.floor((nowMs - startedAtMs) / 1000);
  while (counts.length <= second) counts.push(0);
  counts[second] = (counts[second] ?? 0) + 1;
  if (reply.statusCode === 200) seen.set(request.url, (seen.get(request.url) ?? 0) + 1);
});
app.get('/items/:id', async (request) => {
  await new Promise((resolve) => setTimeout(resolve, cell.latencyMs));
  return { path: request.url };
});

process.on('message', () => {
  const doubled = [...seen.values()].filter((times) => times > 1).length;
  process.send?.({ accepted, refused, distinct: seen.size, doubled });
});
await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 });
