import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Turns } from '../../src/crawl/turns.ts';
import { defineRoute } from '../../src/index.ts';
import { CrawlerBench } from './support/crawlers.ts';
import { type EchoServer, startEcho } from './support/echo-server.ts';

let bench: CrawlerBench;
let server: EchoServer;

beforeEach(async () => {
  bench = new CrawlerBench('JsonCrawler');
  server = await startEcho();
});
afterEach(async () => {
  await bench.end();
  await server.close();
});

describe('with one slot', () => {
  test('the next request is on its way before the answer to the last one is worked on', async () => {
    const steps: string[] = [];
    const nameOf = (url: string): string => new URL(url).pathname;
    const route = defineRoute<{ path: string }>({
      label: 'page',
      prepare: (request) => {
        steps.push(`send ${nameOf(request.url)}`);
        return { request, ticket: null, secretHeaders: [] };
      },
      extract: ({ body }) => {
        steps.push(`work on ${body.path}`);
        return { records: [] };
      },
    });
    const crawler = await bench.createOwn({ maxConcurrency: 1, routes: [route] });
    await crawler.run(['/1', '/2', '/3'].map((path) => ({ url: server.url + path, label: 'page' })));
    expect(steps).toEqual(['send /1', 'send /2', 'work on /1', 'send /3', 'work on /2', 'work on /3']);
  });

  test('a handler of the user’s keeps the slot until it has ended', async () => {
    const steps: string[] = [];
    const crawler = await bench.createOwn({
      maxConcurrency: 1,
      preNavigationHooks: [({ request }) => void steps.push(`send ${new URL(request.url).pathname}`)],
      async requestHandler({ request }) {
        await new Promise(setImmediate);
        steps.push(`work on ${new URL(request.url).pathname}`);
      },
    });
    await crawler.run(['/1', '/2'].map((path) => server.url + path));
    expect(steps).toEqual(['send /1', 'work on /1', 'send /2', 'work on /2']);
  });
});

test('what waits for its turn goes on in order, after what the event loop does first', async () => {
  const turns = new Turns();
  const steps: number[] = [];
  const both = [turns.next().then(() => steps.push(1)), turns.next().then(() => steps.push(2))];
  await Promise.resolve();
  expect(steps).toEqual([]);
  await Promise.all(both);
  expect(steps).toEqual([1, 2]);
});
