import { constants, type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { afterAll, afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { CrawlEvent } from '../../src/core/events.ts';
import { silentLog } from '../../src/core/log.ts';
import type { HttpClient } from '../../src/http/client.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';
import { testCertificates } from './support/certificates.ts';
import { resolveOnly } from './support/names.ts';
import { failure, limits, request } from './support/requests.ts';
import { closeServers, startHttp2, startHttps, startTls } from './support/servers.ts';

const clients: HttpClient[] = [];
const events: CrawlEvent[] = [];

function newClient(): HttpClient {
  const client = createUndiciClient({
    ports: { clock: systemClock, random: () => 0.5, log: silentLog },
    maxConnectionsPerOrigin: 50,
    blockPrivateAddresses: false,
    trust: { ca: testCertificates().ca },
    resolve: resolveOnly({ localhost: '127.0.0.1' }),
    onEvent: (event) => events.push(event),
  });
  clients.push(client);
  return client;
}

afterEach(async () => {
  events.length = 0;
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(closeServers);

type OnStream = (stream: ServerHttp2Stream, path: string, version: 2) => void;

/** Answers HTTP/2 streams with `onStream`, and requests over HTTP/1.1 with "old". */
function serve(onStream: OnStream): (server: Http2SecureServer) => void {
  return (server) => {
    server.on('session', (session: ServerHttp2Session) => session.on('error', () => {}));
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {});
      onStream(stream, String(headers[':path']), 2);
    });
    server.on('request', (incoming, response) => {
      if (incoming.httpVersionMajor === 1) response.end('old');
    });
  };
}

const answer = (stream: ServerHttp2Stream, text = 'new'): void => {
  if (stream.destroyed) return;
  stream.respond({ ':status': 200, 'content-type': 'text/plain' });
  stream.end(text);
};

test('speaks HTTP/2 where the server does, and shares one connection', async () => {
  let most = 0;
  let open = 0;
  const server = await startHttp2(
    serve((stream) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        answer(stream);
      }, 30);
    }),
  );
  const client = newClient();
  const responses = await Promise.all(Array.from({ length: 60 }, () => client.send(request(server.origin))));
  expect(responses.every(({ status, httpVersion }) => status === 200 && httpVersion === '2')).toBe(true);
  expect(responses.filter(({ reusedConnection }) => !reusedConnection)).toHaveLength(1);
  expect(server.accepted()).toBe(1);
  expect(most).toBeGreaterThan(20);
  expect(client.stats()).toEqual({ opened: 1, requests: 60, http2Requests: 60, waiting: 0 });
});

test('sends bodies and headers over HTTP/2', async () => {
  const server = await startHttp2((http2) =>
    http2.on('request', (incoming, response) => {
      let body = '';
      incoming.on('data', (chunk) => {
        body += chunk;
      });
      incoming.on('end', () => {
        response.setHeader('set-cookie', ['a=1', 'b=2']);
        response.end(
          JSON.stringify({ method: incoming.method, url: incoming.url, own: incoming.headers['x-own'], body }),
        );
      });
    }),
  );
  const url = `${server.origin}/a?b=1`;
  const response = await newClient().send(request(url, { method: 'POST', headers: { 'x-own': 'v' }, body: 'text' }));
  expect(JSON.parse(response.body.toString())).toEqual({ method: 'POST', url: '/a?b=1', own: 'v', body: 'text' });
  expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(Object.keys(response.headers)).not.toContain(':status');
});

test('keeps to HTTP/1.1 when HTTP/2 is off, and where the server has none', async () => {
  const server = await startHttp2(serve((stream) => answer(stream)));
  const plain = await startHttps((_incoming, response) => response.end('old'));
  const client = newClient();
  expect(await client.send(request(server.origin, { http2: 'off' }))).toMatchObject({ httpVersion: '1.1' });
  expect(await client.send(request(server.origin))).toMatchObject({ httpVersion: '2' });
  expect(await client.send(request(plain.origin))).toMatchObject({ httpVersion: '1.1' });
  await Promise.all(Array.from({ length: 5 }, () => client.send(request(plain.origin))));
  expect(plain.accepted()).toBeGreaterThan(1);
});

