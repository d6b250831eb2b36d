import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { limitByTokenBucket } from '../fixtures/servers/token-bucket-server.ts';
import { CrawlerBench } from './support/crawlers.ts';
import { type Answering, type EchoServer, startEcho } from './support/echo-server.ts';

let bench: CrawlerBench;
const closing: { close(): Promise<void> }[] = [];

beforeEach(() => {
  bench = new CrawlerBench('JsonCrawler');
});
afterEach(async () => {
  await bench.end();
  for (const server of closing.splice(0)) await server.close();
});

async function start(answering?: Answering): Promise<EchoServer> {
  const server = await startEcho(answering);
  closing.push(server);
  return server;
}

/** Sends every path on to the same one of another server. */
function redirectTo(base: () => string): Answering {
  return ({ path }) => ({ status: 302, headers: { location: `${base()}${path}` } });
}

const paths = (count: number): string[] => Array.from({ length: count }, (_, index) => `/${index}`);

describe('each hop', () => {
  test('goes under its own host’s pacing: a limited target loses nothing and refuses next to nothing', async () => {
    const limited: FixtureServer = await serve(limitByTokenBucket({ requestsPerSecond: 100, burst: 10 }));
    closing.push(limited);
    const from = await start(redirectTo(() => limited.url));
    const crawler = await bench.createOwn({
      hosts: { [new URL(limited.url).host]: { requestsPerSecond: 80, discovery: 'off' } },
      requestHandler: async ({ json, pushData }) => pushData(json),
    });
    const stats = await crawler.run(paths(200).map((path) => from.url + path));
    expect(stats).toMatchObject({ requestsFinished: 200, requestsFailed: 0 });
    const { statuses, arrivalsMs } = limited.stats();
    expect(statuses).toEqual({ 200: 200 });
    // 80 a second: 199 gaps of 12.5 ms, less what timers are early by.
    expect(arrivalsMs.at(-1)! - arrivalsMs[0]!).toBeGreaterThan(199 * 12.5 * 0.95);
  });

  test('keeps within its own host’s concurrency', async () => {
    const target = await serve(() => ({ status: 200, body: '{}', afterMs: 20 }));
    closing.push(target);
    const from = await start(redirectTo(() => target.url));
    const crawler = await bench.createOwn({
      hosts: { default: { discovery: 'off' }, [new URL(target.url).host]: { maxConcurrency: 3, discovery: 'off' } },
      requestHandler: async () => {},
    });
    expect(await crawler.run(paths(60).map((path) => from.url + path))).toMatchObject({ requestsFinished: 60 });
    expect(target.stats().maxInFlight).toBe(3);
  });

  test('that waits for a parked host gives its slot back: other hosts go on', async () => {
    const parked = await start((_, earlier) =>
      earlier === 5 ? { status: 429, headers: { 'retry-after': '4' }, body: '{}' } : undefined,
    );
    const from = await start(() => ({ status: 302, headers: { location: `${parked.url}/same` } }));
    const free = await start();
    const order: string[] = [];
    const crawler = await bench.createOwn({
      maxConcurrency: 2,
      hosts: { default: { discovery: 'off' }, [parked.host]: { maxConcurrency: 1 } },
      requestHandler: async ({ request }) => {
        const { host } = new URL(request.url);
        order.push(host === free.host ? 'free' : 'redirected');
        // Found late, so that the redirects wait already.
        if (request.url === `${free.url}/0`)
          await crawler.addRequests(paths(50).map((path) => `${free.url}/late${path}`));
      },
    });
    const first = paths(10).map((path) => from.url + path);
    await crawler.run([...first, `${free.url}/0`]);
    expect(order).toHaveLength(61);
    // Five before it is parked, five when it is free again.
    expect(order.lastIndexOf('free')).toBe(55);
    expect(order.slice(-5)).toEqual(Array(5).fill('redirected'));
  });

  test('to a host that is given up fails its own request only', async () => {
    const never = await start(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: '{}' }));
    const from = await start(redirectTo(() => never.url));
    const crawler = await bench.createOwn({
      hosts: { [never.host]: { maxServerWaitSecs: 10 } },
      requestHandler: async () => {},
    });
    const stats = await crawler.run([`${from.url}/a`, `${from.url}/b`]);
    expect(stats).toMatchObject({ requestsFinished: 0, requestsFailed: 2 });
    const { items } = await (await crawler.getDataset('failures')).getData();
    expect(items.map(({ code }) => code)).toEqual(['HOST_GIVEN_UP', 'HOST_GIVEN_UP']);
  });
});

