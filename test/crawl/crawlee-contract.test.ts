import {
  CriticalError,
  Dataset,
  KeyValueStore,
  NonRetryableError,
  RequestValidationError,
  RetryRequestError,
  SessionError,
} from '@crawlee/core';
import {
  createHttpRouter,
  type HttpCrawler,
  type HttpCrawlingContext,
  ProxyConfiguration,
  Request,
} from '@crawlee/http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CrawlerBench, type Kind, type Settings } from './support/crawlers.ts';
import { type Answering, type EchoServer, startEcho } from './support/echo-server.ts';

/** What a row works with: a server, and crawlers of one kind. */
type Kit = {
  kind: Kind;
  isOurs: boolean;
  server: EchoServer;
  /** The server's URL with a path. */
  url: (path: string) => string;
  serve: (answering: Answering) => Promise<EchoServer>;
  create: (settings: Settings) => Promise<HttpCrawler<HttpCrawlingContext>>;
};

type Row = { title: string; only?: Kind; run: (kit: Kit) => Promise<void> };

const rows: Row[] = [];

/** A row that both crawlers must pass, word for word; or one whose expectation depends on `isOurs`: an exception. */
function row(title: string, run: Row['run'], only?: Kind): void {
  rows.push({ title, run, ...(only ? { only } : {}) });
}

const pathOf = (context: HttpCrawlingContext): string => new URL(context.request.url).pathname;
type Echo = { method: string; path: string; headers: Record<string, string>; body: string };
const echoOf = (context: HttpCrawlingContext): Echo => context.json as unknown as Echo;

// --- Context -----------------------------------------------------------------------------------------------------

row('a handler gets request, response, body, json, contentType, session, log, crawler and id', async (kit) => {
  const seen: HttpCrawlingContext[] = [];
  const crawler = await kit.create({ requestHandler: async (context) => void seen.push(context) });
  await crawler.run([kit.url('/a')]);
  const [context] = seen as [HttpCrawlingContext];
  expect(context.request).toBeInstanceOf(Request);
  expect(context.request).toMatchObject({ url: kit.url('/a'), loadedUrl: kit.url('/a'), method: 'GET', retryCount: 0 });
  expect(context.response).toMatchObject({ statusCode: 200, statusMessage: 'OK', url: kit.url('/a'), complete: true });
  expect(context.response.headers['content-type']).toBe('application/json');
  expect(Buffer.isBuffer(context.body)).toBe(true);
  expect(JSON.parse(context.body.toString())).toEqual(context.json);
  expect(echoOf(context).path).toBe('/a');
  expect(context.contentType.type).toBe('application/json');
  expect(context.session).toMatchObject({ id: expect.any(String) });
  expect(context.session?.isUsable()).toBe(true);
  expect(context.proxyInfo).toBeUndefined();
  expect(context.log.info).toBeTypeOf('function');
  expect(context.crawler).toBe(crawler);
  expect(context.id).toBeTypeOf('string');
});

row('body is readable by contentType.encoding, whatever its charset', async (kit) => {
  const server = await kit.serve(() => ({
    headers: { 'content-type': 'application/json; charset=windows-1252' },
    body: '{"name":"plain"}',
  }));
  const texts: string[] = [];
  const crawler = await kit.create({
    requestHandler: async ({ body, contentType }) => void texts.push(body.toString(contentType.encoding)),
  });
  await crawler.run([`${server.url}/a`]);
  expect(texts).toEqual(['{"name":"plain"}']);
});

row('pushData writes to the default dataset and to named ones', async (kit) => {
  const crawler = await kit.create({
    async requestHandler({ pushData, request }) {
      await pushData({ url: request.url });
      await pushData([{ n: 1 }, { n: 2 }], 'numbers');
    },
  });
  await crawler.run([kit.url('/a')]);
  expect((await crawler.getData()).items).toEqual([{ url: kit.url('/a') }]);
  expect((await (await crawler.getDataset('numbers')).getData()).items).toEqual([{ n: 1 }, { n: 2 }]);
});

row('Dataset.open and crawler.pushData reach the same datasets', async (kit) => {
  const crawler = await kit.create({ requestHandler: async ({ pushData }) => pushData({ from: 'handler' }) });
  await crawler.pushData({ from: 'outside' });
  await crawler.run([kit.url('/a')]);
  const dataset = await Dataset.open(undefined, { config: crawler.config });
  expect((await dataset.getData()).items).toEqual([{ from: 'outside' }, { from: 'handler' }]);
});

row('addRequests takes URLs, options, Requests and async iterables, one level deeper', async (kit) => {
  const seen: [string, number, unknown][] = [];
  async function* more() {
    yield kit.url('/async');
  }
  const crawler = await kit.create({
    async requestHandler(context) {
      const { request, addRequests } = context;
      seen.push([pathOf(context), request.crawlDepth, request.userData.tag]);
      if (pathOf(context) !== '/start') return;
      await addRequests([kit.url('/text'), { url: kit.url('/options'), userData: { tag: 'o' } }]);
      await addRequests([new Request({ url: kit.url('/request'), userData: { tag: 'r' } })]);
      await addRequests(more() as never);
    },
  });
  await crawler.run([kit.url('/start')]);
  expect(seen.sort()).toEqual([
    ['/async', 1, undefined],
    ['/options', 1, 'o'],
    // Crawlee keeps the depth a Request brings: 0.
    ['/request', kit.isOurs ? 1 : 0, 'r'],
    ['/start', 0, undefined],
    ['/text', 1, undefined],
  ]);
});

row('enqueueLinks takes urls with label, userData, globs, exclude and a transform', async (kit) => {
  const seen: unknown[] = [];
  const crawler = await kit.create({
    additionalMimeTypes: ['text/html'],
    async requestHandler(context) {
      const { request, enqueueLinks } = context;
      seen.push([pathOf(context), request.label, request.userData.tag]);
      if (pathOf(context) !== '/html/start') return;
      const result = await enqueueLinks({
        urls: ['/html/keep/1', '/html/keep/2', '/html/keep/no', '/html/other'].map(kit.url),
        globs: ['http://**/keep/*'],
        exclude: [/no$/],
        label: 'KEEP',
        userData: { tag: 7 },
        transformRequestFunction: (options) => (options.url.endsWith('2') ? false : options),
      });
      expect(result.processedRequests).toHaveLength(1);
    },
  });
  await crawler.run([kit.url('/html/start')]);
  expect(seen).toEqual([
    ['/html/start', undefined, undefined],
    ['/html/keep/1', 'KEEP', 7],
  ]);
});

