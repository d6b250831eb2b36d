import { createServer } from 'node:http';

/** A server of 1 KB of JSON, in a process of its own; prints its port. */
const body = JSON.stringify({ id: 1, name: 'x'.repeat(960), price: 12.5, tags: ['a', 'b'] });
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', body.length);
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') console.log(address.port);
});