describe('chains', () => {
  test('of ten redirects are followed, of eleven not', async () => {
    const server = await start(({ path }) => {
      const [, left] = path.match(/\/left\/(\d+)/) ?? [];
      return left === '0' ? {} : { status: 302, headers: { location: `/left/${Number(left) - 1}` } };
    });
    const crawler = await bench.createOwn({
      requestHandler: async ({ request, pushData }) => pushData({ url: request.loadedUrl }),
    });
    await crawler.run([`${server.url}/left/10`, { url: `${server.url}/left/11`, uniqueKey: 'eleven' }]);
    expect((await crawler.getData()).items).toEqual([{ url: `${server.url}/left/0` }]);
    const { items } = await (await crawler.getDataset('failures')).getData();
    expect(items).toMatchObject([{ url: `${server.url}/left/11`, code: 'TOO_MANY_REDIRECTS', attempts: 1 }]);
  });

  test('that lead back are named, hop by hop, and not tried again', async () => {
    const server = await start(({ path }) => ({ status: 302, headers: { location: path === '/a' ? '/b' : '/a' } }));
    const crawler = await bench.createOwn({ requestHandler: async () => {} });
    await crawler.run([`${server.url}/a`]);
    const { items } = await (await crawler.getDataset('failures')).getData();
    const loop = ['/a', '/b', '/a'].map((path) => server.url + path).join(' -> ');
    expect(items).toMatchObject([{ code: 'REDIRECT_LOOP', attempts: 1, message: `redirected in a loop: ${loop}` }]);
    expect(server.hits('/a')).toBe(1);
  });

  test('without a usable Location fail typed', async () => {
    const server = await start(() => ({ status: 302, headers: { location: 'ftp://x.test/' } }));
    const crawler = await bench.createOwn({ requestHandler: async () => {} });
    await crawler.run([`${server.url}/a`]);
    const { items } = await (await crawler.getDataset('failures')).getData();
    expect(items).toMatchObject([{ code: 'BAD_LOCATION' }]);
  });

  test('keep the cookies set on the way, and send them on', async () => {
    const server = await start(({ path }) =>
      path === '/login' ? { status: 302, headers: { location: '/home', 'set-cookie': 'sid=1; Path=/' } } : undefined,
    );
    const crawler = await bench.createOwn({ requestHandler: async () => {} });
    await crawler.run([`${server.url}/login`]);
    expect(server.seen.map(({ path, headers }) => [path, headers.cookie])).toEqual([
      ['/login', undefined],
      ['/home', 'sid=1'],
    ]);
  });
});

describe('credentials', () => {
  test('configured for the start URLs go to their origins, and to no other a redirect leads to', async () => {
    const elsewhere = await start();
    const home = await start(({ path }) =>
      path.startsWith('/away') ? { status: 307, headers: { location: `${elsewhere.url}/there` } } : undefined,
    );
    const crawler = await bench.createOwn({
      headers: { 'X-Secret': 's3cret', Authorization: 'Bearer t0ken' },
      requestHandler: async ({ addRequests, request }) => {
        if (request.url === `${home.url}/a`) await addRequests([`${home.url}/away`, `${elsewhere.url}/followed`]);
      },
      followHosts: ['*'],
    });
    await crawler.run([`${home.url}/a`]);
    const secretsOf = ({ headers }: EchoServer['seen'][number]) => [headers['x-secret'], headers.authorization];
    expect(home.seen.map(secretsOf)).toEqual([
      ['s3cret', 'Bearer t0ken'],
      ['s3cret', 'Bearer t0ken'],
    ]);
    expect(elsewhere.seen.map(({ path }) => path).sort()).toEqual(['/followed', '/there']);
    expect(elsewhere.seen.map(secretsOf)).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test('of a single request stay on its origin, and come back with a redirect that comes back', async () => {
    const elsewhere = await start();
    const home = await start(({ path }) =>
      path === '/a' ? { status: 302, headers: { location: `${elsewhere.url}/there` } } : undefined,
    );
    const crawler = await bench.createOwn({ requestHandler: async () => {} });
    await crawler.run([
      { url: `${home.url}/a`, headers: { authorization: 'Bearer mine', cookie: 'sid=1', 'x-plain': '1' } },
    ]);
    const { authorization, cookie, 'x-plain': plain } = elsewhere.seen[0]!.headers;
    expect([authorization, cookie, plain]).toEqual([undefined, undefined, '1']);
  });

  test('reach the origin again when a redirect leads away and back', async () => {
    let home: EchoServer;
    const elsewhere = await start(() => ({ status: 302, headers: { location: `${home.url}/back` } }));
    home = await start(({ path }) =>
      path === '/a' ? { status: 302, headers: { location: `${elsewhere.url}/there` } } : undefined,
    );
    const crawler = await bench.createOwn({ headers: { 'x-secret': 's3cret' }, requestHandler: async () => {} });
    await crawler.run([`${home.url}/a`]);
    expect(home.seen.map(({ headers }) => headers['x-secret'])).toEqual(['s3cret', 's3cret']);
    expect(elsewhere.seen.map(({ headers }) => headers['x-secret'])).toEqual([undefined]);
  });
});

describe('cookies', () => {
  test('belong to one session and one host', async () => {
    const answering: Answering = ({ path, headers }) =>
      path.startsWith('/set') ? { headers: { 'set-cookie': `who=${headers.host}; Path=/` }, body: '{}' } : undefined;
    const [one, two] = [await start(answering), await start(answering)];
    const crawler = await bench.createOwn({
      maxConcurrency: 1,
      sessionPoolOptions: { maxPoolSize: 1 },
      requestHandler: async ({ request, addRequests }) => {
        if (request.url.includes('/set')) await addRequests([request.url.replace('/set', '/read')]);
      },
    });
    await crawler.run([`${one.url}/set`, `${two.url}/set`]);
    const read = (server: EchoServer) => server.seen.find(({ path }) => path === '/read')?.headers.cookie;
    expect([read(one), read(two)]).toEqual([`who=${one.host}`, `who=${two.host}`]);
  });
});
