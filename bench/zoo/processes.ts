import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cell } from './cells.ts';
import type { ClientJob, ClientReport } from './client.ts';
import { startNginx } from './nginx.ts';

/** Counted by the server; one entry a second since its first request. */
export type Counts = { accepted: number[]; refused: number[]; distinct: number; doubled: number };

export type LimitedServer = { origin: string; counts(): Promise<Counts>; stop(): Promise<void> };

async function startScript(script: string, cell: Cell): Promise<LimitedServer & { port: number }> {
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(cell)]);
  const { port } = await message<{ port: number }>(child);
  const counts = async (): Promise<Counts> => {
    child.send('counts');
    return message<Counts>(child);
  };
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { port, origin: `http://127.0.0.1:${port}`, counts, stop };
}

async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = await once(child, 'message');
  return value as T;
}

/** Starts the server of a cell, in processes of its own. */
export async function startServer(cell: Cell): Promise<LimitedServer> {
  if (cell.server === 'fastify') return startScript('fastify-server.ts', cell);
  if (cell.server === undefined) return startScript('server.ts', cell);
  const backend = await startScript('server.ts', { ...cell, limiter: 'no limit', headers: 'none' });
  const options = { rate: cell.rate, isNodelay: cell.server === 'nginx nodelay', status: cell.refusalStatus };
  const nginx = await startNginx({ ...options, backendPort: backend.port });
  return {
    origin: `http://127.0.0.1:${nginx.port}`,
    counts: nginx.counts,
    stop: async () => {
      await nginx.stop();
      await backend.stop();
    },
  };
}

/** Runs one client to its end. */
export async function runClient(job: ClientJob): Promise<ClientReport> {
  const child = fork(join(import.meta.dirname, 'client.ts'), [JSON.stringify(job)]);
  const report = await message<ClientReport>(child);
  if (child.exitCode === null) {
    child.disconnect();
    child.kill();
    await once(child, 'exit');
  }
  return report;
}
