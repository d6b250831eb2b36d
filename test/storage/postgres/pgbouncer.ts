import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, type TestDatabase, type TestServer } from './server.ts';

// So few that sessions pass from client to client all the time.
const SERVER_CONNECTIONS = 3;

/** Starts Debian's pgbouncer in transaction mode before a server. */
export async function startPgbouncer(server: TestServer): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const { username, password } = new URL(server.url);
  const settings = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${server.port} dbname=postgres user=${username} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    'max_client_conn = 500',
    // It refuses to run as root; the tests' server has made this user.
    ...(userInfo().uid === 0 ? ['user = postgres'] : []),
  ];
  await writeFile(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`);
  const child = spawn('pgbouncer', ['-q', join(folder, 'pgbouncer.ini')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let messages = '';
  child.stderr.on('data', (chunk: Buffer) => (messages += chunk));
  const ended = once(child, 'exit');
  // Not installed is told as the failure that it is.
  ended.catch((error: unknown) => (messages += String(error)));
  await listening(port, () => `pgbouncer does not start: ${messages}`);
  return {
    url: `postgres://anybody:any@127.0.0.1:${port}/postgres`,
    end: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function listening(port: number, explain: () => string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await canConnect(port)) return;
    await sleep(50);
  }
  throw new Error(explain());
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
