// 1 KB of JSON after 50 ms, counted by when it was asked for. Prints its port, and at SIGTERM its counts per 100 ms and
// how long an answer really took here: a timer of 50 ms is always a little late.
import { createServer } from 'node:http';

const LATENCY_MS = 50;
const body = JSON.stringify({ id: 1, name: 'x'.repeat(960), price: 12.5 });
const counts: number[] = [];
let startedMs: number | null = null;
let takenMs = 0;
let answered = 0;
const server = createServer((request, response) => {
  if (request.url === '/robots.txt') {
    response.statusCode = 404;
    response.end();
    return;
  }
  const askedMs = performance.now();
  startedMs ??= askedMs;
  const slot = Math.floor((askedMs - startedMs) / 100);
  counts[slot] = (counts[slot] ?? 0) + 1;
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
    takenMs += performance.now() - askedMs;
    answered++;
  }, LATENCY_MS);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(address.port);
});
process.on('SIGTERM', () => {
  console.log(JSON.stringify({ counts: Array.from(counts, (count) => count ?? 0), latencyMs: takenMs / answered }));
  process.exit(0);
});
