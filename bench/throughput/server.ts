// 1 KB of JSON for every path, at once or after LATENCY_MS, in a process of its own; prints its port.
import { createServer } from 'node:http';

const latencyMs = Number(process.env.LATENCY_MS ?? 0);
const server = createServer((request, response) => {
  if (request.url === '/robots.txt') {
    response.statusCode = 404;
    response.end();
    return;
  }
  const head = `{"id":"${request.url}","name":"`;
  const body = `${head}${'x'.repeat(1_000 - head.length)}","price":12.5}`;
  const answer = (): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  };
  if (latencyMs > 0) setTimeout(answer, latencyMs);
  else answer();
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(address.port);
});
