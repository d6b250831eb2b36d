import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Summary } from '../../../src/core/summary.ts';
import { urlList, Workplace } from '../../e2e/millrace.ts';
import { type ServerSpec, serveInProcess } from '../../fixtures/servers/in-process.ts';
import { advised, finding } from './scenario.ts';

/** Whole crawls of servers built to be one bottleneck: it is named, and no other is. */
describe('a crawl is diagnosed', () => {
  let place: Workplace;
  let close: () => Promise<void> = async () => {};

  beforeAll(async () => {
    place = await Workplace.open();
  });

  afterEach(() => close());

  afterAll(() => place.remove());

  async function crawled(spec: ServerSpec, count: number, args: readonly string[]): Promise<Summary> {
    const server = await serveInProcess(spec);
    close = () => server.close();
    await place.write('urls.txt', urlList(server.url, count));
    const { code, summary } = await place.crawl(['urls.txt', '--fresh', '--ignore-robots', '--quiet', ...args]);
    expect(code).toBe(0);
    const shares = summary.diagnosis!.map(({ share }) => share);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6);
    return summary;
  }

  test('as held back by its slots, where a patient server has few of them', async () => {
    const { diagnosis } = await crawled({ json: { latencyMs: 400 } }, 80, [
      '--max-concurrency-per-host',
      '4',
      '--no-discovery',
    ]);
    expect(finding(diagnosis, 'concurrency')?.share).toBeGreaterThan(0.6);
    expect(finding(diagnosis, 'concurrency')?.advice).toMatch(/maxConcurrency from 4 to 8/);
    expect(advised(diagnosis)).toEqual(['concurrency']);
  });

  test('as held back by our own rate, where that is set', async () => {
    const { diagnosis } = await crawled({ json: { latencyMs: 10 } }, 150, ['--requests-per-second', '40']);
    expect(finding(diagnosis, 'rate limit')?.evidence).toContain('requestsPerSecond (40)');
    expect(advised(diagnosis)).toEqual(['rate limit']);
  });

  test('as held back by a stated limit', async () => {
    const bucket = { requestsPerSecond: 50, burst: 20, latencyMs: 10, stated: true };
    const { diagnosis } = await crawled({ tokenBucket: bucket }, 250, []);
    expect(finding(diagnosis, 'rate limit')?.evidence).toContain('states a limit at 50/s');
    expect(advised(diagnosis)).toEqual(['rate limit']);
  });

  test('as held back by a limit found by rejections', async () => {
    const { diagnosis } = await crawled({ tokenBucket: { requestsPerSecond: 40, burst: 10, latencyMs: 10 } }, 250, []);
    expect(diagnosis?.[0]?.bottleneck).toBe('rate limit');
    expect(advised(diagnosis).every((name) => name === 'rate limit')).toBe(true);
  });

  test('as held back by failures, where a server has many', async () => {
    const flaky = { share: 1, flaws: ['500'], failures: 2, latencyMs: 20 } as const;
    const { diagnosis } = await crawled({ flaky }, 60, ['--no-discovery', '--max-concurrency-per-host', '10']);
    expect(finding(diagnosis, 'retries')?.evidence).toContain('HTTP_500');
    expect(advised(diagnosis)).not.toContain('concurrency');
  });
});
