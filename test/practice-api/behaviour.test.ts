import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { EnvironmentError } from '../../src/core/errors.ts';
import { FaultPlan } from '../../src/practice-api/faults.ts';
import { BUNDLED_PRACTICE_API, limiterWindow } from '../../src/practice-api/options.ts';
import { startPracticeApi } from '../../src/practice-api/start-practice-api.ts';
import type { PracticeStats } from '../../src/practice-api/types.ts';
import { routes } from '../../src/routes/index.ts';
import { createRouteRegistry } from '../../src/routes/registry.ts';
import { runRoute } from '../../src/routes/run-route.ts';
import { getJson, start } from './started.ts';

describe('failures', () => {
  const identities = Array.from({ length: 10_000 }, (_, index) => `GET /products/${index} `);

  test('hit the share asked for, the same for the same seed, half of them with Retry-After', () => {
    const faults = (seed: number) => {
      const plan = new FaultPlan({ errorRate: 0.05, seed });
      return identities.map((identity) => plan.next(identity));
    };
    const failed = faults(1).filter((fault) => fault !== null);
    expect(failed.length).toBeGreaterThan(400);
    expect(failed.length).toBeLessThan(600);
    const withHeader = failed.filter(({ retryAfterSecs }) => retryAfterSecs === 1).length;
    expect(withHeader / failed.length).toBeGreaterThan(0.4);
    expect(withHeader / failed.length).toBeLessThan(0.6);
    expect(faults(1)).toEqual(faults(1));
    expect(faults(2)).not.toEqual(faults(1));
  });

  test('happen once: the same request again succeeds, whatever the rate', async () => {
    const { url, stats } = await start({ errorRate: 1 });
    const post = (body: string) =>
      fetch(`${url}/graphql`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    const statuses = [];
    for (const path of ['/products/1', '/products/1', '/products/1?x', '/products/2', '/products/2'])
      statuses.push((await fetch(url + path)).status);
    for (const first of [1, 1, 2, 2])
      statuses.push((await post(JSON.stringify({ query: '{products}', variables: { first } }))).status);
    expect(statuses).toEqual([503, 200, 503, 503, 200, 503, 200, 503, 200]);
    expect(stats().statuses).toEqual({ 200: 4, 503: 5 });
  });

  test('spare robots.txt and the controls', async () => {
    const { url } = await start({ errorRate: 1 });
    const robots = await fetch(`${url}/robots.txt`);
    expect([robots.status, await robots.text()]).toEqual([200, expect.stringContaining('Disallow: /admin/')]);
    expect((await fetch(`${url}/__stats`)).status).toBe(200);
  });
});

describe('the rate limit', () => {
  const statusesOf = async (url: string, count: number, headers: Record<string, string> = {}) => {
    const answers = await Promise.all(Array.from({ length: count }, () => fetch(url, { headers })));
    return answers;
  };

  test('refuses what is too much at once, with 429, Retry-After and no other word about it', async () => {
    const { url, stats } = await start({ rateLimit: 5, rateLimitWindowMs: 60_000 / 5 });
    const answers = await statusesOf(`${url}/products/1`, 70);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    for (const { headers } of answers)
      expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(await refused[0]?.json()).toMatchObject({ error: { code: 'rate_limited' } });
    expect(stats()).toMatchObject({ statuses: { 200: 60, 429: 10 }, details: { 1: 60 } });
  });

  test.each([
    ['x-ratelimit', 'x-ratelimit-'],
    ['draft', 'ratelimit-'],
  ] as const)('stated as %s, it is on every answer', async (rateLimitHeaders, prefix) => {
    const { url } = await start({ rateLimit: 2, rateLimitWindowMs: 30_000, rateLimitHeaders });
    const answer = await fetch(`${url}/products`);
    expect(answer.headers.get(`${prefix}limit`)).toBe('60');
    expect(answer.headers.get(`${prefix}remaining`)).toBe('59');
    expect(Number(answer.headers.get(`${prefix}reset`))).toBeGreaterThan(0);
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  test('counts by credential where there is one', async () => {
    const { url } = await start({ rateLimit: 1, rateLimitWindowMs: 3_000 });
    const count = async (headers: Record<string, string>) =>
      (await statusesOf(`${url}/products`, 5, headers)).filter(({ status }) => status === 200).length;
    expect(await count({})).toBe(3);
    expect(await count({ 'x-api-key': 'one' })).toBe(3);
    expect(await count({ authorization: 'Bearer two' })).toBe(3);
  });

  test('never counts the controls', async () => {
    const { url } = await start({ rateLimit: 1, rateLimitWindowMs: 60_000 / 60 });
    const answers = await statusesOf(`${url}/__stats`, 20);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });

  test('is kept exactly, in a window stretched to hold whole requests', () => {
    expect(limiterWindow(100, 1000)).toEqual({ max: 100, windowMs: 1000 });
    expect(limiterWindow(0.2, 1000)).toEqual({ max: 1, windowMs: 5000 });
    expect(limiterWindow(1.5, 1000)).toEqual({ max: 2, windowMs: 1333 });
    expect(limiterWindow(2.5, 10_000)).toEqual({ max: 25, windowMs: 10_000 });
  });
});

describe('the latency', () => {
  test('comes before every answer but those to the controls', async () => {
    const waits: number[] = [];
    const clock: Clock = { ...systemClock, sleep: async (delayMs) => void waits.push(delayMs) };
    const { url } = await start({ latencyMs: 250, clock });
    for (const path of ['/products', '/products/1', '/nothing', '/robots.txt', '/__stats']) await fetch(url + path);
    expect(waits).toEqual([250, 250, 250, 250]);
  });
});

describe('/__stats', () => {
  test('counts answers by status, by kind of path and by product, and leaves itself out', async () => {
    const { url } = await start();
    for (const path of ['/products/3', '/products/3', '/products/4', '/products/99', '/products', '/admin/report'])
      await (await fetch(url + path)).text();
    expect(await getJson<PracticeStats>(`${url}/__stats`)).toEqual({
      served: 6,
      statuses: { 200: 5, 404: 1 },
      paths: {
        '/products/:id': { 200: 3, 404: 1 },
        '/products': { 200: 1 },
        '/admin/report': { 200: 1 },
      },
      details: { 3: 2, 4: 1 },
      items: 40,
      inFlight: 0,
      maxInFlight: 1,
    });
  });

  test('knows how many requests it was answering at once', async () => {
    const { url, stats } = await start({ latencyMs: 100 });
    await Promise.all(Array.from({ length: 8 }, () => fetch(`${url}/products`).then((answer) => answer.text())));
    expect(stats().maxInFlight).toBe(8);
  });
});

describe('starting and stopping', () => {
  test('a port in use is an EnvironmentError that says what to do', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const failure = await startPracticeApi({ ...BUNDLED_PRACTICE_API, port }).catch((error: unknown) => error);
    server.close();
    expect(failure).toBeInstanceOf(EnvironmentError);
    expect(String(failure)).toContain(
      `127.0.0.1:${port} is in use: stop what listens there, or give another port (--port 0 takes any free one)`,
    );
  });

  test('an address that is not of this machine is named as such', async () => {
    const starting = startPracticeApi({ ...BUNDLED_PRACTICE_API, host: '192.0.2.1' });
    await expect(starting).rejects.toThrow('192.0.2.1:0 is no address of this machine');
  });

  test('close ends kept-alive connections, and may be called twice', async () => {
    const api = await start();
    await (await fetch(`${api.url}/products`)).text();
    await api.close();
    await api.close();
    await expect(fetch(`${api.url}/products`)).rejects.toThrow();
  });
});

describe('as bundled with npm start', () => {
  test('the routes find everything, and meet the failures that its figures promise', async () => {
    const api = await start({ ...BUNDLED_PRACTICE_API, latencyMs: 0, rateLimit: null });
    const { requests, records, retryAfters } = await crawlByHand(api.url);
    expect(requests).toBe(20 + 300 + 296);
    expect(records).toEqual({ products: 300, reviews: 1794 });
    expect(retryAfters.toSorted()).toEqual(['1', '1', null, null, null, null]);
    expect(Object.values(api.stats().details)).toEqual(Array(300).fill(1));
  });
});

/** The smallest crawler: one request after the other, at once again after a failure. */
async function crawlByHand(practiceApiUrl: string) {
  const registry = createRouteRegistry(routes);
  const queue = await Array.fromAsync(registry.seeds({ practiceApiUrl }));
  const records: Record<string, number> = {};
  const retryAfters: (string | null)[] = [];
  let requests = 0;
  for (let request = queue.shift(); request !== undefined; request = queue.shift()) {
    const response = await fetch(request.url);
    const body = await response.json();
    if (response.status === 503) {
      retryAfters.push(response.headers.get('retry-after'));
      queue.unshift(request);
      continue;
    }
    requests += 1;
    const page = { url: request.url, status: response.status, headers: {}, body, userData: request.userData ?? {} };
    const found = runRoute(registry.get(request.label), page);
    for (const { dataset } of found.records) records[dataset] = (records[dataset] ?? 0) + 1;
    queue.push(...found.requests.map((next) => registry.prepare(next)));
  }
  return { requests, records, retryAfters };
}
