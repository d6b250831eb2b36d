import { Dataset } from '@crawlee/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunCrawler } from '../../src/index.ts';
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

async function records(crawler: RunCrawler, dataset?: string): Promise<unknown[]> {
  return (await (await crawler.getDataset(dataset)).getData()).items;
}

describe('a handler that fails', () => {
  test('leaves none of its records and requests, and its next attempt all of them once', async () => {
    const crawler = await bench.createOwn({
      async requestHandler({ request, pushData, addRequests, enqueueLinks }) {
        if (!request.url.endsWith('/a')) return;
        await pushData({ attempt: request.retryCount });
        await pushData({ attempt: request.retryCount }, 'named');
        await addRequests([`${server.url}/by-attempt-${request.retryCount}`]);
        await enqueueLinks({ urls: [`${server.url}/linked-${request.retryCount}`] });
        if (request.retryCount < 2) throw new Error('not yet');
      },
    });
    await crawler.run([`${server.url}/a`]);
    expect(await records(crawler)).toEqual([{ attempt: 2 }]);
    expect(await records(crawler, 'named')).toEqual([{ attempt: 2 }]);
    expect([0, 1, 2].map((attempt) => server.hits(`/by-attempt-${attempt}`))).toEqual([0, 0, 1]);
    expect([0, 1, 2].map((attempt) => server.hits(`/linked-${attempt}`))).toEqual([0, 0, 1]);
  });

  test('leaves none of what its other branches write after it has failed', async () => {
    let release = (): void => {};
    const crawler = await bench.createOwn({
      maxRequestRetries: 1,
      async requestHandler({ request, pushData }) {
        if (request.retryCount > 0) {
          release();
          await pushData({ attempt: 1 });
          return;
        }
        const late = new Promise<void>((resolve) => {
          release = resolve;
        }).then(() => pushData({ attempt: 0, late: true }));
        await Promise.all([late, Promise.reject(new Error('one branch'))]);
      },
    });
    await crawler.run([`${server.url}/a`]);
    expect(await records(crawler)).toEqual([{ attempt: 1 }]);
  });

  test('keeps what it wrote past the unit of work: a direct Dataset.pushData is at-least-once', async () => {
    const crawler = await bench.createOwn({
      maxRequestRetries: 1,
      async requestHandler({ request }) {
        const dataset = await Dataset.open('direct', { config: crawler.config });
        await dataset.pushData({ attempt: request.retryCount });
        if (request.retryCount === 0) throw new Error('after the write');
      },
    });
    await crawler.run([`${server.url}/a`]);
    expect(await records(crawler, 'direct')).toEqual([{ attempt: 0 }, { attempt: 1 }]);
  });

  test('with a key that no later record has leaves no hole in the columns', async () => {
    const crawler = await bench.createOwn({
      maxRequestRetries: 1,
      requestHandlerTimeoutSecs: 0.2,
      async requestHandler({ request, pushData }) {
        await pushData({ id: 1, name: 'x' });
        if (request.retryCount === 0) await new Promise((resolve) => setTimeout(resolve, 5_000).unref());
      },
    });
    await crawler.run([`${server.url}/a`]);
    const store = await Dataset.open(undefined, { config: crawler.config });
    expect((await store.getData()).items).toEqual([{ id: 1, name: 'x' }]);
    expect(await bench.columnsOf(crawler, 'default')).toEqual(['id', 'name']);
  });
});

describe('a handler that takes too long', () => {
  test('has its signal aborted, with hooks or without', async () => {
    for (const preNavigationHooks of [[], [() => {}]]) {
      const reasons: string[] = [];
      const crawler = await bench.createOwn({
        maxRequestRetries: 0,
        requestHandlerTimeoutSecs: 0.1,
        preNavigationHooks,
        requestHandler: (context) =>
          new Promise((resolve) => {
            const { signal } = context as unknown as { signal: AbortSignal };
            signal.addEventListener('abort', () => {
              reasons.push((signal.reason as Error).message);
              resolve();
            });
          }),
      });
      await crawler.run([`${server.url}/a`]);
      expect(reasons).toEqual([expect.stringContaining('requestHandler timed out after 0.1 seconds')]);
    }
  });

  test('sees an aborted signal, though it asks for it only then', async () => {
    const states: boolean[] = [];
    let isOver = (): void => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const crawler = await bench.createOwn({
      maxRequestRetries: 0,
      requestHandlerTimeoutSecs: 0.1,
      async requestHandler(context) {
        await over;
        states.push((context as unknown as { signal: AbortSignal }).signal.aborted);
      },
      failedRequestHandler: async () => isOver(),
    });
    await crawler.run([`${server.url}/a`]);
    await crawler.whenIdle();
    expect(states).toEqual([true]);
  });

  test('writes nothing late: records, requests and links are dropped', async () => {
    let finish = (): void => {};
    const late = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let wrote = false;
    const crawler = await bench.createOwn({
      maxRequestRetries: 1,
      requestHandlerTimeoutSecs: 0.2,
      async requestHandler({ request, pushData, addRequests }) {
        await pushData({ attempt: request.retryCount });
        if (request.retryCount === 1) {
          finish();
          // The late one is certainly through before this attempt is committed.
          await new Promise((resolve) => setTimeout(resolve, 50));
          return;
        }
        await late;
        await pushData({ attempt: 0, late: true });
        await addRequests([`${server.url}/late`]);
        wrote = true;
      },
    });
    await crawler.run([`${server.url}/a`]);
    expect(wrote).toBe(true);
    expect(await records(crawler)).toEqual([{ attempt: 1 }]);
    expect(server.hits('/late')).toBe(0);
  });
});

describe('useState', () => {
  test('is stored with the acknowledgement of whoever used it, and there when the run goes on', async () => {
    const settings = {
      run: 'state',
      maxConcurrency: 1,
      requestHandler: async ({ useState, crawler: own }: Parameters<NonNullable<RunCrawler['router']>>[0]) => {
        const state = await useState({ count: 0 });
        state.count += 1;
        if (state.count === 2) own.stop();
      },
    };
    const first = await bench.createOwn(settings);
    await first.run(['/1', '/2', '/3', '/4'].map((path) => server.url + path));
    await first.close();
    const second = await bench.createOwn(settings);
    await second.run();
    expect(await second.useState()).toEqual({ count: 4 });
  });
});

describe('failedRequestHandler', () => {
  test('has what it wrote committed with the failure, what the handler wrote not', async () => {
    const crawler = await bench.createOwn({
      maxRequestRetries: 0,
      async requestHandler({ request, pushData }) {
        await pushData({ from: 'handler' });
        if (request.url.endsWith('/a')) throw new Error('no');
      },
      async failedRequestHandler({ pushData, addRequests }) {
        await pushData({ from: 'failedRequestHandler' });
        await addRequests([`${server.url}/instead`]);
      },
    });
    await crawler.run([`${server.url}/a`]);
    expect(await records(crawler)).toEqual([{ from: 'failedRequestHandler' }, { from: 'handler' }]);
    expect(await records(crawler, 'failures')).toMatchObject([{ url: `${server.url}/a`, code: 'HANDLER_FAILED' }]);
  });
});