test('honours the most concurrent streams of the server on each connection', async () => {
  const openOf = new Map<ServerHttp2Session, number>();
  let most = 0;
  const server = await startHttp2(
    serve((stream) => {
      const session = stream.session as ServerHttp2Session;
      openOf.set(session, (openOf.get(session) ?? 0) + 1);
      most = Math.max(most, openOf.get(session)!);
      setTimeout(() => {
        openOf.set(session, openOf.get(session)! - 1);
        answer(stream);
      }, 10);
    }),
    { settings: { maxConcurrentStreams: 5 } },
  );
  const client = newClient();
  const responses = await Promise.all(Array.from({ length: 100 }, () => client.send(request(server.origin))));
  expect(responses.every(({ status }) => status === 200)).toBe(true);
  expect(most).toBe(5);
  expect(server.accepted()).toBeLessThanOrEqual(4);
});

test('sends again, on a new connection, what a GOAWAY left undone', async () => {
  let streams = 0;
  const server = await startHttp2(
    serve((stream) => {
      streams += 1;
      const session = stream.session!;
      // The first five requests come in one go; only the first of them is taken.
      if (streams === 1) {
        session.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
        setTimeout(() => answer(stream), 20);
      } else if (!session.closed) answer(stream);
    }),
  );
  const client = newClient();
  const responses = await Promise.all(Array.from({ length: 5 }, () => client.send(request(server.origin))));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(server.accepted()).toBeGreaterThan(1);
  expect(server.accepted()).toBeLessThanOrEqual(3);
});

test('reports a request that GOAWAY refuses again and again as unprocessed', async () => {
  const { key, cert } = testCertificates().good;
  const server = await startTls({ key, cert, ALPNProtocols: ['h2'] }, (socket) => {
    socket.write(frame({ type: SETTINGS }));
    socket.on('data', (data) => {
      if (hasFrame(data, HEADERS)) socket.write(frame({ type: GOAWAY, payload: Buffer.alloc(8) }));
    });
  });
  const sent = newClient().send(request(server.origin, { method: 'POST', body: 'x' }));
  const error = await failure(sent, 'CONNECTION_RESET');
  expect(error.unprocessed).toBe(true);
  expect(error.recovery).toBe('wait');
});

// RFC 9113 4.1 and 6.
const HEADERS = 0x1;
const SETTINGS = 0x4;
const GOAWAY = 0x7;
const PREFACE_BYTES = 24;

function frame({ type, payload = Buffer.alloc(0) }: { type: number; payload?: Buffer }): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  return Buffer.concat([head, payload]);
}

function hasFrame(data: Buffer, type: number): boolean {
  let index = data.toString('latin1', 0, 3) === 'PRI' ? PREFACE_BYTES : 0;
  while (index + 9 <= data.length) {
    if (data[index + 3] === type) return true;
    index += 9 + data.readUIntBE(index, 3);
  }
  return false;
}

test('reports REFUSED_STREAM as unprocessed', async () => {
  const server = await startHttp2(serve((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)));
  const error = await failure(
    newClient().send(request(server.origin, { method: 'POST', body: 'x' })),
    'CONNECTION_RESET',
  );
  expect(error.unprocessed).toBe(true);
  expect(error.recovery).toBe('wait');
});

test('a stream that breaks off within its body is a truncated body', async () => {
  const server = await startHttp2(
    serve((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('{"a":');
      setTimeout(() => stream.destroy(new Error('broken')), 20);
    }),
  );
  const error = await failure(newClient().send(request(server.origin)), 'TRUNCATED_BODY');
  expect(error.unprocessed).toBe(false);
});

test('falls back to HTTP/1.1 when HTTP/2 keeps failing, and says so', async () => {
  const server = await startHttp2(serve((stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)));
  const client = newClient();
  for (let count = 0; count < 3; count += 1) await failure(client.send(request(server.origin)), 'HTTP_PROTOCOL');
  const response = await client.send(request(server.origin));
  expect(response).toMatchObject({ status: 200, httpVersion: '1.1' });
  expect(response.body.toString()).toBe('old');
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    kind: 'http-version',
    host: `localhost:${server.port}`,
    facts: { httpVersion: '1.1' },
  });
});

