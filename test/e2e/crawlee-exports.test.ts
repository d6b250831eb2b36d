import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { log as crawleeLog, Dataset, KeyValueStore, LogLevel } from '@crawlee/core';
import { expect, onTestFinished, test } from 'vitest';
import { createJsonCrawler } from '../../src/index.ts';
import { serve } from '../fixtures/servers/serve.ts';
import { Workplace } from './millrace.ts';

const BODIES = ['{"id":1,"ok":true,"price":1.10}', '{"id":2,"of":{"brand":"a;b"},"big":9223372036854775808}'];

test('crawler.exportData and Dataset.exportToCSV give the very file that millrace export writes', async () => {
  const place = await Workplace.open();
  onTestFinished(() => place.remove());
  const server = await serve(({ path }) => ({ status: 200, body: BODIES[Number(path.split('/').at(-1)) - 1] ?? '{}' }));
  onTestFinished(() => server.close());
  const log = crawleeLog.child({ prefix: 'test', level: LogLevel.OFF });
  const crawler = await createJsonCrawler({
    storageDir: place.storage,
    run: 'own',
    log,
    maxConcurrency: 1,
    requestHandler: async ({ json, pushData }) => pushData(json as Record<string, unknown>),
  });
  const items = await crawler
    .run([`${server.url}/items/1`, `${server.url}/items/2`])
    .then(() => crawler.exportData(join(place.folder, 'new/own.csv')));
  expect(items).toHaveLength(2);
  await crawler.exportData(join(place.folder, 'own.jsonl'));
  await crawler.exportData(join(place.folder, 'own.txt'), 'json');
  await expect(crawler.exportData(join(place.folder, 'own.txt'))).rejects.toThrow('Cannot tell the format');
  await expect(crawler.exportData(join(place.folder, 'own.csv'), 'csv', { desc: true })).rejects.toThrow('desc');
  // The same dataset, as Crawlee opens it.
  const dataset = await crawler.getDataset();
  await dataset.exportToCSV('csv');
  const store = await KeyValueStore.open(null, { config: dataset.config });
  const fromStore = await store.getValue<string>('csv');
  // What Crawlee pushes to a dataset is exported by the command line too, all its columns.
  await (await Dataset.open('pushed', { config: dataset.config })).pushData([{ a: 1 }, { b: false }]);
  await crawler.close();

  await mkdir(join(place.folder, 'cli'));
  const files = ['cli/own.csv', 'cli/own.jsonl', 'cli/own.json'].flatMap((file) => ['--output', file]);
  const { code, stderr } = await place.run(['export', '--run', 'own', ...files]);
  expect(code, stderr).toBe(0);
  const read = (name: string): Promise<string> => readFile(join(place.folder, name), 'utf8');
  const csv = await read('new/own.csv');
  expect(csv.split('\n')).toHaveLength(4);
  expect(csv).toContain('9223372036854775808');
  expect(csv).toBe(await read('cli/own.csv'));
  expect(fromStore).toBe(csv);
  expect(await read('own.jsonl')).toBe(await read('cli/own.jsonl'));
  expect(await read('own.txt')).toBe(await read('cli/own.json'));
  expect(await read('cli/own.pushed.csv')).toBe('a,b\n1,\n,false\n');
}, 60_000);
