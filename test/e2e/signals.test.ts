import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { type ServerProcess, serveInProcess } from '../fixtures/servers/in-process.ts';
import { urlList, Workplace } from './millrace.ts';

let server: ServerProcess;
let place: Workplace;

beforeEach(async () => {
  place = await Workplace.open();
  server = await serveInProcess({ json: { latencyMs: 200 } });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s lets requests in flight end, saves, says how to go on, and exits %i',
  async (signal, code) => {
    await place.write('urls.txt', urlList(server.url, 1_500));
    const { child, finished } = place.start(['urls.txt', '--no-discovery', '--json']);
    await servedAtLeast(150);
    child.kill(signal);
    const stopped = await finished;
    expect(stopped.code, stopped.stderr).toBe(code);
    expect(stopped.stderr).toContain('millrace crawl --run default');
    const summary = JSON.parse(stopped.stdout) as Summary;
    expect(summary.state).toBe('interrupted');
    expect(summary.requests.failed).toBe(0);
    const { statuses } = await server.stats();
    // What was in flight was let end: every answer is a record, and nothing was fetched in vain.
    expect(summary.requests.succeeded).toBe((statuses['200'] ?? 0) - 1);

    const resumed = await place.crawl(['crawl', '--run', 'default', '--no-discovery']);
    expect(resumed.code).toBe(0);
    expect(resumed.summary.requests).toMatchObject({ total: 1_500, succeeded: 1_500, pending: 0 });
    expect((await server.stats()).requests).toBe(1_501);
  },
  60_000,
);

test('a second signal ends it at once, and nothing is lost by it', async () => {
  const hung = await serveInProcess({ json: { latencyMs: 30_000 } });
  try {
    await place.write('urls.txt', urlList(hung.url, 10));
    const { child, finished } = place.start(['urls.txt', '--no-discovery', '--ignore-robots']);
    while ((await hung.stats()).requests < 10) await sleep(20);
    child.kill('SIGINT');
    // Within 300 ms a signal counts as the same one, as npm hands it on a second time.
    await sleep(1_000);
    const startedMs = Date.now();
    child.kill('SIGINT');
    const { code } = await finished;
    expect(code).toBe(130);
    expect(Date.now() - startedMs).toBeLessThan(5_000);
    const status = JSON.parse((await place.run(['status', '--json'])).stdout) as Summary;
    expect(status.requests).toMatchObject({ total: 10, pending: 10, failed: 0 });
  } finally {
    await hung.close();
  }
}, 60_000);

async function servedAtLeast(count: number): Promise<void> {
  while ((await server.stats()).requests < count) await sleep(20);
}