row('enqueueLinks keeps to its strategy, seen from baseUrl', async (kit) => {
  const other = await kit.serve(() => undefined);
  const crawler = await kit.create({
    additionalMimeTypes: ['text/html'],
    async requestHandler({ enqueueLinks, request }) {
      if (!request.url.endsWith('start')) return;
      const urls = [kit.url('/html/a'), `${other.url}/html/b`];
      await enqueueLinks({ urls, baseUrl: request.url, strategy: 'same-origin' });
    },
  });
  await crawler.run([kit.url('/html/start')]);
  expect(kit.server.hits('/html/a')).toBe(1);
  expect(other.hits('/html/b')).toBe(0);
});

row('a request that is redirected out of its strategy is skipped', async (kit) => {
  const other = await kit.serve(() => undefined);
  const handled: string[] = [];
  const skipped: unknown[] = [];
  const crawler = await kit.create({
    additionalMimeTypes: ['text/html'],
    onSkippedRequest: (facts) => void skipped.push(facts.reason),
    async requestHandler(context) {
      handled.push(pathOf(context));
      if (pathOf(context) !== '/html/start') return;
      const away = kit.url(`/redirect?to=${encodeURIComponent(other.url.replace('127.0.0.1', 'localhost'))}`);
      await context.enqueueLinks({ urls: [away], baseUrl: context.request.url, strategy: 'same-hostname' });
    },
  });
  await crawler.run([kit.url('/html/start')]);
  expect(handled).toEqual(['/html/start']);
  expect(skipped).toEqual(['redirect']);
});

row('enqueueLinks works on a JSON page, where stock HttpCrawler does nothing', async (kit) => {
  const crawler = await kit.create({
    async requestHandler(context) {
      if (pathOf(context) === '/start') await context.enqueueLinks({ urls: [kit.url('/found')] });
    },
  });
  await crawler.run([kit.url('/start')]);
  expect(kit.server.hits('/found')).toBe(kit.isOurs ? 1 : 0);
});

row('useState is one object for all handlers and for the crawler', async (kit) => {
  const crawler = await kit.create({
    maxConcurrency: 3,
    async requestHandler({ useState }) {
      const state = await useState({ count: 0 });
      state.count += 1;
    },
  });
  await crawler.run(['/1', '/2', '/3', '/4'].map(kit.url));
  expect(await crawler.useState()).toEqual({ count: 4 });
});

row('sendRequest asks with the page’s URL and headers, what is given overriding', async (kit) => {
  const answers: unknown[] = [];
  const crawler = await kit.create({
    async requestHandler({ sendRequest }) {
      const again = (await sendRequest({ responseType: 'json' })) as unknown as { body: Echo; statusCode: number };
      answers.push([again.statusCode, again.body.path, again.body.headers['x-own']]);
      const options = { url: kit.url('/other'), method: 'POST', json: { a: 1 }, responseType: 'json' } as never;
      const { body } = (await sendRequest(options)) as unknown as { body: Echo };
      answers.push([body.path, body.method, body.body, body.headers['content-type']]);
      const missing = (await sendRequest({ url: kit.url('/status/404') })) as unknown as { statusCode: number };
      answers.push(missing.statusCode);
    },
  });
  await crawler.run([{ url: kit.url('/a'), headers: { 'x-own': 'yes' } }]);
  expect(answers).toEqual([[200, '/a', 'yes'], ['/other', 'POST', '{"a":1}', 'application/json'], 404]);
});

row('sendRequest keeps cookies in the session, which stock loses, and sends them', async (kit) => {
  const server = await kit.serve(({ path }) =>
    path === '/login' ? { headers: { 'set-cookie': 'sid=42; Path=/' }, body: '{}' } : undefined,
  );
  const cookies: (string | undefined)[] = [];
  const crawler = await kit.create({
    async requestHandler({ sendRequest, session }) {
      await sendRequest({ url: `${server.url}/login` });
      cookies.push(session?.getCookieString(server.url));
      const { body } = (await sendRequest({ url: `${server.url}/b`, responseType: 'json' })) as unknown as {
        body: Echo;
      };
      cookies.push(body.headers.cookie);
    },
  });
  await crawler.run([`${server.url}/a`]);
  expect(cookies).toEqual(kit.isOurs ? ['sid=42', 'sid=42'] : ['', undefined]);
});

row('getKeyValueStore opens the default and named stores', async (kit) => {
  const crawler = await kit.create({
    async requestHandler({ getKeyValueStore }) {
      await (await getKeyValueStore()).setValue('a', { n: 1 });
      await (await getKeyValueStore('other')).setValue('b', 'text', { contentType: 'text/plain' });
    },
  });
  await crawler.run([kit.url('/a')]);
  const config = { config: crawler.config };
  expect(await (await KeyValueStore.open(null, config)).getValue('a')).toEqual({ n: 1 });
  expect(await (await KeyValueStore.open('other', config)).getValue('b')).toBe('text');
});

// --- Hooks -------------------------------------------------------------------------------------------------------

row('hooks run in order: before the request, after the response, then the handler', async (kit) => {
  const order: string[] = [];
  const crawler = await kit.create({
    preNavigationHooks: [
      async ({ response }) => void order.push(`pre 1 ${response === undefined}`),
      () => void order.push('pre 2'),
    ],
    postNavigationHooks: [
      ({ response }) => void order.push(`post 1 ${response.statusCode}`),
      async () => void order.push('post 2'),
    ],
    requestHandler: async () => void order.push('handler'),
  });
  await crawler.run([kit.url('/a')]);
  expect(order).toEqual(['pre 1 true', 'pre 2', 'post 1 200', 'post 2', 'handler']);
});

