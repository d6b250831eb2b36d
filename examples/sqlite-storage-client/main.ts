// A Crawlee project of your own on millrace's storage: one SQLite file instead of a folder of small ones.
// It crawls a little API that it starts itself. With an API of your own, kill it at any time and start it again: it goes on.
// node examples/sqlite-storage-client/main.ts [storages.sqlite]
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Configuration, Dataset, HttpCrawler } from '@crawlee/http';
import { SqliteStorageClient } from '../../src/storage/crawlee/sqlite-storage-client.ts';

const PAGES = 20;
const PAGE = /\/pages\/(\d+)$/;

const server = createServer((request, response) => {
  const page = Number(PAGE.exec(request.url ?? '')?.[1]);
  const next = page < PAGES ? `/pages/${page + 1}` : null;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ page, title: `Page ${page}`, next }));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const storageClient = new SqliteStorageClient({ file: process.argv[2] ?? 'storage/example.sqlite' });
// purgeOnStart: false keeps what an earlier run has done, as with Crawlee's own storage.
const config = new Configuration({ storageClient, purgeOnStart: false });

const crawler = new HttpCrawler(
  {
    requestHandler: async ({ json, request, pushData, addRequests }) => {
      const { page, title, next } = json as { page: number; title: string; next: string | null };
      await pushData({ page, title });
      if (next) await addRequests([new URL(next, request.url).href]);
    },
  },
  config,
);
await crawler.run([`${baseUrl}/pages/1`]);

const { itemCount } = (await (await Dataset.open(undefined, { config })).getInfo())!;
process.stdout.write(`${itemCount} items are in the dataset\n`);
await storageClient.close();
server.close();
