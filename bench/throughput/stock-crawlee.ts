// Crawlee as it comes, with its persistent storage. argv: base URL, requests, concurrency.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Configuration, HttpCrawler, LogLevel, log } from '@crawlee/http';
import { MemoryStorage } from '@crawlee/memory-storage';

const [base = '', requests = '0', concurrency = '50'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'stock-crawlee-'));
log.setLevel(LogLevel.ERROR);
const config = new Configuration({
  storageClient: new MemoryStorage({ localDataDirectory: folder, persistStorage: true }),
});
const total = Number(requests);
const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
const crawler = new HttpCrawler(
  {
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    requestHandler: async ({ json, request, pushData }) => {
      await pushData({ url: request.url, ...json });
    },
  },
  config,
);
await crawler.run(Array.from({ length: total }, (_, index) => `${base}/items/${index}`));
const wallMs = performance.now() - startedMs;
const { user, system } = process.cpuUsage(cpuBefore);
console.log(JSON.stringify({ requestsPerSecond: (total / wallMs) * 1000, cpuMicros: (user + system) / total }));
rmSync(folder, { recursive: true, force: true });
process.exit(0);