row('a preNavigationHook may change headers, method, body and the query', async (kit) => {
  const crawler = await kit.create({
    preNavigationHooks: [
      (_, options) => {
        options.headers = { ...options.headers, 'x-hook': '1' };
        options.method = 'POST';
        options.body = 'from hook';
        options.searchParams = { page: 2 };
      },
    ],
    requestHandler: async ({ pushData, json }) => pushData(json),
  });
  await crawler.run([kit.url('/a')]);
  expect(kit.server.seen).toMatchObject([{ method: 'POST', path: '/a?page=2', body: 'from hook' }]);
  expect(kit.server.seen[0]!.headers['x-hook']).toBe('1');
});

row('a preNavigationHook may send json or a form', async (kit) => {
  const crawler = await kit.create({
    preNavigationHooks: [
      ({ request }, options) => {
        options.method = 'POST';
        if (request.url.endsWith('json')) options.json = { a: 1 };
        else options.form = { a: '1' };
      },
    ],
    requestHandler: async () => {},
  });
  await crawler.run([kit.url('/json'), kit.url('/form')]);
  const sent = kit.server.seen.map(({ path, headers, body }) => [path, headers['content-type'], body]).sort();
  expect(sent).toEqual([
    ['/form', 'application/x-www-form-urlencoded', 'a=1'],
    ['/json', 'application/json', '{"a":1}'],
  ]);
});

row('a preNavigationHook may change the request itself', async (kit) => {
  const other = await kit.serve(() => undefined);
  const crawler = await kit.create({
    preNavigationHooks: [
      ({ request }) => {
        request.headers = { ...request.headers, authorization: 'Bearer t' };
        if (request.url.endsWith('/move')) request.url = `${other.url}/moved`;
      },
    ],
    requestHandler: async () => {},
  });
  await crawler.run([kit.url('/a'), kit.url('/move')]);
  expect(kit.server.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([['/a', 'Bearer t']]);
  expect(other.hits('/moved')).toBe(1);
});

row('a preNavigationHook may limit the time', async (kit) => {
  const server = await kit.serve(() => ({ afterMs: 5_000 }));
  const errors: string[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 0,
    preNavigationHooks: [
      (_, options) => {
        options.timeout = { request: 100 };
      },
    ],
    requestHandler: async () => {},
    failedRequestHandler: async (_, error) => void errors.push(error.message),
  });
  await crawler.run([`${server.url}/slow`]);
  expect(errors).toHaveLength(1);
});

row('a preNavigationHook may keep a redirect from being followed', async (kit) => {
  const statuses: (number | undefined)[] = [];
  const crawler = await kit.create({
    preNavigationHooks: [
      (_, options) => {
        options.followRedirect = false;
      },
    ],
    requestHandler: async ({ response }) => void statuses.push(response.statusCode),
  });
  await crawler.run([kit.url(`/redirect?to=${encodeURIComponent('/a')}`)]);
  expect(statuses).toEqual([302]);
  expect(kit.server.hits('/a')).toBe(0);
});

row('cookies set by a hook, by the request and by the session are all sent', async (kit) => {
  const crawler = await kit.create({
    preNavigationHooks: [
      ({ session, request }) => session?.setCookies([{ name: 'a', value: 'session' }], request.url),
      (_, options) => {
        options.headers = { ...options.headers, cookie: 'b=hook' };
      },
    ],
    requestHandler: async () => {},
  });
  await crawler.run([{ url: kit.url('/a'), headers: { cookie: 'c=request' } }]);
  const sent = kit.server.seen[0]!.headers.cookie!.split('; ').sort();
  expect(sent).toEqual(['a=session', 'b=hook', 'c=request']);
});

row('a hook that throws is an attempt that failed', async (kit) => {
  let calls = 0;
  const crawler = await kit.create({
    maxRequestRetries: 2,
    postNavigationHooks: [
      () => {
        calls += 1;
        if (calls < 3) throw new Error('not yet');
      },
    ],
    requestHandler: async () => {},
  });
  const { requestsFinished } = await crawler.run([kit.url('/a')]);
  expect([calls, requestsFinished]).toEqual([3, 1]);
});

// --- Router ------------------------------------------------------------------------------------------------------

row('a router sends labels to their handlers, through middlewares, the rest to the default', async (kit) => {
  const seen: string[] = [];
  const router = createHttpRouter();
  router.use(async ({ request }) => void seen.push(`middleware ${request.label}`));
  router.addHandler('LIST', async ({ addRequests }) => {
    seen.push('LIST');
    await addRequests([{ url: kit.url('/detail'), label: 'DETAIL' }]);
  });
  router.addHandler('DETAIL', async () => void seen.push('DETAIL'));
  router.addDefaultHandler(async ({ addRequests }) => {
    seen.push('default');
    await addRequests([{ url: kit.url('/list'), label: 'LIST' }]);
  });
  const crawler = await kit.create({ requestHandler: router });
  await crawler.run([kit.url('/start')]);
  expect(seen.filter((name) => !name.startsWith('m'))).toEqual(['default', 'LIST', 'DETAIL']);
  expect(seen.filter((name) => name.startsWith('m'))).toHaveLength(3);
});

row('crawler.router takes handlers, too', async (kit) => {
  const seen: string[] = [];
  const crawler = await kit.create({});
  crawler.router.addHandler('A', async () => void seen.push('A'));
  crawler.router.addDefaultHandler(async ({ addRequests }) => {
    seen.push('default');
    await addRequests([{ url: kit.url('/2'), label: 'A' }]);
  });
  await crawler.run([kit.url('/1')]);
  expect(seen).toEqual(['default', 'A']);
});

