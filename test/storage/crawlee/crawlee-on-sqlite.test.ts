import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BasicCrawler, type BasicCrawlerOptions } from '@crawlee/basic';
import { Configuration, Dataset, KeyValueStore, LogLevel, log, RequestQueue, RequestQueueV1 } from '@crawlee/core';
import { MemoryStorage } from '@crawlee/memory-storage';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SqliteStorageClient } from '../../../src/storage/crawlee/sqlite-storage-client.ts';

const PAGES = 60;

let folder: string;
let client: SqliteStorageClient;
let config: Configuration;

beforeEach(async () => {
  log.setLevel(LogLevel.OFF);
  folder = await mkdtemp(join(tmpdir(), 'millrace-crawlee-'));
  client = new SqliteStorageClient({ file: join(folder, 'storages.sqlite') });
  config = new Configuration({ storageClient: client, persistStateIntervalMillis: 50 });
});

afterEach(async () => {
  await client.close();
  await rm(folder, { recursive: true });
});

const pageUrl = (n: number): string => `https://example.com/${n}`;

/** A crawl of PAGES pages, each naming the next two, with a page that fails its first time. */
function crawler(options: BasicCrawlerOptions = {}): BasicCrawler {
  const tried = new Set<string>();
  return new BasicCrawler(
    {
      ...options,
      requestHandler: async ({ request, pushData, enqueueLinks, useState }) => {
        const n = Number(request.url.split('/').at(-1));
        const isFirstTry = !tried.has(request.url);
        tried.add(request.url);
        if (n === 7 && isFirstTry) throw new Error('first try');
        const state = await useState({ pages: 0 });
        state.pages += 1;
        await pushData({ n, text: `page ${n}, "quoted"`, nested: { even: n % 2 === 0 } });
        const next = [2 * n + 1, 2 * n + 2].filter((page) => page < PAGES);
        await enqueueLinks({ urls: next.map(pageUrl), strategy: 'all' });
      },
    },
    config,
  );
}

describe('Crawlee on SQLite', () => {
  test.each([
    ['RequestQueue with locks', {}],
    ['RequestQueue without locks', { experiments: { requestLocking: false } }],
  ])('crawls everything once with %s', async (_, options) => {
    const statistics = await crawler(options).run([pageUrl(0)]);
    expect(statistics).toMatchObject({ requestsFinished: PAGES, requestsFailed: 0 });
    const dataset = await Dataset.open<{ n: number }>(undefined, { config });
    const { items, total } = await dataset.getData();
    expect(total).toBe(PAGES);
    expect(items.map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: PAGES }, (_, n) => n));
    const queue = await RequestQueue.open(undefined, { config });
    expect(await queue.getInfo()).toMatchObject({ handledRequestCount: PAGES, pendingRequestCount: 0 });
  });

  test('keeps state, statistics and sessions where Crawlee looks for them', async () => {
    await crawler({ useSessionPool: true }).run([pageUrl(0)]);
    const store = await KeyValueStore.open(undefined, { config });
    expect(await store.getValue('CRAWLEE_STATE')).toEqual({ pages: PAGES });
    const keys: string[] = [];
    await store.forEachKey((key) => void keys.push(key));
    expect(keys).toEqual(
      expect.arrayContaining([expect.stringContaining('SDK_CRAWLER_STATISTICS_'), 'SDK_SESSION_POOL_STATE']),
    );
  });

  test('exports, and goes through a dataset by forEach, map and reduce', async () => {
    await crawler().run([pageUrl(0)]);
    const dataset = await Dataset.open<{ n: number; text: string }>(undefined, { config });
    let seen = 0;
    await dataset.forEach(({ n }) => {
      seen += n;
    });
    const sum = (PAGES * (PAGES - 1)) / 2;
    expect(seen).toBe(sum);
    expect(await dataset.map(({ n }) => n)).toHaveLength(PAGES);
    expect(await dataset.reduce((memo, { n }) => memo + n, 0)).toBe(sum);
    await dataset.exportToCSV('pages');
    const store = await KeyValueStore.open(undefined, { config });
    const csv = await store.getValue<string>('pages');
    expect(csv!.trim().split('\n')).toHaveLength(PAGES + 1);
    await crawler().exportData(join(folder, 'out.json'));
    expect(JSON.parse(await readFile(join(folder, 'out.json'), 'utf8'))).toHaveLength(PAGES);
  });

  test('exportToCSV and exportToJSON write what millrace export writes: all columns, every value', async () => {
    const dataset = await Dataset.open('mixed', { config });
    const items = [
      { a: 1, yes: true, no: false, none: null, empty: '' },
      { b: { c: [1, 'x'], d: 'say "hi"' }, a: 2 },
    ];
    await dataset.pushData(items);
    await dataset.pushData({ late: 0.1 });
    await dataset.exportToCSV('csv');
    await dataset.exportToJSON('json');
    expect(await dataset.exportTo('again', { desc: true }, 'text/csv')).toHaveLength(3);
    const store = await KeyValueStore.open(undefined, { config });
    const csv = [
      'a,yes,no,none,empty,b.c,b.d,late',
      '1,true,false,,"",,,',
      '2,,,,,"[1,""x""]","say ""hi""",',
      ',,,,,,,0.1',
    ];
    expect(await store.getValue('csv')).toBe(csv.map((line) => `${line}\n`).join(''));
    expect(await store.getValue('again')).toBe([csv[0], csv[3], csv[2], csv[1]].map((line) => `${line}\n`).join(''));
    expect(await store.getValue('json')).toEqual([...items, { late: 0.1 }]);
    const none = await Dataset.open('none', { config });
    await none.exportToCSV('none');
    expect(await store.getValue('none')).toBe('');
    await dataset.drop();
    await (await Dataset.open('mixed', { config })).pushData({ other: 1 });
    await (await Dataset.open('mixed', { config })).exportToCSV('csv');
    expect(await store.getValue('csv')).toBe('other\n1\n');
    await expect(none.exportTo('x', {}, 'text/html')).rejects.toThrow('Unsupported content type');
  });

  test('exportToCSV of a dataset stored elsewhere stays Crawlee’s own', async () => {
    const elsewhere = new Configuration({ storageClient: new MemoryStorage({ persistStorage: false }) });
    const dataset = await Dataset.open(undefined, { config: elsewhere });
    await dataset.pushData([{ a: true }, { b: 1 }]);
    await dataset.exportToCSV('csv');
    const store = await KeyValueStore.open(undefined, { config: elsewhere });
    expect(await store.getValue('csv')).toBe('a\n1\n\n');
  });

  test('is used on after a crawler has ended and torn it down', async () => {
    await crawler().run([pageUrl(PAGES - 1)]);
    const dataset = await Dataset.open('more', { config });
    await dataset.pushData({ after: true });
    expect((await dataset.getData()).items).toEqual([{ after: true }]);
    await dataset.drop();
    expect(await client.dataset('more').get()).toBeUndefined();
  });

  test('adds thousands of requests in batches and finds them again after a restart', async () => {
    const queue = await RequestQueue.open('long', { config });
    const urls = Array.from({ length: 2_500 }, (_, n) => ({ url: pageUrl(n) }));
    const { waitForAllRequestsToBeAdded } = await queue.addRequestsBatched(urls, { waitBetweenBatchesMillis: 0 });
    await waitForAllRequestsToBeAdded;
    const first = await queue.fetchNextRequest();
    expect(first!.url).toBe(pageUrl(0));
    await client.close();
    const again = await RequestQueue.open('long', {
      config: new Configuration({ storageClient: client, purgeOnStart: false }),
    });
    expect(await again.getInfo()).toMatchObject({ totalRequestCount: 2_500, pendingRequestCount: 2_500 });
    expect((await again.fetchNextRequest())!.url).toBe(pageUrl(0));
  });

  test('offers the same requests to a queue without locks', async () => {
    const queue = await RequestQueueV1.open('plain', { config });
    await queue.addRequests([{ url: pageUrl(1) }, { url: pageUrl(2) }]);
    await queue.addRequest({ url: pageUrl(3) }, { forefront: true });
    const request = await queue.fetchNextRequest();
    expect(request!.url).toBe(pageUrl(3));
    await queue.markRequestHandled(request!);
    expect(await queue.handledCount()).toBe(1);
    const second = await queue.fetchNextRequest();
    await queue.reclaimRequest(second!, { forefront: true });
    expect(await queue.isFinished()).toBe(false);
  });
});