test('falls back at once when the server asks for HTTP/1.1', async () => {
  const server = await startHttp2(serve((stream) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED)));
  const client = newClient();
  await failure(client.send(request(server.origin)), 'HTTP_PROTOCOL');
  expect(await client.send(request(server.origin))).toMatchObject({ status: 200, httpVersion: '1.1' });
  expect(events).toHaveLength(1);
});

test('counts the loss of a connection once, however many streams were on it', async () => {
  let streams = 0;
  const server = await startHttp2(
    serve((stream) => {
      streams += 1;
      if (streams > 20) answer(stream);
      if (streams === 20) (stream.session as ServerHttp2Session).socket.destroy();
    }),
  );
  const client = newClient();
  const sent = Array.from({ length: 20 }, () => client.send(request(server.origin)));
  const results = await Promise.allSettled(sent);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(20);
  expect(await client.send(request(server.origin))).toMatchObject({ status: 200, httpVersion: '2' });
  expect(events).toEqual([]);
});

test('single failures between successes do not make it fall back', async () => {
  const server = await startHttp2(
    serve((stream, path) => (path === '/bad' ? stream.close(constants.NGHTTP2_INTERNAL_ERROR) : answer(stream))),
  );
  const client = newClient();
  for (let count = 0; count < 5; count += 1) {
    await failure(client.send(request(`${server.origin}/bad`)), 'HTTP_PROTOCOL');
    expect(await client.send(request(server.origin))).toMatchObject({ httpVersion: '2' });
  }
  expect(events).toEqual([]);
});

test('a silent stream times out alone, and what comes next gets another connection', async () => {
  const server = await startHttp2(
    serve((stream, path) => {
      if (path === '/slow') setTimeout(() => answer(stream, 'slow'), 300);
      else if (path !== '/silent') answer(stream);
    }),
  );
  const client = newClient();
  await client.send(request(server.origin));
  const slow = client.send(request(`${server.origin}/slow`));
  await failure(client.send(request(`${server.origin}/silent`, limits({ firstByteMs: 60 }))), 'TIMEOUT_FIRST_BYTE');
  expect((await client.send(request(server.origin))).reusedConnection).toBe(false);
  expect((await slow).body.toString()).toBe('slow');
  expect(server.accepted()).toBe(2);
});

test('an aborted stream leaves its connection to the others', async () => {
  const server = await startHttp2(serve((stream, path) => void (path === '/silent' || answer(stream))));
  const client = newClient();
  await client.send(request(server.origin));
  const controller = new AbortController();
  const sent = client.send(request(`${server.origin}/silent`), controller.signal);
  await expect.poll(() => client.stats().requests).toBe(2);
  controller.abort(new Error('stop'));
  await expect(sent).rejects.toThrow('stop');
  expect((await client.send(request(server.origin))).reusedConnection).toBe(true);
  expect(server.accepted()).toBe(1);
});

test('a body beyond its bound stops its stream only', async () => {
  const server = await startHttp2(
    serve((stream, path) => answer(stream, path === '/big' ? 'x'.repeat(500_000) : 'small')),
  );
  const client = newClient();
  await failure(client.send(request(`${server.origin}/big`, { maxBodyBytes: 100_000 })), 'TOO_LARGE');
  expect((await client.send(request(server.origin))).reusedConnection).toBe(true);
  expect(server.accepted()).toBe(1);
});

test('opens a new connection when the server has closed the old one', async () => {
  const sessions: ServerHttp2Session[] = [];
  const server = await startHttp2((http2) => {
    serve((stream) => answer(stream))(http2);
    http2.on('session', (session) => sessions.push(session));
  });
  const client = newClient();
  await client.send(request(server.origin));
  sessions[0]!.close();
  await expect.poll(() => sessions[0]!.destroyed).toBe(true);
  expect(await client.send(request(server.origin))).toMatchObject({ status: 200, httpVersion: '2' });
});
