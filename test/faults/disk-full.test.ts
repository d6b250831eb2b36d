import { rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { failureCodeOf } from '../../src/crawl/failure-codes.ts';
import { CrawlerBench } from '../crawl/support/crawlers.ts';
import { type EchoServer, startEcho } from '../crawl/support/echo-server.ts';
import { mountSmall } from '../fixtures/small-disk.ts';

let bench: CrawlerBench;
let server: EchoServer;

beforeEach(async () => {
  bench = new CrawlerBench('JsonCrawler');
  server = await startEcho(() => ({ body: JSON.stringify('x'.repeat(50_000)) }));
});
afterEach(() => server.close());

// The disk is full at another moment each time: while records are committed, and while the end of the run is written.
test.for([12, 13.75, 14.75, 15.75])(
  'a crawl whose disk is full ends with ENVIRONMENT, and goes on without a loss when there is room (%d of 16 MiB taken)',
  async (taken, context) => {
    const disk = await mountSmall(16);
    if (disk === null) return context.skip('mounting a tmpfs is not permitted here');
    try {
      const filler = join(disk.folder, 'filler');
      writeFileSync(filler, Buffer.alloc(taken * 1024 * 1024));
      const urls = Array.from({ length: 120 }, (_, at) => `${server.url}/${at}`);
      const settings = { storageDir: disk.folder, run: 'full' };
      const crawler = await bench.createOwn(settings);
      const error = await crawler.run(urls).catch((thrown: unknown) => thrown);
      expect([failureCodeOf(error), (error as Error).message]).toEqual([
        'ENVIRONMENT',
        expect.stringContaining('The disk is full'),
      ]);
      rmSync(filler);
      // It ends, whatever it cannot write.
      await crawler.close().catch(() => {});

      const later = await bench.createOwn(settings);
      await later.run(urls);
      const { items } = await later.getData();
      expect(items.map(({ url, error: failed }) => [url, failed]).sort()).toEqual(
        urls.map((url) => [url, null]).sort(),
      );
      await later.close();
    } finally {
      await bench.end();
      disk.unmount();
      await rm(disk.folder, { recursive: true, force: true });
    }
  },
);