row('a router’s schemas check userData when requests are added, and give it parsed', async (kit) => {
  const seen: unknown[] = [];
  const router = createHttpRouter({ PAGE: z.object({ page: z.coerce.number() }) } as never);
  router.addHandler('PAGE' as never, async ({ request, addRequests }) => {
    seen.push((request.userData as { page: number }).page);
    const bad = { url: kit.url('/bad'), label: 'PAGE', userData: { page: 'x' } };
    await expect(addRequests([bad])).rejects.toThrow(RequestValidationError);
  });
  const crawler = await kit.create({ requestHandler: router as never });
  await crawler.run([{ url: kit.url('/1'), label: 'PAGE', userData: { page: '7' } }]);
  expect(seen).toEqual([7]);
  expect(kit.server.hits('/bad')).toBe(0);
});

row('an unknown label fails its request and names the known ones; stock ends the crawl', async (kit) => {
  const failures: string[] = [];
  const crawler = await kit.create({
    maxConcurrency: 1,
    failedRequestHandler: async ({ request }, error) => void failures.push(`${request.label}: ${error.message}`),
  });
  crawler.router.addHandler('KNOWN', async () => {});
  const running = crawler.run([
    { url: kit.url('/1'), label: 'OTHER' },
    { url: kit.url('/2'), label: 'KNOWN' },
  ]);
  if (!kit.isOurs) return expect(running).rejects.toThrow('Route not found');
  expect(await running).toMatchObject({ requestsFinished: 1, requestsFailed: 1 });
  expect(failures).toEqual(['OTHER: Nothing handles the label "OTHER"; known are KNOWN']);
  expect(kit.server.hits('/1')).toBe(0);
});

// --- Errors and retries --------------------------------------------------------------------------------------------

row(
  'a failed attempt is retried maxRequestRetries times, errorHandler before each, failedRequestHandler once',
  async (kit) => {
    const calls: [string, number][] = [];
    const crawler = await kit.create({
      maxRequestRetries: 2,
      requestHandler: async ({ request }) => {
        calls.push(['handler', request.retryCount]);
        throw new Error('no');
      },
      errorHandler: async ({ request }, error) => void calls.push([`error ${error.message}`, request.retryCount]),
      failedRequestHandler: async ({ request }, error) =>
        void calls.push([`failed ${error.message}`, request.retryCount]),
    });
    expect(await crawler.run([kit.url('/a')])).toMatchObject({ requestsFinished: 0, requestsFailed: 1 });
    expect(calls).toEqual([
      ['handler', 0],
      ['error no', 0],
      ['handler', 1],
      ['error no', 1],
      ['handler', 2],
      ['failed no', 2],
    ]);
  },
);

row('request.errorMessages has one message for each attempt', async (kit) => {
  const messages: string[][] = [];
  const crawler = await kit.create({
    maxRequestRetries: 1,
    requestHandler: async ({ request }) => {
      throw new Error(`attempt ${request.retryCount}`);
    },
    failedRequestHandler: async ({ request }) => void messages.push(request.errorMessages),
  });
  await crawler.run([kit.url('/a')]);
  expect(messages).toEqual([[expect.stringContaining('attempt 0'), expect.stringContaining('attempt 1')]]);
});

row('errorHandler may change headers, payload, userData and URL of the next attempt', async (kit) => {
  const seen: unknown[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 1,
    requestHandler: async ({ request }) => {
      seen.push([new URL(request.url).pathname, request.userData.tries]);
      if (request.retryCount === 0) throw new Error('once');
    },
    errorHandler: async ({ request }) => {
      request.headers = { ...request.headers, 'x-second': '1' };
      request.userData.tries = 1;
      if (request.url.endsWith('/a')) request.url = kit.url('/b');
      else request.payload = 'changed';
    },
  });
  await crawler.run([kit.url('/a'), { url: kit.url('/post'), method: 'PUT', payload: 'first' }]);
  expect(seen).toContainEqual(['/b', 1]);
  expect(kit.server.seen.find(({ path }) => path === '/b')?.headers['x-second']).toBe('1');
  expect(kit.server.seen.filter(({ path }) => path === '/post').map(({ body }) => body)).toEqual(['first', 'changed']);
});

row(
  'a POST that the server may have acted on is not repeated, unless safeMethods has it; in stock it is',
  async (kit) => {
    const requests = [{ url: kit.url('/flaky/1'), method: 'POST' as const, payload: 'x' }];
    const crawler = await kit.create({ requestHandler: async () => {} });
    await crawler.run(requests);
    expect(kit.server.hits('/flaky/1')).toBe(kit.isOurs ? 1 : 2);
    const safe = await kit.create({
      requestHandler: async () => {},
      own: { hosts: { default: { safeMethods: ['GET', 'POST'] } } },
    });
    expect(await safe.run([{ ...requests[0]!, url: kit.url('/flaky/2') }])).toMatchObject({ requestsFinished: 1 });
  },
);

row('errorHandler alone, with no other look at the request, may change its headers', async (kit) => {
  const crawler = await kit.create({
    requestHandler: async () => {},
    errorHandler: async ({ request }) => {
      request.headers = { 'x-second': '1' };
    },
  });
  await crawler.run([kit.url('/flaky/1')]);
  expect(kit.server.seen.map(({ headers }) => headers['x-second'])).toEqual([undefined, '1']);
});

row('errorHandler may set noRetry', async (kit) => {
  const crawler = await kit.create({
    maxRequestRetries: 5,
    requestHandler: async () => {},
    errorHandler: async ({ request }) => {
      request.noRetry = true;
    },
  });
  expect(await crawler.run([kit.url('/status/500')])).toMatchObject({ requestsFailed: 1 });
  expect(kit.server.hits('/status/500')).toBe(1);
});

row('errorHandler and failedRequestHandler see the response of a status that failed', async (kit) => {
  const statuses: (number | undefined)[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 1,
    requestHandler: async () => {},
    errorHandler: async ({ response }) => void statuses.push(response?.statusCode),
    failedRequestHandler: async ({ response }) => void statuses.push(response?.statusCode),
  });
  await crawler.run([kit.url('/status/500')]);
  expect(statuses).toEqual([500, 500]);
});

