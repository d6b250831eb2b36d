import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as it came, body and all. */
export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string };

export type EchoServer = {
  url: string;
  /** "127.0.0.1:4321" */
  host: string;
  /** All requests, in order of arrival; robots.txt is not among them. */
  seen: Seen[];
  /** How many came for a path, its query included. */
  hits(path: string): number;
  close(): Promise<void>;
};

type Answer = { status?: number; headers?: Record<string, string | string[]>; body?: string; afterMs?: number };

/** Answers one path, given how often it was asked for before; undefined = as always. */
export type Answering = (seen: Seen, earlier: number) => Answer | undefined;

/**
 * A real server that gives back what it was asked: `{"method", "path", "headers", "body"}`. /status/503 answers with that
 * status, /flaky/2 with 500 twice and then well, /html as HTML, /redirect?to=URL sends on.
 */
export async function startEcho(
  answering: Answering = () => undefined,
  { robots = null }: { robots?: string | null } = {},
): Promise<EchoServer> {
  const seen: Seen[] = [];
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const one = await read(request);
    if (one.path === '/robots.txt') return void response.writeHead(robots === null ? 404 : 200).end(robots ?? '');
    const earlier = counts.get(one.path) ?? 0;
    counts.set(one.path, earlier + 1);
    seen.push(one);
    send(response, one, answering(one, earlier) ?? usual(one, earlier));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    seen,
    hits: (path) => counts.get(path) ?? 0,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function read(request: IncomingMessage): Promise<Seen> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return { method: request.method!, path: request.url!, headers: request.headers, body };
}

function usual(seen: Seen, earlier: number): Answer {
  const [, word, number] = seen.path.split(/[/?]/);
  if (word === 'status') return { status: Number(number), body: JSON.stringify({ message: `status ${number}` }) };
  if (word === 'flaky' && earlier < Number(number)) return { status: 500, body: '{"message":"not yet"}' };
  if (word === 'html') return { headers: { 'content-type': 'text/html' }, body: '<html><body>page</body></html>' };
  if (word === 'redirect')
    return { status: 302, headers: { location: decodeURIComponent(seen.path.split('to=')[1]!) } };
  return {};
}

function send(response: ServerResponse, seen: Seen, { status = 200, headers, body, afterMs = 0 }: Answer): void {
  setTimeout(() => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body ?? JSON.stringify(seen));
  }, afterMs);
}