describe('purging on start', () => {
  test('empties the default storages and spares the input and what has a name', async () => {
    const store = client.keyValueStore((await client.keyValueStores().getOrCreate('default')).id);
    await store.setRecord({ key: 'INPUT', value: { a: 1 } });
    await store.setRecord({ key: 'OUTPUT', value: 1 });
    await (await Dataset.open('named', { config })).pushData({ n: 1 });
    await (await Dataset.open(undefined, { config })).pushData({ n: 1 });
    await (await RequestQueue.open(undefined, { config })).addRequest({ url: pageUrl(1) });
    await client.purge();
    expect(await client.keyValueStore('default').getRecord('INPUT')).toMatchObject({ value: { a: 1 } });
    expect(await client.keyValueStore('default').recordExists('OUTPUT')).toBe(false);
    expect(await client.dataset('default').get()).toBeUndefined();
    expect(await client.requestQueue('default').get()).toBeUndefined();
    expect(await client.dataset('named').get()).toMatchObject({ itemCount: 1 });
  });

  test('spares everything while another client uses the file, and works again once alone', async () => {
    await (await Dataset.open(undefined, { config })).pushData({ n: 1 });
    const other = new SqliteStorageClient({ file: join(folder, 'storages.sqlite') });
    expect(await other.dataset('default').get()).toMatchObject({ itemCount: 1 });
    await client.purge();
    await other.purge();
    expect(await client.dataset('default').get()).toMatchObject({ itemCount: 1 });
    await other.close();
    await client.purge();
    expect(await client.dataset('default').get()).toBeUndefined();
  });

  test('does not free the locks of a client that is at work', async () => {
    const { id } = await client.requestQueues().getOrCreate('shared');
    const queue = client.requestQueue(id);
    await queue.addRequest({ url: pageUrl(1), uniqueKey: pageUrl(1) });
    await queue.listAndLockHead({ lockSecs: 60 });
    const other = new SqliteStorageClient({ file: join(folder, 'storages.sqlite') });
    expect((await other.requestQueue('shared').listAndLockHead({ lockSecs: 60 })).items).toEqual([]);
    await other.close();
  });
});
