import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { testCertificates } from './certificates.ts';
import { startTcp, startTls, type TestServer } from './servers.ts';

/** What a proxy was asked. */
export type ProxyLog = { connects: string[]; forwarded: string[]; authorization: (string | undefined)[] };

export type TestProxy = TestServer & { log: ProxyLog; url: string };

/** An http (or https) proxy: CONNECT and forwarding. `refuse` answers both with that status. */
export async function startHttpProxy(options: { refuse?: number; secure?: boolean } = {}): Promise<TestProxy> {
  const log: ProxyLog = { connects: [], forwarded: [], authorization: [] };
  const inner = createServer((request, response) => onForward(request, response, { log, refuse: options.refuse }));
  inner.on('connect', (request: IncomingMessage, socket: Socket) => {
    log.connects.push(request.url ?? '');
    log.authorization.push(request.headers['proxy-authorization']);
    if (options.refuse) socket.end(`HTTP/1.1 ${options.refuse} No\r\ncontent-length: 0\r\n\r\n`);
    else tunnel(socket, request.url ?? '');
  });
  const onConnection = (socket: Socket): void => void inner.emit('connection', socket);
  if (options.secure) {
    const server = await startTls(testCertificates().good, onConnection);
    return { ...server, log, url: server.origin };
  }
  const server = await startTcp(onConnection);
  return { ...server, log, url: server.origin };
}

function onForward(
  request: IncomingMessage,
  response: ServerResponse,
  { log, refuse }: { log: ProxyLog; refuse: number | undefined },
): void {
  log.forwarded.push(request.url ?? '');
  log.authorization.push(request.headers['proxy-authorization']);
  if (refuse) {
    response.writeHead(refuse).end();
    return;
  }
  const { 'proxy-authorization': _secret, ...headers } = request.headers;
  const onward = forward(request.url ?? '', { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.writeHead(502).end());
  request.pipe(onward);
}

function tunnel(socket: Socket, authority: string): void {
  const [host, port] = authority.split(':');
  const target = connect({ host: host === 'target.test' ? '127.0.0.1' : host!, port: Number(port) });
  target.on('connect', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(target).pipe(socket);
  });
  target.on('error', () => socket.end('HTTP/1.1 502 Bad gateway\r\n\r\n'));
  socket.on('error', () => target.destroy());
  socket.on('close', () => target.destroy());
}

/** A SOCKS5 proxy (RFC 1928) that resolves names itself; with `user`, it asks for user and password (RFC 1929). */
export async function startSocksProxy(options: { user?: string; password?: string } = {}): Promise<TestProxy> {
  const log: ProxyLog = { connects: [], forwarded: [], authorization: [] };
  const server = await startTcp((socket) => void serveSocks(socket, { log, ...options }).catch(() => socket.destroy()));
  return { ...server, log, url: `socks5://127.0.0.1:${server.port}` };
}

async function serveSocks(
  socket: Socket,
  { log, user, password }: { log: ProxyLog; user?: string; password?: string },
): Promise<void> {
  const reader = new ByteReader(socket);
  const [, methodCount = 0] = await reader.read(2);
  await reader.read(methodCount);
  socket.write(Buffer.from([5, user === undefined ? 0 : 2]));
  if (user !== undefined && !(await checkPassword(reader, `${user}:${password}`))) {
    socket.end(Buffer.from([1, 1]));
    return;
  }
  if (user !== undefined) socket.write(Buffer.from([1, 0]));
  const [, , , kind] = await reader.read(4);
  const host = kind === 1 ? (await reader.read(4)).join('.') : (await readCounted(reader)).toString('latin1');
  const port = (await reader.read(2)).readUInt16BE();
  log.connects.push(`${host}:${port}`);
  const target = connect({ host: host === 'target.test' ? '127.0.0.1' : host, port });
  const reply = (code: number): Buffer => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
  target.on('connect', () => {
    socket.write(reply(0));
    reader.stop();
    socket.pipe(target).pipe(socket);
  });
  target.on('error', () => socket.end(reply(5)));
  socket.on('close', () => target.destroy());
}

async function checkPassword(reader: ByteReader, expected: string): Promise<boolean> {
  await reader.read(1);
  return `${await readCounted(reader)}:${await readCounted(reader)}` === expected;
}

async function readCounted(reader: ByteReader): Promise<Buffer> {
  const [length = 0] = await reader.read(1);
  return reader.read(length);
}

/** Gives a socket's bytes in pieces of the length that is asked for. */
class ByteReader {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  #wake: () => void = () => {};
  #isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', this.#onData);
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  async read(length: number): Promise<Buffer> {
    while (this.#bytes.length < length) {
      if (this.#isClosed) throw new Error('closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return piece;
  }

  stop(): void {
    this.#socket.off('data', this.#onData);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    this.#wake();
  };
}
