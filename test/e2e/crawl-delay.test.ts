import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

vi.setConfig({ testTimeout: 60_000 });

const DELAY_MS = 300;

let place: Workplace;
let server: FixtureServer;
const arrivedMs: number[] = [];

beforeEach(async () => {
  place = await Workplace.open();
  server = await serve(({ path, atMs }) => {
    if (path === '/robots.txt')
      return { status: 200, body: `User-agent: millrace\nCrawl-delay: ${DELAY_MS / 1_000}\n` };
    arrivedMs.push(atMs);
    return { status: 200, body: '{}' };
  });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

test('a Crawl-delay holds from the first request on, not from when it is next looked up', async () => {
  await place.write('urls.txt', urlList(server.url, 8));
  const { code, summary } = await place.crawl(['urls.txt', '--no-discovery']);
  expect(code).toBe(0);
  expect(summary.requests.succeeded).toBe(8);
  const gaps = arrivedMs.slice(1).map((atMs, index) => atMs - arrivedMs[index]!);
  // One that was on its way for long makes the next gap shorter.
  expect(Math.min(...gaps)).toBeGreaterThan(DELAY_MS / 2);
  expect(arrivedMs.at(-1)! - arrivedMs[0]!).toBeGreaterThan(7 * DELAY_MS - DELAY_MS / 2);
});