row(
  'hooks, handler, errorHandler and failedRequestHandler of an attempt share what is put on the context',
  async (kit) => {
    const seen: unknown[] = [];
    type Own = HttpCrawlingContext & { mine?: string };
    const crawler = await kit.create({
      maxRequestRetries: 0,
      preNavigationHooks: [
        (context) => {
          (context as Own).mine = 'hook';
        },
      ],
      requestHandler: async (context) => {
        (context as Own).mine += ' handler';
        throw new Error('no');
      },
      failedRequestHandler: async (context) => void seen.push((context as unknown as Own).mine),
    });
    await crawler.run([kit.url('/a')]);
    expect(seen).toEqual(['hook handler']);
  },
);

row('what failedRequestHandler pushes is stored', async (kit) => {
  const crawler = await kit.create({
    maxRequestRetries: 0,
    requestHandler: async () => {
      throw new Error('no');
    },
    failedRequestHandler: async ({ request, pushData }, error) => pushData({ url: request.url, why: error.message }),
  });
  await crawler.run([kit.url('/a')]);
  expect((await crawler.getData()).items).toEqual([{ url: kit.url('/a'), why: 'no' }]);
});

row('a throwing failedRequestHandler does not end the run; in stock it does', async (kit) => {
  const crawler = await kit.create({
    maxRequestRetries: 0,
    maxConcurrency: 1,
    requestHandler: async ({ request }) => {
      if (request.url.endsWith('bad')) throw new Error('no');
    },
    failedRequestHandler: async () => {
      throw new Error('worse');
    },
  });
  const running = crawler.run([kit.url('/bad'), kit.url('/good')]);
  if (!kit.isOurs) return expect(running).rejects.toThrow('worse');
  expect(await running).toMatchObject({ requestsFinished: 1, requestsFailed: 1 });
});

row('a throwing errorHandler ends the run', async (kit) => {
  const crawler = await kit.create({
    requestHandler: async () => {
      throw new Error('no');
    },
    errorHandler: async () => {
      throw new Error('worse');
    },
  });
  await expect(crawler.run([kit.url('/a')])).rejects.toThrow('worse');
});

row('NonRetryableError, request.noRetry and maxRetries of the request spare retries', async (kit) => {
  const crawler = await kit.create({
    maxRequestRetries: 3,
    requestHandler: async ({ request }) => {
      if (request.url.endsWith('never')) throw new NonRetryableError('never');
      if (request.url.endsWith('told')) request.noRetry = true;
      throw new Error('again');
    },
  });
  await crawler.run([
    kit.url('/never'),
    kit.url('/told'),
    { url: kit.url('/once'), maxRetries: 1 },
    { url: kit.url('/given'), noRetry: true },
    kit.url('/usual'),
  ]);
  const hits = ['/never', '/told', '/once', '/given', '/usual'].map((path) => kit.server.hits(path));
  expect(hits).toEqual([1, 1, 2, 1, 4]);
});

row('RetryRequestError retries beyond maxRequestRetries', async (kit) => {
  const counts: number[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 1,
    requestHandler: async ({ request }) => {
      counts.push(request.retryCount);
      if (request.retryCount < 4) throw new RetryRequestError('not yet');
    },
  });
  expect(await crawler.run([kit.url('/a')])).toMatchObject({ requestsFinished: 1 });
  expect(counts).toEqual([0, 1, 2, 3, 4]);
});

row(
  'RetryRequestError without end fails after stallSecs',
  async (kit) => {
    const errors: string[] = [];
    const crawler = await kit.create({
      requestHandler: async () => {
        throw new RetryRequestError('never');
      },
      failedRequestHandler: async (_, error) => void errors.push(error.message),
      own: { hosts: { default: { stallSecs: 1, retry: { baseDelayMs: 100, maxDelayMs: 100 } } } },
    });
    expect(await crawler.run([kit.url('/a')])).toMatchObject({ requestsFailed: 1 });
    expect(errors).toEqual(['never']);
    expect(kit.server.hits('/a')).toBeGreaterThan(5);
  },
  'JsonCrawler',
);

row('SessionError brings another session, maxSessionRotations times at most', async (kit) => {
  const sessions: string[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 10,
    maxSessionRotations: 2,
    requestHandler: async ({ session }) => {
      sessions.push(session!.id);
      throw new SessionError('blocked');
    },
  });
  expect(await crawler.run([kit.url('/a')])).toMatchObject({ requestsFailed: 1 });
  expect(sessions).toHaveLength(3);
  expect(new Set(sessions).size).toBe(3);
});

row('CriticalError ends the crawl', async (kit) => {
  const crawler = await kit.create({
    maxConcurrency: 1,
    requestHandler: async () => {
      throw new CriticalError('stop');
    },
  });
  await expect(crawler.run([kit.url('/1'), kit.url('/2')])).rejects.toThrow('stop');
  expect(kit.server.seen).toHaveLength(1);
});

row('a handler that takes too long fails with requestHandlerTimeoutSecs in its message', async (kit) => {
  const errors: string[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 0,
    requestHandlerTimeoutSecs: 0.1,
    requestHandler: () => new Promise((resolve) => setTimeout(resolve, 1_000).unref()),
    failedRequestHandler: async (_, error) => void errors.push(error.message),
  });
  await crawler.run([kit.url('/a')]);
  expect(errors).toEqual([expect.stringContaining('requestHandler timed out after 0.1 seconds')]);
});

// --- Statuses ------------------------------------------------------------------------------------------------------

row('a 5xx fails the attempt, and is retried', async (kit) => {
  const crawler = await kit.create({ maxRequestRetries: 2, requestHandler: async () => {} });
  expect(await crawler.run([kit.url('/flaky/2')])).toMatchObject({ requestsFinished: 1 });
  expect(kit.server.hits('/flaky/2')).toBe(3);
});

row('a 404 fails at once with its status; in stock it reaches the handler', async (kit) => {
  const handled: number[] = [];
  const crawler = await kit.create({
    requestHandler: async ({ response }) => void handled.push(response.statusCode!),
  });
  const stats = await crawler.run([kit.url('/status/404')]);
  expect(stats.requestsFailed).toBe(kit.isOurs ? 1 : 0);
  expect(handled).toEqual(kit.isOurs ? [] : [404]);
  expect(kit.server.hits('/status/404')).toBe(1);
});

