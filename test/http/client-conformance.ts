import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { HttpClient } from '../../src/http/client.ts';
import { testCertificates } from './support/certificates.ts';
import { startHttpProxy, startSocksProxy } from './support/proxies.ts';
import { failure, limits, request } from './support/requests.ts';
import { closeServers, startHttp, startHttps, startTcp, type TestServer } from './support/servers.ts';

/** What a client under test is made with. */
export type ClientSetUp = {
  ca: string;
  blockPrivateAddresses?: boolean;
  maxConnectionsPerOrigin?: number;
  /** Names and the addresses they resolve to; others do not resolve. */
  names?: Record<string, string>;
};

export type Conformance = {
  name: string;
  create: (setUp: ClientSetUp) => HttpClient;
};

const JSON_TEXT = JSON.stringify({ name: 'é', list: [1, 2, 3] });

// The default level takes seconds for the large body.
const brotli = (text: Buffer): Buffer => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

/** What every HTTP client promises. */
export function clientConformance({ name, create }: Conformance): void {
  const clients: HttpClient[] = [];
  const newClient = (setUp: Partial<ClientSetUp> = {}): HttpClient => {
    const client = create({ ca: testCertificates().ca, ...setUp });
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  afterAll(closeServers);

  describe(`${name}: requests and responses`, () => {
    let echo: TestServer;
    beforeAll(async () => {
      echo = await startHttp((incoming, response) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('end', () => {
          const { method, url, headers } = incoming;
          response.setHeader('set-cookie', ['a=1', 'b=2']);
          response.setHeader('X-Mixed-Case', 'yes');
          response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
        });
      });
    });

    test('sends method, path, query, headers and body as they are', async () => {
      const response = await newClient().send(
        request(`${echo.origin}/a%20b?q=1&q=%C3%A9`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-own': 'value' },
          body: JSON_TEXT,
        }),
      );
      const seen = JSON.parse(response.body.toString());
      expect(seen).toMatchObject({ method: 'POST', url: '/a%20b?q=1&q=%C3%A9', body: JSON_TEXT });
      expect(seen.headers).toMatchObject({ 'content-type': 'application/json', 'x-own': 'value' });
      expect(seen.headers['content-length']).toBe(String(Buffer.byteLength(JSON_TEXT)));
    });

    test.each(['PUT', 'PATCH', 'DELETE'])('sends a body with %s', async (method) => {
      const response = await newClient().send(request(echo.origin, { method, body: Buffer.from('bytes') }));
      expect(JSON.parse(response.body.toString())).toMatchObject({ method, body: 'bytes' });
    });

    test('gives an empty body to HEAD', async () => {
      const response = await newClient().send(request(echo.origin, { method: 'HEAD' }));
      expect(response.status).toBe(200);
      expect(response.body).toHaveLength(0);
    });

    test('names headers in lower case and keeps repeated ones as a list', async () => {
      const { headers } = await newClient().send(request(echo.origin));
      expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
      expect(headers['x-mixed-case']).toBe('yes');
    });

    test('asks for the encodings it can undo, unless the request says otherwise', async () => {
      const client = newClient();
      const seen = async (headers: Record<string, string>): Promise<Record<string, string>> =>
        JSON.parse((await client.send(request(echo.origin, { headers }))).body.toString()).headers;
      expect((await seen({}))['accept-encoding']).toMatch(/gzip.*br/);
      expect((await seen({ 'accept-encoding': 'identity' }))['accept-encoding']).toBe('identity');
    });

    test('sends the credentials of a URL as basic authorization', async () => {
      const url = echo.origin.replace('//', '//user:p%40ss@');
      const { headers } = JSON.parse((await newClient().send(request(url))).body.toString());
      expect(headers.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
    });

    test.each(['not a url', '/relative', 'ftp://host/file', `http://host/${'x'.repeat(70_000)}`])(
      'refuses a URL that cannot be asked (%#)',
      async (url) => {
        expect((await failure(newClient().send(request(url)), 'INVALID_URL')).recovery).toBe('skip');
      },
    );

    test('refuses headers that cannot be sent, and is none the worse for it', async () => {
      const client = newClient();
      await failure(client.send(request(echo.origin, { headers: { 'x-a': 'line\r\nbreak' } })), 'INVALID_REQUEST');
      await failure(client.send(request(echo.origin, { headers: { 'x-a': 'x'.repeat(70_000) } })), 'INVALID_REQUEST');
      expect((await client.send(request(echo.origin))).status).toBe(200);
    });

    test.each([204, 301, 304, 404, 429, 503])('gives status %i as an answer', async (status) => {
      const server = await startHttp((_incoming, response) => response.writeHead(status, { location: '/x' }).end());
      const response = await newClient().send(request(server.origin));
      expect(response.status).toBe(status);
      expect(response.headers.location).toBe('/x');
    });
  });

  describe(`${name}: connections`, () => {
    test('uses a connection again, and says so', async () => {
      const server = await startHttp((_incoming, response) => response.end('x'));
      const client = newClient();
      const first = await client.send(request(server.origin));
      const later = [];
      for (let count = 0; count < 20; count += 1) later.push(await client.send(request(server.origin)));
      expect(first.reusedConnection).toBe(false);
      expect(later.every((response) => response.reusedConnection)).toBe(true);
      expect(server.accepted()).toBe(1);
      expect(client.stats()).toEqual({ opened: 1, requests: 21, http2Requests: 0, waiting: 0 });
    });

    test('opens no more connections than requests are under way, nor than it may', async () => {
      const server = await startHttp((_incoming, response) => setTimeout(() => response.end('x'), 5));
      const client = newClient({ maxConnectionsPerOrigin: 8 });
      await Promise.all(Array.from({ length: 4 }, () => client.send(request(server.origin))));
      expect(server.accepted()).toBeLessThanOrEqual(4);
      await Promise.all(Array.from({ length: 60 }, () => client.send(request(server.origin))));
      expect(server.accepted()).toBe(8);
    });

    test('holds more connections once they are reserved', async () => {
      const server = await startHttp((_incoming, response) => setTimeout(() => response.end('x'), 20));
      const client = newClient({ maxConnectionsPerOrigin: 2 });
      client.reserve?.(server.origin, 5);
      await Promise.all(Array.from({ length: 20 }, () => client.send(request(server.origin))));
      expect(server.accepted()).toBe(5);
      client.reserve?.(server.origin, 3);
      await Promise.all(Array.from({ length: 20 }, () => client.send(request(server.origin))));
      expect(server.accepted()).toBe(5);
    });

    test('goes on when the server closes a connection after each answer', async () => {
      const server = await startHttp((_incoming, response) =>
        response.writeHead(200, { connection: 'Close' }).end('x'),
      );
      const client = newClient({ maxConnectionsPerOrigin: 4 });
      const responses = await Promise.all(Array.from({ length: 40 }, () => client.send(request(server.origin))));
      expect(responses.every(({ status }) => status === 200)).toBe(true);
    });

    test('measures the opening of a connection on its first request only', async () => {
      const server = await startHttps((_incoming, response) => setTimeout(() => response.end('x'), 40));
      const client = newClient({ names: { localhost: '127.0.0.1' } });
      const first = await client.send(request(server.origin));
      expect(first.timings.tls).toBeGreaterThan(0);
      expect(first.timings.connect).toBeGreaterThan(0);
      expect(first.timings.firstByte).toBeGreaterThanOrEqual(38);
      const second = await client.send(request(server.origin));
      expect(second.timings).toMatchObject({ dns: 0, connect: 0, tls: 0 });
      expect(second.timings.firstByte).toBeGreaterThanOrEqual(38);
    });

    test('measures the download from the first byte', async () => {
      const server = await startHttp((_incoming, response) => {
        response.write('a');
        setTimeout(() => response.end('b'), 60);
      });
      const { timings } = await newClient().send(request(server.origin));
      expect(timings.download).toBeGreaterThanOrEqual(55);
    });

    test('leaves no connection open after close, and sends nothing more', async () => {
      const server = await startHttp((_incoming, response) => response.end('x'));
      const client = newClient();
      await client.send(request(server.origin));
      await client.close();
      await expect.poll(server.open).toBe(0);
      await failure(client.send(request(server.origin)), 'CONNECTION_FAILED');
    });

    test('ends what is under way when it is closed', async () => {
      const server = await startHttp(() => {});
      const client = newClient({ maxConnectionsPerOrigin: 1 });
      const sent = Promise.all([
        failure(client.send(request(server.origin)), 'CONNECTION_FAILED'),
        failure(client.send(request(server.origin)), 'CONNECTION_FAILED'),
      ]);
      await expect.poll(server.accepted).toBe(1);
      await client.close();
      await sent;
    });
  });

  describe(`${name}: failures`, () => {
    test('a refused connection', async () => {
      const server = await startHttp(() => {});
      await server.close();
      const error = await failure(newClient().send(request(server.origin)), 'CONNECTION_REFUSED');
      expect(error.message).toContain(`127.0.0.1:${server.port}`);
      expect(error.wasSent).toBe(false);
      expect(error.recovery).toBe('retry');
    });

    test('a name that does not exist', async () => {
      const error = await failure(newClient().send(request('http://nowhere.test/')), 'DNS_NOT_FOUND');
      expect(error.message).toContain('nowhere.test');
      expect(error.wasSent).toBe(false);
    });

    test('a connection that ends before an answer', async () => {
      const server = await startTcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
      const error = await failure(newClient().send(request(server.origin)), 'CONNECTION_RESET');
      expect(error.wasSent).toBe(true);
    });

    test('a body that ends before its Content-Length', async () => {
      const server = await startTcp((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":')),
      );
      const error = await failure(newClient().send(request(server.origin)), 'TRUNCATED_BODY');
      expect(error.recovery).toBe('retry');
    });

    test('a chunked body that ends before its last chunk', async () => {
      const server = await startTcp((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n')),
      );
      await failure(newClient().send(request(server.origin)), 'TRUNCATED_BODY');
    });

    test('an answer that is not HTTP', async () => {
      const server = await startTcp((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
      await failure(newClient().send(request(server.origin)), 'HTTP_PROTOCOL');
    });

    test('headers without end', async () => {
      const header = `x-filler: ${'y'.repeat(1000)}\r\n`;
      const server = await startTcp((socket) =>
        socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${header.repeat(200)}`)),
      );
      await failure(newClient().send(request(server.origin)), 'HTTP_PROTOCOL');
    });

    test('a safe request meets a kept-alive connection that the server closes, and is sent again', async () => {
      const answered = new Set<object>();
      const server = await startHttp((incoming, response) => {
        if (answered.has(incoming.socket)) incoming.socket.destroy();
        else response.end('x');
        answered.add(incoming.socket);
      });
      const client = newClient();
      await client.send(request(server.origin));
      expect((await client.send(request(server.origin))).status).toBe(200);
      const error = await failure(
        client.send(request(server.origin, { method: 'POST', body: 'x' })),
        'CONNECTION_RESET',
      );
      expect(error.wasSent).toBe(true);
    });
  });

  describe(`${name}: TLS`, () => {
    const names = { localhost: '127.0.0.1' };

    test('trusts a certificate of a known authority', async () => {
      const server = await startHttps((_incoming, response) => response.end('x'));
      expect((await newClient({ names }).send(request(server.origin))).status).toBe(200);
    });

    test('refuses a certificate of an unknown authority', async () => {
      const server = await startHttps((_incoming, response) => response.end('x'));
      const error = await failure(newClient({ names, ca: '' }).send(request(server.origin)), 'TLS_FAILED');
      expect(error.wasSent).toBe(false);
    });

    test('refuses a certificate for another name', async () => {
      const server = await startHttps((_incoming, response) => response.end('x'), { certificate: 'otherName' });
      await failure(newClient({ names }).send(request(server.origin)), 'TLS_FAILED');
    });

    test('says that a server without TLS has none', async () => {
      const server = await startHttp((_incoming, response) => response.end('x'));
      const url = server.origin.replace('http:', 'https:');
      await failure(newClient({ names }).send(request(url)), 'TLS_FAILED');
    });
  });
  timeoutConformance(newClient);
  bodyConformance(newClient);
  proxyConformance(newClient);
}

type NewClient = (setUp?: Partial<ClientSetUp>) => HttpClient;

function timeoutConformance(newClient: NewClient): void {
  describe('time limits', () => {
    test('connect: a server that never ends the TLS handshake', async () => {
      const server = await startTcp((socket) => void socket.resume());
      const url = server.origin.replace('http:', 'https:');
      const error = await failure(newClient().send(request(url, limits({ connectMs: 80 }))), 'TIMEOUT_CONNECT');
      expect(error.message).toContain('80 ms');
      await expect.poll(server.open).toBe(0);
    });

    test('first byte: a server that says nothing', async () => {
      const server = await startHttp(() => {});
      const error = await failure(
        newClient().send(request(server.origin, limits({ firstByteMs: 80 }))),
        'TIMEOUT_FIRST_BYTE',
      );
      expect(error.message).toContain('80 ms');
      expect(error.wasSent).toBe(true);
      await expect.poll(server.open).toBe(0);
    });

    test('idle: a body that stops', async () => {
      const server = await startHttp((_incoming, response) => response.write('{'));
      const error = await failure(newClient().send(request(server.origin, limits({ idleMs: 80 }))), 'TIMEOUT_IDLE');
      expect(error.message).toContain('80 ms');
    });

    test('total: a body that trickles for ever', async () => {
      const server = await startHttp((_incoming, response) => {
        const timer = setInterval(() => response.write(' '), 10);
        response.on('close', () => clearInterval(timer));
      });
      const sent = newClient().send(request(server.origin, limits({ idleMs: 5000, totalMs: 200 })));
      expect((await failure(sent, 'TIMEOUT_TOTAL')).message).toContain('200 ms');
    });

    test('total: no free connection', async () => {
      const server = await startHttp(() => {});
      const client = newClient({ maxConnectionsPerOrigin: 1 });
      const first = failure(client.send(request(server.origin)), 'CONNECTION_FAILED');
      await expect.poll(server.accepted).toBe(1);
      await failure(client.send(request(server.origin, limits({ totalMs: 100 }))), 'TIMEOUT_TOTAL');
      expect(client.stats().waiting).toBe(0);
      await client.close();
      await first;
    });

    test('a slow but steady body is not idle', async () => {
      const server = await startHttp((_incoming, response) => {
        let left = 10;
        const timer = setInterval(() => {
          left -= 1;
          if (left > 0) response.write(' ');
          else {
            clearInterval(timer);
            response.end('{}');
          }
        }, 30);
      });
      const { body } = await newClient().send(request(server.origin, limits({ idleMs: 150 })));
      expect(body.toString().trim()).toBe('{}');
    });
  });

  describe('abort', () => {
    test('rejects with the reason of a signal that was aborted before, without sending', async () => {
      const server = await startHttp((_incoming, response) => response.end('x'));
      const reason = new Error('too late');
      await expect(newClient().send(request(server.origin), AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(server.accepted()).toBe(0);
    });

    test('rejects with the reason at any stage, and leaves the client usable', async () => {
      const server = await startHttp((incoming, response) => {
        if (incoming.url === '/body') response.write('x');
        else if (incoming.url === '/ok') response.end('x');
      });
      const client = newClient({ maxConnectionsPerOrigin: 2 });
      const controller = new AbortController();
      const reason = new Error('stop');
      const sent = ['/silent', '/body', '/in-line'].map((path) =>
        client.send(request(server.origin + path), controller.signal),
      );
      await expect.poll(server.accepted).toBe(2);
      await new Promise((resolve) => setTimeout(resolve, 50));
      controller.abort(reason);
      for (const each of sent) await expect(each).rejects.toBe(reason);
      expect((await client.send(request(`${server.origin}/ok`))).status).toBe(200);
    });
  });
}

function bodyConformance(newClient: NewClient): void {
  describe('bodies', () => {
    const encodings: Record<string, (text: Buffer) => Buffer> = {
      gzip: gzipSync,
      deflate: deflateSync,
      br: brotli,
      zstd: zstdCompressSync,
      'gzip, br': (text) => brotli(gzipSync(text)),
      'GZIP , identity': gzipSync,
      'utf-8': (text) => text,
    };
    const small = Buffer.from(JSON_TEXT);
    const large = Buffer.from(
      JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, random: Math.sin(id) }))),
    );

    test.each(Object.keys(encodings))('undoes content-encoding %s, small and large', async (encoding) => {
      const server = await startHttp((incoming, response) => {
        response.setHeader('content-encoding', encoding);
        response.end(encodings[encoding]!(incoming.url === '/large' ? large : small));
      });
      const client = newClient();
      expect((await client.send(request(server.origin))).body).toEqual(small);
      expect((await client.send(request(`${server.origin}/large`))).body.equals(large)).toBe(true);
    });

    test('says how many bytes of the body travelled', async () => {
      const packed = gzipSync(large);
      const server = await startHttp((incoming, response) => {
        if (incoming.url === '/plain') response.end(large);
        else response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
      });
      const client = newClient();
      expect(await client.send(request(server.origin))).toMatchObject({ wireBytes: packed.length });
      expect(await client.send(request(`${server.origin}/plain`))).toMatchObject({ wireBytes: large.length });
    });

    test('undoes deflate without the zlib header as well', async () => {
      const server = await startHttp((incoming, response) => {
        response.setHeader('content-encoding', 'deflate');
        response.end(deflateRawSync(incoming.url === '/large' ? large : small));
      });
      const client = newClient();
      expect((await client.send(request(server.origin))).body).toEqual(small);
      expect((await client.send(request(`${server.origin}/large`))).body.equals(large)).toBe(true);
    });

    test.each(['gzip', 'deflate', 'br', 'zstd'])(
      'fails typed when a %s body is broken or cut off',
      async (encoding) => {
        const server = await startHttp((incoming, response) => {
          const whole = encodings[encoding]!(large);
          response.setHeader('content-encoding', encoding);
          response.end(incoming.url === '/cut' ? whole.subarray(0, whole.length / 2) : Buffer.alloc(100, 0xaa));
        });
        const client = newClient();
        await failure(client.send(request(server.origin)), 'BAD_ENCODING');
        await failure(client.send(request(`${server.origin}/cut`)), 'BAD_ENCODING');
      },
    );

    test('names an encoding that it does not know', async () => {
      const server = await startHttp((_incoming, response) =>
        response.writeHead(200, { 'content-encoding': 'compress' }).end('x'),
      );
      expect((await failure(newClient().send(request(server.origin)), 'BAD_ENCODING')).message).toContain('compress');
    });

    test.each([204, 304])('takes an announced encoding of an empty %i for nothing', async (status) => {
      const server = await startHttp((_incoming, response) =>
        response.writeHead(status, { 'content-encoding': 'gzip' }).end(),
      );
      expect((await newClient().send(request(server.origin))).body).toHaveLength(0);
    });

    test('stops at the bound of the body, announced or not', async () => {
      const server = await startHttp((incoming, response) => {
        if (incoming.url === '/chunked') response.write(large.subarray(0, 1000));
        response.end(large);
      });
      const bounded = { maxBodyBytes: 10_000 };
      const client = newClient();
      const error = await failure(client.send(request(server.origin, bounded)), 'TOO_LARGE');
      expect(error.message).toContain('10000 bytes');
      expect(error.recovery).toBe('skip');
      await failure(client.send(request(`${server.origin}/chunked`, bounded)), 'TOO_LARGE');
      const exact = await client.send(request(server.origin, { maxBodyBytes: large.length }));
      expect(exact.body).toHaveLength(large.length);
    });

    test('minds no bound where HEAD announces a body that does not come', async () => {
      const server = await startHttp((_incoming, response) =>
        response.writeHead(200, { 'content-length': 5000 }).end(),
      );
      const response = await newClient().send(request(server.origin, { method: 'HEAD', maxBodyBytes: 1000 }));
      expect(response.headers['content-length']).toBe('5000');
    });

    test('stops a gzip bomb of ten gigabytes at the bound, in flat memory', async () => {
      const zeros = Buffer.alloc(1024 * 1024);
      const server = await startHttp((_incoming, response) => {
        response.setHeader('content-encoding', 'gzip');
        const gzip = createGzip({ level: constants.Z_BEST_SPEED });
        let left = 10 * 1024;
        const pump = (): void => {
          while (left > 0 && !gzip.destroyed) {
            left -= 1;
            if (!gzip.write(zeros)) {
              gzip.once('drain', pump);
              return;
            }
          }
          gzip.end();
        };
        response.on('close', () => gzip.destroy());
        gzip.pipe(response);
        pump();
      });
      const maxBodyBytes = 16 * 1024 * 1024;
      const before = process.memoryUsage().rss;
      await failure(newClient().send(request(server.origin, { maxBodyBytes })), 'TOO_LARGE');
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
      await expect.poll(server.open).toBe(0);
    });

    test('stops a small body that unfolds beyond the bound', async () => {
      const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024));
      const server = await startHttp((_incoming, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
      );
      await failure(newClient().send(request(server.origin, { maxBodyBytes: 5_000_000 })), 'TOO_LARGE');
      const whole = await newClient().send(request(server.origin, { maxBodyBytes: 20 * 1024 * 1024 }));
      expect(whole.body).toHaveLength(20 * 1024 * 1024);
    });
  });
}

function proxyConformance(newClient: NewClient): void {
  const names = { localhost: '127.0.0.1' };

  describe('proxies', () => {
    test('http: forwards plain requests and tunnels TLS, over kept-alive connections', async () => {
      const plain = await startHttp((_incoming, response) => response.end('plain'));
      const secure = await startHttps((_incoming, response) => response.end('secure'));
      const proxy = await startHttpProxy();
      const proxyUrl = proxy.url.replace('//', '//user:p%40ss@');
      const client = newClient({ names });
      for (let count = 0; count < 5; count += 1) {
        expect((await client.send(request(`${plain.origin}/a?b`, { proxyUrl }))).body.toString()).toBe('plain');
        expect((await client.send(request(secure.origin, { proxyUrl }))).body.toString()).toBe('secure');
      }
      expect(proxy.log.connects).toEqual([`localhost:${secure.port}`]);
      expect(proxy.log.forwarded).toEqual(Array(5).fill(`${plain.origin}/a?b`));
      const basic = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
      expect(new Set(proxy.log.authorization)).toEqual(new Set([basic]));
      expect(proxy.accepted()).toBe(2);
      await client.close();
      await expect.poll(proxy.open).toBe(0);
    });

    test('https: forwards and tunnels over TLS to the proxy, TLS within TLS', async () => {
      const plain = await startHttp((_incoming, response) => response.end('plain'));
      const secure = await startHttps((_incoming, response) => response.end('secure'));
      const proxy = await startHttpProxy({ secure: true });
      const client = newClient({ names });
      for (let count = 0; count < 3; count += 1) {
        expect((await client.send(request(plain.origin, { proxyUrl: proxy.url }))).body.toString()).toBe('plain');
        expect((await client.send(request(secure.origin, { proxyUrl: proxy.url }))).body.toString()).toBe('secure');
      }
      expect(proxy.accepted()).toBe(2);
      const distrustful = newClient({ names, ca: '' });
      await failure(distrustful.send(request(plain.origin, { proxyUrl: proxy.url })), 'PROXY_FAILED');
    });

    test('socks5: resolves names at the proxy, with user and password', async () => {
      const secure = await startHttps((_incoming, response) => response.end('secure'));
      const proxy = await startSocksProxy({ user: 'user', password: 'p@ss' });
      const proxyUrl = proxy.url.replace('//', '//user:p%40ss@');
      const url = secure.origin.replace('localhost', 'target.test');
      const client = newClient();
      for (let count = 0; count < 5; count += 1) {
        expect((await client.send(request(url, { proxyUrl }))).body.toString()).toBe('secure');
      }
      expect(proxy.log.connects).toEqual([`target.test:${secure.port}`]);
      expect(proxy.accepted()).toBe(1);
    });

    test('tells a proxy that fails from a target that fails', async () => {
      const gone = await startHttp(() => {});
      await gone.close();
      const secureGone = gone.origin.replace('http:', 'https:');
      const http = await startHttpProxy();
      const denying = await startHttpProxy({ refuse: 407 });
      const socks = await startSocksProxy({ user: 'a', password: 'b' });
      const client = newClient({ names });
      const send = (url: string, proxyUrl: string) => client.send(request(url, { proxyUrl }));
      const unreachable = await failure(send(secureGone, gone.origin), 'PROXY_FAILED');
      expect(unreachable.message).toContain(gone.origin);
      await failure(send(secureGone, denying.url), 'PROXY_FAILED');
      await failure(send(gone.origin, denying.url), 'PROXY_FAILED');
      await failure(send(secureGone, socks.url), 'PROXY_FAILED');
      await failure(send(secureGone, socks.url.replace('//', '//a:wrong@')), 'PROXY_FAILED');
      await failure(send(secureGone, 'gopher://127.0.0.1:1'), 'PROXY_FAILED');
      await failure(send(secureGone, socks.url.replace('//', '//a:b@')), 'CONNECTION_REFUSED');
      await failure(send(secureGone, http.url), 'CONNECTION_FAILED');
    });

    test('tells a proxy that says nothing from a target that says nothing', async () => {
      const silent = await startTcp((socket) => void socket.resume());
      const proxy = await startHttpProxy();
      const client = newClient({ names });
      const secureSilent = silent.origin.replace('http:', 'https:');
      const viaSilent = client.send(
        request('https://localhost:1/', { proxyUrl: secureSilent, ...limits({ connectMs: 100 }) }),
      );
      expect((await failure(viaSilent, 'PROXY_FAILED')).message).toContain('100 ms');
      const toSilent = client.send(request(secureSilent, { proxyUrl: proxy.url, ...limits({ connectMs: 100 }) }));
      await failure(toSilent, 'TIMEOUT_CONNECT');
      await expect.poll(silent.open).toBe(0);
      await expect.poll(proxy.open).toBe(0);
    });

    test('verifies the certificate of a target behind a proxy', async () => {
      const secure = await startHttps((_incoming, response) => response.end('x'), { certificate: 'otherName' });
      const proxy = await startHttpProxy();
      await failure(newClient({ names }).send(request(secure.origin, { proxyUrl: proxy.url })), 'TLS_FAILED');
      await expect.poll(proxy.open).toBe(0);
    });

    test('leaves no connection behind when a tunnel fails', async () => {
      const proxy = await startHttpProxy({ refuse: 403 });
      const client = newClient({ names });
      const sent = Array.from({ length: 20 }, () =>
        failure(client.send(request('https://localhost:1/', { proxyUrl: proxy.url })), 'PROXY_FAILED'),
      );
      await Promise.all(sent);
      await expect.poll(proxy.open).toBe(0);
    });
  });

  describe('private addresses', () => {
    test('refuses addresses and names of this machine and of private networks', async () => {
      const server = await startHttp((_incoming, response) => response.end('x'));
      const client = newClient({ blockPrivateAddresses: true, names: { 'inside.test': '10.0.0.1' } });
      const urls = ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '10.1.2.3', '169.254.169.254'];
      for (const host of [...urls, 'inside.test', 'app.localhost']) {
        const error = await failure(client.send(request(`http://${host}:${server.port}/`)), 'BLOCKED_ADDRESS');
        expect(error.recovery).toBe('skip');
      }
      expect(server.accepted()).toBe(0);
    });
  });
}
