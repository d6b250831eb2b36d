import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counts } from './processes.ts';

/** nginx limit_req before a plain backend: `delay` = a burst of 20 is held back, as nginx does by default. */
export type NginxOptions = { rate: number; isNodelay: boolean; status: number; backendPort: number };

function configuration(options: NginxOptions & { port: number; directory: string }): string {
  const { directory, port, rate, status, backendPort } = options;
  return `
daemon off; worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log;
events { worker_connections 512; }
http {
  access_log ${directory}/access.log counts;
  log_format counts '$msec $status $uri';
  client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory};
  uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
  keepalive_timeout 60s; keepalive_requests 1000000;
  limit_req_zone $binary_remote_addr zone=all:1m rate=${rate}r/s;
  limit_req_status ${status};
  upstream backend { server 127.0.0.1:${backendPort}; keepalive 60; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      limit_req zone=all burst=20${options.isNodelay ? ' nodelay' : ''};
      proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection "";
    }
  }
}
`.replace(/(access_log .*\n)(\s*log_format .*\n)/, '$2$1');
}

export type Nginx = { port: number; counts(): Promise<Counts>; stop(): Promise<void> };

export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const directory = await mkdtemp(join(tmpdir(), 'zoo-nginx-'));
  const port = await freePort();
  await writeFile(join(directory, 'nginx.conf'), configuration({ ...options, port, directory }));
  const child = spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-p', directory], { stdio: 'inherit' });
  await isListening(port);
  return { port, counts: async () => readCounts(join(directory, 'access.log')), stop: () => stop(child, directory) };
}

async function stop(child: ChildProcess, directory: string): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
  await rm(directory, { recursive: true, force: true });
}

/** The access log is the server's own count. */
async function readCounts(path: string): Promise<Counts> {
  const lines = (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , uri]) => uri !== '/ready');
  const startedAtSecs = Math.min(...lines.map(([secs]) => Number(secs)));
  const counts: Counts = { accepted: [], refused: [], distinct: 0, doubled: 0 };
  const seen = new Map<string, number>();
  for (const [secs, status, uri = ''] of lines) {
    const perSecond = status === '200' ? counts.accepted : counts.refused;
    const second = Math.floor(Number(secs) - startedAtSecs);
    while (perSecond.length <= second) perSecond.push(0);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
    if (status === '200') seen.set(uri, (seen.get(uri) ?? 0) + 1);
  }
  counts.distinct = seen.size;
  counts.doubled = [...seen.values()].filter((times) => times > 1).length;
  return counts;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function isListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await fetch(`http://127.0.0.1:${port}/ready`);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error('nginx does not listen');
}
