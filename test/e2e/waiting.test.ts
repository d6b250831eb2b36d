import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { urlList, Workplace } from './millrace.ts';

const REST_SECS = 14;

test('a crawl that waits for its host says for which, why and for how long', async () => {
  let restUntilMs: number | null = null;
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') {
      response.writeHead(404).end();
      return;
    }
    restUntilMs ??= Date.now() + REST_SECS * 1_000;
    if (Date.now() < restUntilMs) response.writeHead(429, { 'retry-after': String(REST_SECS) }).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const place = await Workplace.open();
  try {
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await place.write('urls.txt', urlList(`http://${host}`, 30));
    const { code, stderr } = await place.run(['urls.txt']);
    expect(code, stderr).toBe(0);
    // A line is logged every ten seconds.
    expect(stderr).toMatch(
      new RegExp(
        `0 of 30 requests done.*, waiting for ${host}: nothing is sent for \\d.* s \\(status 429, told to wait`,
      ),
    );
    // 30 requests for 50 slots: what kept them was the wait, not the want of more.
    expect(stderr).toMatch(/rate limit\n +\S+ was left alone for [789]\d % of the slot-time after 1 x\s+429/);
  } finally {
    await place.remove();
    server.close();
  }
});
