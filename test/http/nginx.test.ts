import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { HttpClient } from '../../src/http/client.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';
import { testCertificates } from './support/certificates.ts';
import { resolveOnly } from './support/names.ts';
import { request } from './support/requests.ts';

const isInstalled = spawnSync('nginx', ['-v']).status === 0;
// An answer that nginx finds worth compressing.
const BODY = JSON.stringify({ list: Array.from({ length: 200 }, (_, id) => ({ id })) });
const REQUESTS_A_CONNECTION = 20;

describe.skipIf(!isInstalled)('a real nginx', () => {
  let folder: string;
  let nginx: ChildProcess;
  let client: HttpClient;
  const ports = { plain: 0, secure: 0 };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-nginx-'));
    // Started by root, nginx reads files as nobody.
    chmodSync(folder, 0o755);
    ports.plain = await freePort();
    ports.secure = await freePort();
    writeFileSync(join(folder, 'cert.pem'), testCertificates().good.cert);
    writeFileSync(join(folder, 'key.pem'), testCertificates().good.key);
    writeFileSync(join(folder, 'items.json'), BODY);
    writeFileSync(join(folder, 'nginx.conf'), configuration(folder, ports));
    nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], { stdio: 'ignore' });
    await listening(ports.secure);
    client = createUndiciClient({
      ports: { clock: systemClock, random: () => 0.5, log: silentLog },
      maxConnectionsPerOrigin: 10,
      blockPrivateAddresses: false,
      trust: { ca: testCertificates().ca },
      resolve: resolveOnly({ localhost: '127.0.0.1' }),
    });
  });
  afterAll(async () => {
    await client.close();
    const ended = new Promise((resolve) => nginx.once('exit', resolve));
    nginx.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  });

  test.each(['1.1', '2'] as const)(
    'answers 300 requests over HTTP/%s, though it ends each connection after 20',
    async (httpVersion) => {
      const url = `https://localhost:${ports.secure}/items.json`;
      const http2 = httpVersion === '2' ? 'auto' : 'off';
      let left = 300;
      const failures: unknown[] = [];
      const work = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          try {
            const response = await client.send(request(url, { http2 }));
            expect(response).toMatchObject({ status: 200, httpVersion });
            expect(response.headers['content-encoding']).toBe('gzip');
            expect(response.body.toString()).toBe(BODY);
          } catch (error) {
            failures.push(error);
          }
        }
      };
      await Promise.all(Array.from({ length: 10 }, work));
      expect(failures).toEqual([]);
    },
  );

  test('reads plain HTTP, errors and HEAD from it', async () => {
    const origin = `http://127.0.0.1:${ports.plain}`;
    expect(await client.send(request(`${origin}/missing`))).toMatchObject({ status: 404 });
    const head = await client.send(request(`${origin}/items.json`, { method: 'HEAD' }));
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    const identity = { 'accept-encoding': 'identity' };
    const plain = await client.send(request(`${origin}/items.json`, { headers: identity }));
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.body.toString()).toBe(BODY);
  });
});

function configuration(folder: string, { plain, secure }: { plain: number; secure: number }): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `
    daemon off;
    worker_processes 1;
    pid ${folder}/nginx.pid;
    events { worker_connections 256; }
    http {
      access_log off;
      ${temporary.join('\n')}
      types { application/json json; }
      gzip on;
      gzip_types application/json;
      keepalive_requests ${REQUESTS_A_CONNECTION};
      server {
        listen 127.0.0.1:${plain};
        listen 127.0.0.1:${secure} ssl http2;
        ssl_certificate ${folder}/cert.pem;
        ssl_certificate_key ${folder}/key.pem;
        root ${folder};
      }
    }`;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function listening(port: number): Promise<void> {
  while (!(await canConnect(port))) await new Promise((resolve) => setTimeout(resolve, 20));
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
