/**
 * One limiter on a real socket, in a process of its own: `node server.ts CELL_JSON`. Prints its port, counts what arrives,
 * and on a message of its parent sends the counts.
 */
import { createServer } from 'node:http';
import { answerHeaders } from './answer.ts';
import { type Cell, makeLimiter } from './cells.ts';
import { FAULT } from './limiters.ts';

const cell = JSON.parse(process.argv[2] ?? '{}') as Cell;
const limiter = makeLimiter(cell);
const seen = new Map<string, number>();
const accepted: number[] = [];
const refused: number[] = [];
let startedAtMs: number | null = null;
let hangs = 0;

function count(counts: number[], nowMs: number): void {
  const second = Math.floor((nowMs - (startedAtMs ?? nowMs)) / 1000);
  while (counts.length <= second) counts.push(0);
  counts[second] = (counts[second] ?? 0) + 1;
}

function startOnce(nowMs: number): void {
  if (startedAtMs !== null) return;
  startedAtMs = nowMs;
  for (const change of cell.changes ?? []) setTimeout(() => limiter.scale(change.share), change.atMs);
  if (cell.otherClientRps) setInterval(otherClient, 1000 / cell.otherClientRps);
}

function otherClient(): void {
  if (limiter.arrive(performance.now()).accepted) setTimeout(() => limiter.leave(performance.now()), cell.latencyMs);
}

const server = createServer((request, response) => {
  const nowMs = performance.now();
  startOnce(nowMs);
  const fails = cell.faultShare !== undefined && Math.random() < cell.faultShare;
  const decision = fails ? FAULT : limiter.arrive(nowMs);
  if (!fails) count(decision.accepted ? accepted : refused, nowMs);
  if (cell.hangsEvery !== undefined && ++hangs % cell.hangsEvery === 0) return;
  const headers = answerHeaders(cell.headers, { limiter, decision, wallMs: Date.now() });
  if (decision.accepted) seen.set(request.url ?? '', (seen.get(request.url ?? '') ?? 0) + 1);
  const servedInMs = cell.latencyMs * (1 + cell.jitter * (2 * Math.random() - 1)) + decision.delayMs;
  setTimeout(() => {
    if (decision.accepted) limiter.leave(performance.now());
    response.writeHead(fails ? 503 : decision.accepted ? 200 : cell.refusalStatus, {
      ...headers,
      'content-type': 'application/json',
    });
    response.end(decision.accepted ? `{"path":"${request.url}"}` : '{"error":"too many requests"}');
  }, servedInMs);
});
server.keepAliveTimeout = 60_000;

process.on('message', () => {
  const doubled = [...seen.values()].filter((times) => times > 1).length;
  process.send?.({ accepted, refused, distinct: seen.size, doubled });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 });
});