row('ignoreHttpErrorStatusCodes and additionalHttpErrorStatusCodes decide what fails', async (kit) => {
  const handled: number[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 0,
    ignoreHttpErrorStatusCodes: [503, 404],
    additionalHttpErrorStatusCodes: [201],
    requestHandler: async ({ response }) => void handled.push(response.statusCode!),
  });
  const stats = await crawler.run(['/status/200', '/status/404', '/status/201', '/status/503'].map(kit.url));
  expect(stats).toMatchObject({ requestsFinished: 3, requestsFailed: 1 });
  expect(handled.sort()).toEqual([200, 404, 503]);
});

row('a 429 waits and costs no retry; in stock it is retried at once', async (kit) => {
  const server = await kit.serve((_, earlier) =>
    earlier < 2 ? { status: 429, headers: { 'retry-after': '1' }, body: '{}' } : undefined,
  );
  const retries: number[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 5,
    requestHandler: async ({ request }) => void retries.push(request.retryCount),
  });
  await crawler.run([`${server.url}/a`]);
  expect(retries).toEqual([kit.isOurs ? 0 : 2]);
});

row('a redirect is followed: loadedUrl and response.url are where it ended', async (kit) => {
  const seen: unknown[] = [];
  const crawler = await kit.create({
    requestHandler: async ({ request, response }) => void seen.push([request.url, request.loadedUrl, response.url]),
  });
  const from = kit.url(`/redirect?to=${encodeURIComponent('/end')}`);
  await crawler.run([from]);
  expect(seen).toEqual([[from, kit.url('/end'), kit.url('/end')]]);
});

// --- Requests ------------------------------------------------------------------------------------------------------

row('POST, PUT and PATCH send their payload and headers', async (kit) => {
  const crawler = await kit.create({ requestHandler: async () => {} });
  const headers = { 'content-type': 'application/json', 'x-own': '1' };
  await crawler.run(
    (['POST', 'PUT', 'PATCH'] as const).map((method) => ({
      url: kit.url(`/${method}`),
      method,
      payload: `{"m":"${method}"}`,
      headers,
    })),
  );
  const sent = kit.server.seen.map((seen) => [seen.method, seen.body, seen.headers['x-own']]).sort();
  expect(sent).toEqual([
    ['PATCH', '{"m":"PATCH"}', '1'],
    ['POST', '{"m":"POST"}', '1'],
    ['PUT', '{"m":"PUT"}', '1'],
  ]);
});

row('DELETE sends its payload; stock drops it', async (kit) => {
  const crawler = await kit.create({ requestHandler: async () => {} });
  await crawler.run([{ url: kit.url('/a'), method: 'DELETE', payload: '{"ids":[1]}' }]);
  expect(kit.server.seen.map(({ method, body }) => [method, body])).toEqual([
    ['DELETE', kit.isOurs ? '{"ids":[1]}' : ''],
  ]);
});

row('HEAD reaches the handler with an empty body', async (kit) => {
  const seen: unknown[] = [];
  const crawler = await kit.create({
    requestHandler: async ({ body, response, request }) =>
      void seen.push([request.method, body.length, response.statusCode]),
  });
  await crawler.run([{ url: kit.url('/a'), method: 'HEAD' }]);
  expect(seen).toEqual([['HEAD', 0, 200]]);
});

row('an answer without a body reaches the handler', async (kit) => {
  const server = await kit.serve(({ path }) => ({ status: path === '/204' ? 204 : 200, body: '' }));
  const seen: unknown[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 0,
    requestHandler: async ({ body, response }) => void seen.push([response.statusCode, body.length]),
  });
  await crawler.run([`${server.url}/204`, { url: `${server.url}/200`, method: 'POST', payload: 'x' }]);
  expect(seen.sort()).toEqual([
    [200, 0],
    [204, 0],
  ]);
});

row('additionalMimeTypes let other bodies through', async (kit) => {
  const server = await kit.serve(() => ({ headers: { 'content-type': 'text/csv' }, body: 'a,b\n1,2' }));
  const bodies: string[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 0,
    additionalMimeTypes: ['text/csv'],
    requestHandler: async ({ body, json, contentType }) => void bodies.push(`${contentType.type} ${body} ${json}`),
  });
  await crawler.run([`${server.url}/a`]);
  expect(bodies).toEqual(['text/csv a,b\n1,2 null']);
});

row('a body that is no JSON fails typed, whatever its type; stock hands it over or refuses its type', async (kit) => {
  const server = await kit.serve(({ path }) => ({
    headers: { 'content-type': 'text/plain' },
    body: path === '/json' ? '{"a":1}' : 'oops',
  }));
  const handled: unknown[] = [];
  const failed: string[] = [];
  const crawler = await kit.create({
    maxRequestRetries: 0,
    requestHandler: async ({ json }) => void handled.push(json),
    failedRequestHandler: async (_, error) => void failed.push(error.message),
  });
  await crawler.run([`${server.url}/json`, `${server.url}/text`]);
  expect(handled).toEqual(kit.isOurs ? [{ a: 1 }] : []);
  expect(failed).toHaveLength(kit.isOurs ? 1 : 2);
});

row('skipNavigation calls the handler without a request', async (kit) => {
  const seen: unknown[] = [];
  const crawler = await kit.create({
    requestHandler: async ({ request, response, pushData }) => {
      seen.push([request.url, response]);
      await pushData({ done: true });
    },
  });
  await crawler.run([{ url: kit.url('/a'), skipNavigation: true }]);
  expect(seen).toEqual([[kit.url('/a'), undefined]]);
  expect(kit.server.seen).toEqual([]);
  expect((await crawler.getData()).items).toEqual([{ done: true }]);
});

row('a uniqueKey of the user’s own decides what is the same', async (kit) => {
  const crawler = await kit.create({ requestHandler: async () => {} });
  await crawler.run([
    { url: kit.url('/a'), uniqueKey: 'one' },
    { url: kit.url('/a'), uniqueKey: 'two' },
    { url: kit.url('/b'), uniqueKey: 'one' },
  ]);
  expect([kit.server.hits('/a'), kit.server.hits('/b')]).toEqual([2, 0]);
});

