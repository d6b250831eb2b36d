import { createServer as createHttpServer, type RequestListener, type ServerOptions } from 'node:http';
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { testCertificates } from './certificates.ts';

/** A server on a free port of 127.0.0.1. */
export type TestServer = {
  port: number;
  /** `http://127.0.0.1:PORT` or `https://localhost:PORT`. */
  origin: string;
  /** Connections accepted so far. */
  accepted: () => number;
  /** Connections open now. */
  open: () => number;
  close: () => Promise<void>;
};

const servers: TestServer[] = [];

/** Closes all that were started: for `afterAll`. */
export async function closeServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()));
}

export function startHttp(listener: RequestListener, options: ServerOptions = {}): Promise<TestServer> {
  return listen(createHttpServer(options, listener), 'http://127.0.0.1');
}

export function startHttps(
  listener: RequestListener,
  options: { certificate?: 'good' | 'otherName' } = {},
): Promise<TestServer> {
  const { key, cert } = testCertificates()[options.certificate ?? 'good'];
  return listen(createHttpsServer({ key, cert }, listener), 'https://localhost');
}

/** HTTP/2, and HTTP/1.1 where the client does not offer it. */
export async function startHttp2(
  setUp: (server: Http2SecureServer) => void,
  options: SecureServerOptions = {},
): Promise<TestServer> {
  const { key, cert } = testCertificates().good;
  const server = createSecureServer({ key, cert, allowHTTP1: true, ...options });
  setUp(server);
  return listen(server, 'https://localhost');
}

export function startTcp(onConnection: (socket: Socket) => void): Promise<TestServer> {
  return listen(createTcpServer(onConnection), 'http://127.0.0.1');
}

export function startTls(options: TlsOptions, onConnection: (socket: TLSSocket) => void): Promise<TestServer> {
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  return listen(server, 'https://localhost');
}

function listen(server: Server, scheme: string): Promise<TestServer> {
  const open = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const started: TestServer = {
        port,
        origin: `${scheme}:${port}`,
        accepted: () => accepted,
        open: () => open.size,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            for (const socket of open) socket.destroy();
          }),
      };
      servers.push(started);
      resolve(started);
    });
  });
}
