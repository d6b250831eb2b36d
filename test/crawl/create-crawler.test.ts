import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/app/crawler-settings.ts';
import { EnvironmentError, JsonCrawler, type JsonCrawlerSettings, UsageError } from '../../src/index.ts';
import { CrawlerBench } from './support/crawlers.ts';
import { type EchoServer, startEcho } from './support/echo-server.ts';

describe('settings', () => {
  test('of Crawlee’s are translated to those of hosts, whose own go before', () => {
    const { input, crawlerOptions } = readSettings({
      maxConcurrency: 7,
      maxRequestsPerMinute: 600,
      navigationTimeoutSecs: 5,
      sameDomainDelaySecs: 0.5,
      respectRobotsTxtFile: { userAgent: 'mybot' },
      sessionPoolOptions: {
        maxPoolSize: 3,
        blockedStatusCodes: [401, 429],
        sessionOptions: { maxUsageCount: 9, maxAgeSecs: 60 },
      },
      maxRequestRetries: 2,
      hosts: { default: { timeouts: { connectMs: 1 }, minDelayMs: 9 }, 'a.test': { requestsPerSecond: 5 } },
    });
    expect(input).toMatchObject({ maxConcurrency: 7, maxRequestsPerMinute: 600, productToken: 'mybot' });
    expect(input.hosts).toEqual({
      'a.test': { requestsPerSecond: 5 },
      default: {
        minDelayMs: 9,
        timeouts: { connectMs: 1, totalMs: 5_000 },
        sessionPool: { maxPoolSize: 3, blockedStatusCodes: [401], maxUsageCount: 9, maxAgeSecs: 60 },
      },
    });
    expect(crawlerOptions).toEqual({ maxRequestRetries: 2 });
  });

  test('go by autoscaledPoolOptions, too, and by robots.txt unless told otherwise', () => {
    const { input } = readSettings({ autoscaledPoolOptions: { maxConcurrency: 3, maxTasksPerMinute: 60 } });
    expect(input).toMatchObject({ maxConcurrency: 3, maxRequestsPerMinute: 60, hosts: { default: {} } });
    expect(readSettings({ respectRobotsTxtFile: false }).input.hosts.default).toEqual({ robots: 'ignore' });
    expect(readSettings({ respectRobotsTxtFile: true }).input.hosts.default).toEqual({});
  });

  test('that cannot be used are all named, with what to use instead', () => {
    const settings = {
      requestQueue: {},
      httpClient: {},
      ignoreSslErrors: true,
      useSessionPool: false,
      maxConcurrency: 0,
    } as unknown as JsonCrawlerSettings;
    const problems = problemsOf(settings);
    const names = problems.map((problem) => problem.split(':')[0]);
    expect(names).toEqual(['requestQueue', 'httpClient', 'useSessionPool', 'ignoreSslErrors', 'maxConcurrency']);
    expect(problems[0]).toContain('run() or addRequests()');
  });

  test('that only repeat what is so anyway are taken', () => {
    expect(problemsOf({ useSessionPool: true, ignoreSslErrors: false } as JsonCrawlerSettings)).toEqual([]);
  });
});

function problemsOf(settings: JsonCrawlerSettings): readonly string[] {
  try {
    readSettings(settings);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).problems;
  }
}

describe('a crawler with a run', () => {
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
  const urls = (...paths: string[]): string[] => paths.map((path) => server.url + path);

  test('is a JsonCrawler, and refuses an option of Crawlee’s that does not exist', async () => {
    const crawler = await bench.createOwn({});
    expect(crawler).toBeInstanceOf(JsonCrawler);
    expect(existsSync(`${crawler.folder}/run.sqlite`)).toBe(true);
    await expect(bench.createOwn({ noSuchOption: 1 } as never)).rejects.toThrow('noSuchOption');
    // Nothing is left open: the same run can be used at once.
    await expect(bench.createOwn({ run: 'run-2' })).resolves.toBeInstanceOf(JsonCrawler);
  });

  test('continues an unfinished run, and begins a finished one anew, kept as previous', async () => {
    const settings: JsonCrawlerSettings = {
      run: 'mine',
      maxConcurrency: 1,
      async requestHandler({ request, crawler: own }) {
        if (request.url.endsWith('/2') && server.seen.length === 2) own.stop();
      },
    };
    const first = await bench.createOwn(settings);
    await first.run(urls('/1', '/2', '/3'));
    await first.close();
    const second = await bench.createOwn(settings);
    await second.run(urls('/1', '/2', '/3'));
    expect(server.seen.map(({ path }) => path)).toEqual(['/1', '/2', '/3']);
    await second.close();
    const third = await bench.createOwn(settings);
    expect(existsSync(`${third.folder}.previous/run.sqlite`)).toBe(true);
    await third.run(urls('/1'));
    expect(server.hits('/1')).toBe(2);
  });

  test('begins anew when told to, though the run is unfinished', async () => {
    const first = await bench.createOwn({ run: 'mine' });
    await first.addRequests(urls('/1'));
    await first.close();
    const second = await bench.createOwn({ run: 'mine', fresh: true });
    await second.run(urls('/2'));
    expect(server.seen.map(({ path }) => path)).toEqual(['/2']);
  });

  test('refuses a run that is in use', async () => {
    await bench.createOwn({ run: 'mine' });
    await expect(bench.createOwn({ run: 'mine' })).rejects.toThrow(EnvironmentError);
  });

  test('can be closed in mid-run: what is in flight stays pending, and nothing is lost', async () => {
    const slow = await startEcho(() => ({ afterMs: 30_000 }));
    const crawler = await bench.createOwn({ run: 'mine', requestHandler: async () => {} });
    const running = crawler.run([`${slow.url}/1`, `${slow.url}/2`]);
    while (slow.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await crawler.close();
    await crawler.close();
    await running;
    await slow.close();
    expect(await bench.countsOf(crawler)).toEqual({ total: 2, succeeded: 0, failed: 0, skipped: 0, pending: 2 });
  });

  test('is closed by await using', async () => {
    {
      await using crawler = await bench.createOwn({ run: 'mine' });
      await crawler.run(urls('/1'));
    }
    await expect(bench.createOwn({ run: 'mine' })).resolves.toBeInstanceOf(JsonCrawler);
  });

  test('records each URL where there is no handler, unless told not to', async () => {
    const each = await bench.createOwn({});
    await each.run(urls('/1'));
    expect((await each.getData()).items).toMatchObject([{ url: `${server.url}/1`, status: 200, error: null }]);
    const none = await bench.createOwn({ records: 'none' });
    expect(await none.run(urls('/2'))).toMatchObject({ requestsFailed: 1 });
  });

  test('has its secrets from the environment, and keeps them out of what it stores', async () => {
    process.env.MILLRACE_TEST_TOKEN = 's3cret-token';
    const crawler = await bench.createOwn({
      headers: { authorization: 'Bearer ${env:MILLRACE_TEST_TOKEN}' },
      maxRequestRetries: 0,
      requestHandler: async () => {
        throw new Error('failed with Bearer s3cret-token');
      },
      errorHandler: async ({ request }) => {
        request.noRetry = true;
      },
    });
    await crawler.run(urls('/1'));
    expect(server.seen[0]?.headers.authorization).toBe('Bearer s3cret-token');
    expect((await bench.textsOf(crawler, 'failures')).join()).not.toContain('s3cret');
    delete process.env.MILLRACE_TEST_TOKEN;
    const wrong = bench.createOwn({ headers: { authorization: '${env:NO_SUCH_TOKEN}' } });
    await expect(wrong).rejects.toThrow('NO_SUCH_TOKEN');
  });
});
