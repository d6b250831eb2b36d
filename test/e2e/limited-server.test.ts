import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, serveInProcess } from '../fixtures/servers/in-process.ts';
import { urlList, Workplace } from './millrace.ts';

let server: ServerProcess;
let place: Workplace;

beforeEach(async () => {
  place = await Workplace.open();
  server = await serveInProcess({ tokenBucket: { requestsPerSecond: 100, burst: 20 } });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

test('2,000 URLs of a server that allows 100 requests/s are all there, none twice, at a rate set just below', async () => {
  await place.write('urls.txt', urlList(server.url, 2_000));
  const { code, summary } = await place.crawl(['urls.txt', '--requests-per-second', '95']);
  const records = await place.records<{ url: string; status: number; data: { path: string } }>('default');
  expect(records).toHaveLength(2_000);
  expect(new Set(records.map((record) => record.data.path)).size).toBe(2_000);
  expect(records.every((record) => record.status === 200)).toBe(true);
  expect(code).toBe(0);
  expect(summary).toMatchObject({
    state: 'finished',
    requests: { total: 2_000, succeeded: 2_000, failed: 0, pending: 0 },
    records: { default: 2_000 },
  });
  const { served, arrivalsMs } = await server.stats();
  expect(Object.values(served).filter((times) => times !== 1)).toEqual([]);
  expect(mostInWindow(arrivalsMs, 1_000)).toBeLessThanOrEqual(101);
}, 60_000);

/** Most arrivals within any window of so many ms. */
function mostInWindow(arrivalsMs: readonly number[], windowMs: number): number {
  let most = 0;
  let start = 0;
  for (const [end, atMs] of arrivalsMs.entries()) {
    while (atMs - arrivalsMs[start]! >= windowMs) start++;
    most = Math.max(most, end - start + 1);
  }
  return most;
}