row('the same URL is crawled once', async (kit) => {
  const crawler = await kit.create({
    requestHandler: async ({ addRequests }) => {
      await addRequests([kit.url('/a')]);
    },
  });
  await crawler.run([kit.url('/a'), kit.url('/a'), kit.url('/a#fragment')]);
  expect(kit.server.hits('/a')).toBe(1);
});

row('method, body and the whole query tell requests apart; stock drops some of it', async (kit) => {
  const crawler = await kit.create({ requestHandler: async () => {} });
  await crawler.run([
    kit.url('/q?b=1&a=2'),
    kit.url('/q?a=2&b=1'),
    kit.url('/q?a=2&b=1&utm_source=x'),
    { url: kit.url('/p'), method: 'POST', payload: '1' },
    { url: kit.url('/p'), method: 'POST', payload: '2' },
  ]);
  expect(kit.server.seen).toHaveLength(kit.isOurs ? 5 : 2);
});

row('forefront requests go before all that is not yet begun', async (kit) => {
  const server = await kit.serve(() => ({ afterMs: 50 }));
  const url = (path: string): string => `${server.url}${path}`;
  const order: string[] = [];
  const crawler = await kit.create({
    maxConcurrency: 1,
    async requestHandler(context) {
      order.push(pathOf(context));
      if (pathOf(context) !== '/0') return;
      await context.addRequests([url('/last')]);
      await context.addRequests([url('/first')], { forefront: true });
    },
  });
  await crawler.run(['/0', '/1', '/2', '/3'].map(url));
  // The next request begins when the handler has returned, its work is committed some milliseconds later.
  const own = ['/0', '/1', '/first', '/2', '/3', '/last'];
  expect(order).toEqual(kit.isOurs ? own : ['/0', '/first', '/1', '/2', '/3', '/last']);
});

row('crawlDepth grows, and maxCrawlDepth bounds it', async (kit) => {
  const depths: number[] = [];
  const skipped: unknown[] = [];
  const crawler = await kit.create({
    maxCrawlDepth: 2,
    onSkippedRequest: (facts) => void skipped.push([new URL(facts.url).pathname, facts.reason]),
    async requestHandler({ request, addRequests }) {
      depths.push(request.crawlDepth);
      await addRequests([kit.url(`/${request.crawlDepth + 1}`)]);
    },
  });
  await crawler.run([kit.url('/0')]);
  expect(depths).toEqual([0, 1, 2]);
  expect(skipped).toEqual([['/3', 'depth']]);
});

// --- Runs ----------------------------------------------------------------------------------------------------------

row('maxRequestsPerCrawl ends the crawl', async (kit) => {
  const crawler = await kit.create({ maxRequestsPerCrawl: 3, maxConcurrency: 1, requestHandler: async () => {} });
  await crawler.run(['/1', '/2', '/3', '/4', '/5'].map(kit.url));
  expect(kit.server.seen).toHaveLength(3);
});

row('maxRequestsPerCrawl leaves room for what handlers find', async (kit) => {
  const crawler = await kit.create({
    maxRequestsPerCrawl: 5,
    maxConcurrency: 1,
    async requestHandler({ request, addRequests }) {
      await addRequests([`${request.url}1`]);
    },
  });
  await crawler.run([kit.url('/1')]);
  expect(kit.server.seen.map(({ path }) => path)).toEqual(['/1', '/11', '/111', '/1111', '/11111']);
});

row('what maxRequestsPerCrawl has no room for is reported as skipped', async (kit) => {
  const skipped: unknown[] = [];
  const crawler = await kit.create({
    maxRequestsPerCrawl: 2,
    onSkippedRequest: (facts) => void skipped.push([new URL(facts.url).pathname, facts.reason]),
    requestHandler: async () => {},
  });
  await crawler.run(['/1', '/2', '/3'].map(kit.url));
  expect(skipped).toEqual([['/3', 'limit']]);
});

row('keepAlive waits for more until stop()', async (kit) => {
  const handled: string[] = [];
  const crawler = await kit.create({
    keepAlive: true,
    requestHandler: async (context) => void handled.push(pathOf(context)),
  });
  const running = crawler.run([kit.url('/1')]);
  await waitFor(() => handled.length === 1);
  await crawler.addRequests([kit.url('/2')]);
  await waitFor(() => handled.length === 2);
  crawler.stop();
  expect(await running).toMatchObject({ requestsFinished: 2 });
});

row('teardown() ends a run that is kept alive', async (kit) => {
  const crawler = await kit.create({ keepAlive: true, requestHandler: async () => {} });
  const running = crawler.run([kit.url('/1')]);
  await waitFor(() => crawler.stats.state.requestsFinished === 1);
  await crawler.teardown();
  expect(await running).toMatchObject({ requestsFinished: 1 });
});

row('stop() lets what is under way end and begins nothing new', async (kit) => {
  const crawler = await kit.create({
    maxConcurrency: 1,
    requestHandler: async ({ request, crawler: own }) => {
      if (request.url.endsWith('/2')) own.stop();
    },
  });
  expect(await crawler.run(['/1', '/2', '/3', '/4'].map(kit.url))).toMatchObject({ requestsFinished: 2 });
  expect(kit.server.seen).toHaveLength(2);
});

row('run() after stop() goes on with what is left, unless the queue is purged', async (kit) => {
  const crawler = await kit.create({
    maxConcurrency: 1,
    requestHandler: async ({ request, crawler: own }) => {
      if (request.url.endsWith('/2')) own.stop();
    },
  });
  await crawler.run(['/1', '/2', '/3', '/4'].map(kit.url));
  await crawler.run([], { purgeRequestQueue: false });
  expect(kit.server.seen.map(({ path }) => path)).toEqual(['/1', '/2', '/3', '/4']);
});

