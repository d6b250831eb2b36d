// An existing Crawlee project, switched over. Before, it began:
//
//   import { HttpCrawler, createHttpRouter } from '@crawlee/http';
//   const crawler = new HttpCrawler({ requestHandler: router, maxRequestRetries: 3 });
//
// All below the constructor is as it was. Run it: node examples/json-crawler/crawl.ts https://api.example.com
import { createJsonCrawler, createJsonRouter } from '../../src/index.ts';

const [baseUrl = 'http://127.0.0.1:3000'] = process.argv.slice(2);

const router = createJsonRouter();

router.addDefaultHandler(async ({ json, request, addRequests, log }) => {
  const { items, next } = json as { items: { id: number }[]; next: string | null };
  log.info(`${items.length} products on ${request.url}`);
  await addRequests(items.map(({ id }) => ({ url: `${baseUrl}/products/${id}`, label: 'PRODUCT' })));
  if (next !== null) await addRequests([`${baseUrl}/products?cursor=${encodeURIComponent(next)}`]);
});

router.addHandler('PRODUCT', async ({ json, pushData }) => {
  const { id, name, price } = json as { id: number; name: string; price: { amount: number; currency: string } };
  await pushData({ id, name, amount: price.amount, currency: price.currency });
});

await using crawler = await createJsonCrawler({
  requestHandler: router,
  maxRequestRetries: 3,
  run: 'json-crawler-example',
  hosts: { default: { maxConcurrency: 20 } },
});

const { requestsFinished, requestsFailed } = await crawler.run([`${baseUrl}/products`]);
const { itemCount } = (await (await crawler.getDataset()).getInfo()) ?? {};
console.log(`${requestsFinished} requests, ${requestsFailed} failed, ${itemCount} products in ${crawler.folder}`);
