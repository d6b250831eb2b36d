import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { type ServerProcess, serveInProcess } from '../fixtures/servers/in-process.ts';
import { urlList, Workplace } from './millrace.ts';

const URLS = 5_000;
const KILLS = 5;

let server: ServerProcess;
let place: Workplace;

beforeEach(async () => {
  place = await Workplace.open();
  server = await serveInProcess({ json: { latencyMs: 100 } });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

test('killed five times in mid-run, the same command ends with every record once', async () => {
  await place.write('urls.txt', urlList(server.url, URLS));
  const command = ['urls.txt', '--no-discovery', '--json'];
  const seed = Date.now() % 100_000;
  for (let kill = 1; kill <= KILLS; kill++) {
    const { child, finished } = place.start(command);
    const servedBefore = (await server.stats()).requests;
    await servedAtLeast(servedBefore + 100 + ((seed * kill) % 400));
    child.kill('SIGKILL');
    const { signal } = await finished;
    // Each kill landed while it was at work: it had not ended, and there was work left.
    expect(signal, `kill ${kill}, seed ${seed}`).toBe('SIGKILL');
    const status = await place.run(['status', '--json']);
    const { requests, state, hosts, unrecorded = 0 } = JSON.parse(status.stdout) as Summary;
    expect(state).toBe('interrupted');
    expect(requests.pending).toBeGreaterThan(0);
    // What the hosts' figures lack is told.
    const recorded = Object.values(hosts).reduce((sum, { succeeded }) => sum + succeeded, 0);
    expect(recorded + unrecorded).toBe(requests.succeeded);
  }
  const last = await place.run(command);
  expect(last.code, last.stderr).toBe(0);
  expect(last.stderr).toContain('Continuing run "default"');
  const records = await place.records<{ data: { path: string } }>('default');
  const paths = records.map((record) => record.data.path);
  expect(paths).toHaveLength(URLS);
  expect(new Set(paths)).toEqual(
    new Set(Object.keys((await server.stats()).served).filter((path) => path !== '/robots.txt')),
  );
  const summary = JSON.parse(last.stdout) as Summary;
  expect(summary.requests).toMatchObject({ total: URLS, succeeded: URLS, failed: 0, pending: 0 });
  expect(summary.input).toEqual({ lines: URLS, malformed: 0, duplicates: 0 });
}, 300_000);

async function servedAtLeast(count: number): Promise<void> {
  while ((await server.stats()).requests < count) await sleep(20);
}