row('run() again crawls what is new; stock crawls what it did before once more', async (kit) => {
  const crawler = await kit.create({ requestHandler: async () => {} });
  expect(await crawler.run([kit.url('/1')])).toMatchObject({ requestsFinished: 1 });
  expect(await crawler.run([kit.url('/1'), kit.url('/2')])).toMatchObject({ requestsFinished: kit.isOurs ? 1 : 2 });
  expect(kit.server.hits('/1')).toBe(kit.isOurs ? 1 : 2);
});

row('run() while running is refused', async (kit) => {
  let refusal: unknown = null;
  const crawler = await kit.create({
    requestHandler: async ({ crawler: own }) => {
      refusal = await own.run([]).catch((error: unknown) => error);
    },
  });
  await crawler.run([kit.url('/1')]);
  expect(String(refusal)).toContain('already running');
});

row('crawler.addRequests adds before and while it runs', async (kit) => {
  const crawler = await kit.create({
    requestHandler: async ({ request, crawler: own }) => {
      if (request.url.endsWith('/1')) await own.addRequests([kit.url('/2')]);
    },
  });
  await crawler.addRequests([kit.url('/1')]);
  expect(await crawler.run()).toMatchObject({ requestsFinished: 2 });
});

row('statistics count what finished, failed and was retried, and statuses that failed', async (kit) => {
  const crawler = await kit.create({ maxRequestRetries: 1, requestHandler: async () => {} });
  const stats = await crawler.run([kit.url('/ok'), kit.url('/flaky/1'), kit.url('/status/500')]);
  expect(stats).toMatchObject({ requestsFinished: 2, requestsFailed: 1, requestsTotal: 3, retryHistogram: [1, 2] });
  expect(crawler.stats.state.requestsRetries).toBe(2);
  expect(crawler.stats.state.requestsWithStatusCode).toEqual({ 500: 3 });
});

row('the persistState event comes at the end, and statistics are in the key-value store', async (kit) => {
  let events = 0;
  const crawler = await kit.create({ requestHandler: async () => {} });
  crawler.config.getEventManager().on('persistState' as never, () => {
    events += 1;
  });
  await crawler.run([kit.url('/a')]);
  expect(events).toBeGreaterThan(0);
  const store = await KeyValueStore.open(null, { config: crawler.config });
  const key = `SDK_CRAWLER_STATISTICS_${crawler.stats.id}`;
  expect(await store.getValue(key)).toMatchObject({ requestsFinished: 1 });
});

row('crawlers in one process do not see each other, one after the other or at once', async (kit) => {
  const one = await kit.create({ requestHandler: async ({ pushData }) => pushData({ by: 'one' }) });
  const two = await kit.create({ requestHandler: async ({ pushData }) => pushData({ by: 'two' }) });
  const [first, second] = await Promise.all([one.run([kit.url('/a'), kit.url('/b')]), two.run([kit.url('/a')])]);
  expect([first.requestsFinished, second.requestsFinished]).toEqual([2, 1]);
  expect((await one.getData()).items).toEqual([{ by: 'one' }, { by: 'one' }]);
  expect((await two.getData()).items).toEqual([{ by: 'two' }]);
  const three = await kit.create({ requestHandler: async ({ pushData }) => pushData({ by: 'three' }) });
  await three.run([kit.url('/a')]);
  expect((await three.getData()).items).toEqual([{ by: 'three' }]);
  expect(kit.server.hits('/a')).toBe(3);
});

// --- Sessions and proxies --------------------------------------------------------------------------------------------

row('cookies of a response come back with the same session', async (kit) => {
  const server = await kit.serve(({ path }) =>
    path === '/1' ? { headers: { 'set-cookie': 'sid=7; Path=/' }, body: '{}' } : undefined,
  );
  const crawler = await kit.create({
    maxConcurrency: 1,
    sessionPoolOptions: { maxPoolSize: 1 },
    requestHandler: async ({ request, addRequests }) => {
      if (request.url.endsWith('/1')) await addRequests([`${server.url}/2`]);
    },
  });
  await crawler.run([`${server.url}/1`]);
  expect(server.seen.map(({ path, headers }) => [path, headers.cookie])).toEqual([
    ['/1', undefined],
    ['/2', 'sid=7'],
  ]);
});

row('proxyConfiguration says through which proxy a request goes, and hooks and handlers see which', async (kit) => {
  const proxy = await kit.serve((seen) => ({ body: JSON.stringify({ proxied: seen.path }) }));
  const seen: unknown[] = [];
  const crawler = await kit.create({
    proxyConfiguration: new ProxyConfiguration({ proxyUrls: [proxy.url] }),
    preNavigationHooks: [({ proxyInfo }) => void seen.push(proxyInfo?.hostname)],
    requestHandler: async ({ proxyInfo, json }) => void seen.push(proxyInfo?.url, json),
  });
  // Plain http is forwarded by its absolute URL: the "proxy" can answer by itself.
  await crawler.run(['http://example.invalid/a']);
  expect(seen).toEqual(['127.0.0.1', `${proxy.url}`, { proxied: 'http://example.invalid/a' }]);
});

for (const kind of ['HttpCrawler', 'JsonCrawler'] as const) {
  describe(`Crawlee's contract, kept by ${kind}`, () => {
    let bench: CrawlerBench;
    let servers: EchoServer[];

    beforeEach(() => {
      bench = new CrawlerBench(kind);
      servers = [];
    });
    afterEach(async () => {
      await bench.end();
      for (const server of servers) await server.close();
    });

    const serve = async (answering: Answering): Promise<EchoServer> => {
      const server = await startEcho(answering);
      servers.push(server);
      return server;
    };

    const own = rows.filter(({ only }) => only === undefined || only === kind);
    test.each(own)('$title', async ({ run }) => {
      const server = await serve(() => undefined);
      const url = (path: string): string => `${server.url}${path}`;
      await run({
        kind,
        isOurs: kind === 'JsonCrawler',
        server,
        url,
        serve,
        create: (settings) => bench.create(settings),
      });
    });
  });
}

async function waitFor(condition: () => boolean): Promise<void> {
  const endMs = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > endMs) throw new Error('It did not happen within 20 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
