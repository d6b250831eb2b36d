import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { ActorProcess } from './actor-process.ts';
import { FakeApify } from './fake-apify.ts';

let platform: FakeApify;
let api: FixtureServer;
let latencyMs: number;
/** So many requests are answered, and no more. */
let hangsAfter: number;
let statusOf: (path: string) => number;
let processes: ActorProcess[];

beforeEach(async () => {
  platform = await FakeApify.open();
  latencyMs = 0;
  hangsAfter = Number.POSITIVE_INFINITY;
  statusOf = () => 200;
  processes = [];
  let arrived = 0;
  api = await serve(({ path }) => {
    arrived += 1;
    if (arrived > hangsAfter) return { fault: 'silence' };
    return { status: statusOf(path), body: JSON.stringify({ path }), afterMs: latencyMs };
  });
});

afterEach(async () => {
  for (const container of processes) await container.destroy();
  await api.close();
  await platform.close();
});

function start(env: Record<string, string> = {}): ActorProcess {
  const container = new ActorProcess(platform, env);
  processes.push(container);
  return container;
}

const urls = (count: number): string[] => Array.from({ length: count }, (_, index) => `${api.url}/items/${index + 1}`);

/** An input that may go to a server of this machine. */
const inputFor = (count: number, more: object = {}): object => ({
  startUrls: urls(count).map((url) => ({ url, method: 'GET' })),
  blockPrivateAddresses: false,
  hosts: { default: { robots: 'ignore', discovery: 'off' } },
  ...more,
});

type Row = { url: string; status: number | null; data: unknown; error: string | null };
const rowsOf = (id = 'dataset1'): Row[] => platform.datasets.get(id) as Row[];
const urlsOf = (rows: readonly Row[]): string[] => rows.map(({ url }) => url).sort();
const distinct = (rows: readonly Row[]): string[] => [...new Set(urlsOf(rows))].sort();

async function runToEnd(env: Record<string, string> = {}): Promise<number | null> {
  return start(env).ended;
}

const output = (): Summary & { datasets: { name: string; datasetId: string; count: number }[] } =>
  platform.record('OUTPUT') as never;

test('crawls its input into the default dataset, whatever calls the platform answers with 429 and 502', async () => {
  platform.input = inputFor(300);
  platform.faultOf = (count) => (count % 6 === 2 ? 429 : count % 6 === 4 ? 502 : null);
  const container = start();
  expect(await container.ended, container.output).toBe(0);
  expect(urlsOf(rowsOf())).toEqual(urls(300).sort());
  expect(rowsOf()[0]).toMatchObject({ status: 200, error: null, data: { path: expect.stringMatching(/^\/items\//) } });
  const faults = platform.calls.filter(({ status }) => status >= 429).map(({ status }) => status);
  expect(faults).toContain(429);
  expect(faults).toContain(502);
  expect(platform.statuses.at(-1)).toEqual({
    statusMessage: 'Finished: 300 of 300 requests succeeded, 300 records.',
    isStatusMessageTerminal: true,
    statusMessageLevel: 'INFO',
  });
  expect(output()).toMatchObject({
    state: 'finished',
    datasets: [{ name: 'default', datasetId: 'dataset1', count: 300 }],
  });
  expect(platform.records.get('REPORT')!.bytes.toString()).toContain('<html');
});

test('hands records over in few calls', async () => {
  platform.input = inputFor(1_000);
  expect(await runToEnd()).toBe(0);
  expect(rowsOf()).toHaveLength(1_000);
  expect(platform.callsTo('/items').length).toBeLessThan(20);
  expect(platform.callsTo('/request-queues')).toEqual([]);
});

test('ends well with failed requests, says which, and fails only if asked to', async () => {
  statusOf = (path) => (path === '/items/2' ? 404 : 200);
  platform.input = inputFor(3);
  expect(await runToEnd()).toBe(0);
  const host = new URL(api.url).host;
  expect(platform.statuses.at(-1)).toMatchObject({
    statusMessage: `Finished: 2 of 3 requests succeeded, 1 failed, most often HTTP_404 at ${host}, 3 records.`,
    statusMessageLevel: 'INFO',
  });
  expect(rowsOf().find(({ url }) => url.endsWith('/2'))).toMatchObject({ status: 404, data: null, error: 'HTTP_404' });
  const failures = output().datasets.find(({ name }) => name === 'failures')!;
  expect(rowsOf(failures.datasetId)).toMatchObject([{ url: `${api.url}/items/2`, code: 'HTTP_404', attempts: 1 }]);

  const strict = await FakeApify.open();
  strict.input = inputFor(3, { failOnErrors: true });
  const container = new ActorProcess(strict);
  processes.push(container);
  expect(await container.ended, container.output).toBe(3);
  expect(strict.statuses.at(-1)).toMatchObject({ isStatusMessageTerminal: true, statusMessageLevel: 'ERROR' });
  await strict.close();
});

test('a limit of the input is no failure', async () => {
  platform.input = inputFor(50, { maxRequestsPerCrawl: 10, failOnErrors: true, maxConcurrency: 2 });
  const container = start();
  expect(await container.ended, container.output).toBe(0);
  const { requests } = output();
  expect(requests.succeeded).toBeGreaterThanOrEqual(10);
  expect(requests.pending).toBe(50 - requests.succeeded);
  expect(platform.statuses.at(-1)!.statusMessage).toMatch(/^Ended: 1\d of 50 requests succeeded, \d\d are left/);
});

test('goes on in the next container when the platform moves it, with every record once', async () => {
  latencyMs = 100;
  platform.input = inputFor(400, { maxConcurrency: 10 });
  platform.faultOf = (count) => (count % 7 === 3 ? 502 : null);
  const first = start();
  await first.until(() => api.stats().requests >= 60);
  platform.emit('migrating');
  await first.until(() => platform.reboots === 1);
  const movedAfter = api.stats().requests;
  expect(movedAfter).toBeLessThan(400);
  // It waits for its end: to end by itself would end the run.
  expect(first.child.exitCode).toBe(null);
  await first.destroy();
  latencyMs = 0;
  const second = start();
  expect(await second.ended, second.output).toBe(0);
  expect(second.output).toContain('Going on with what an earlier container of this run has saved.');
  expect(urlsOf(rowsOf())).toEqual(urls(400).sort());
  // What was in flight for too long is fetched again.
  expect(api.stats().requests).toBeLessThanOrEqual(410);
  expect(output().requests).toMatchObject({ total: 400, succeeded: 400, failed: 0 });
  expect([...platform.records.keys()].filter((key) => key.startsWith('MILLRACE-RUN')).length).toBe(2);
});

test('loses no record when a container is gone without a word', async () => {
  // The first container gets no further than 100 requests.
  hangsAfter = 100;
  platform.input = inputFor(300, { maxConcurrency: 10 });
  const first = start();
  await first.until(() => rowsOf().length === 100);
  platform.emit('persistState', { isMigrating: false });
  await first.until(() => platform.records.has('MILLRACE-RUN'));
  first.child.kill('SIGKILL');
  await first.ended;
  hangsAfter = Number.POSITIVE_INFINITY;
  const second = start();
  expect(await second.ended, second.output).toBe(0);
  expect(urlsOf(rowsOf())).toEqual(urls(300).sort());
  // The ten that hung are asked for again, and no other.
  expect(api.stats().requests).toBe(310);
});

test('aborted gracefully, hands over what it has and saves the rest', async () => {
  latencyMs = 100;
  platform.input = inputFor(400, { maxConcurrency: 10 });
  const container = start();
  await container.until(() => api.stats().requests >= 40);
  platform.emit('aborting');
  expect(await container.ended, container.output).toBe(0);
  const { state, requests } = output();
  expect(state).toBe('interrupted');
  expect(rowsOf()).toHaveLength(requests.succeeded);
  expect(platform.statuses.at(-1)!.statusMessage).toMatch(/^Ended: \d+ of 400 requests succeeded, \d+ are left/);
  latencyMs = 0;
  const resurrected = start();
  expect(await resurrected.ended, resurrected.output).toBe(0);
  expect(urlsOf(rowsOf())).toEqual(urls(400).sort());
});

test('resurrected after its end, fetches only what had failed', async () => {
  statusOf = (path) => (path === '/items/7' ? 404 : 200);
  platform.input = inputFor(20);
  expect(await runToEnd()).toBe(0);
  expect(api.stats().requests).toBe(20);
  statusOf = () => 200;
  const again = start();
  expect(await again.ended, again.output).toBe(0);
  expect(api.stats().requests).toBe(21);
  expect(
    rowsOf()
      .filter(({ url }) => url.endsWith('/7'))
      .map(({ status }) => status),
  ).toEqual([404, 200]);
  const onceMore = start();
  expect(await onceMore.ended, onceMore.output).toBe(0);
  expect(api.stats().requests).toBe(21);
  expect(rowsOf()).toHaveLength(21);
  expect(platform.statuses.at(-1)!.statusMessage).toBe('Finished: 20 of 20 requests succeeded, 20 records.');
  expect(output().datasets[0]).toEqual({ name: 'default', datasetId: 'dataset1', count: 21 });
});

test('says what is wrong with its input, and sends nothing', async () => {
  platform.input = {
    startUrls: [{ url: `${api.url}/items/1` }],
    maxConcurency: 5,
    hosts: { default: { headroom: 7 } },
  };
  const container = start();
  expect(await container.ended).toBe(2);
  const { statusMessage, ...rest } = platform.statuses.at(-1)!;
  expect(rest).toEqual({ isStatusMessageTerminal: true, statusMessageLevel: 'ERROR' });
  expect(statusMessage).toContain('maxConcurrency');
  expect(statusMessage).toContain('headroom');
  expect(api.stats().requests).toBe(0);
});

test('without an input ends with 2', async () => {
  const container = start();
  expect(await container.ended).toBe(2);
  expect(platform.statuses.at(-1)!.statusMessage).toBe('There is no input: give startUrls, api, or routes: true.');
});

test('refuses private addresses unless the input allows them', async () => {
  const { blockPrivateAddresses: _, ...input } = inputFor(1) as Record<string, unknown>;
  platform.input = { ...input, failOnErrors: true };
  const container = start();
  expect(await container.ended, container.output).toBe(3);
  expect(rowsOf()).toMatchObject([{ status: null, error: 'BLOCKED_ADDRESS' }]);
  expect(api.stats().requests).toBe(0);
});

test('fills references from secrets, which reach neither a record nor a message', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers['x-api-key'] as string | undefined);
    response.setHeader('content-type', 'application/json');
    response.end('{"items":[{"id":1}]}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api = {
    baseUrl,
    headers: { 'X-Api-Key': '${env:API_KEY}' },
    resources: [
      { name: 'things', endpoint: { path: '/things', paginator: { type: 'singlePage' }, dataSelector: '$.items[*]' } },
    ],
  };
  const { startUrls: _, ...input } = inputFor(0) as Record<string, unknown>;
  platform.input = { ...input, api, secrets: { API_KEY: 'hush-hush-hush' } };
  const container = start();
  expect(await container.ended, container.output).toBe(0);
  server.close();
  expect(seen).toContain('hush-hush-hush');
  expect(rowsOf()).toEqual([{ id: 1 }]);
  expect(output().datasets).toEqual([{ name: 'things', datasetId: 'dataset1', count: 1 }]);
  const kept = [...platform.records]
    .filter(([key]) => key !== 'INPUT')
    .map(([, { bytes }]) => bytes.toString('latin1'));
  expect([container.output, ...kept, JSON.stringify(platform.statuses)].join()).not.toContain('hush-hush-hush');
});

test("reads lists of URLs that Apify's editor links to, and keeps them for the next container", async () => {
  let served = 0;
  const lists = createServer((_, response) => {
    served += 1;
    response.end(`${urls(30).join('\n')}\n`);
  }).listen(0, '127.0.0.1');
  await once(lists, 'listening');
  const requestsFromUrl = `http://127.0.0.1:${(lists.address() as AddressInfo).port}/list.txt`;
  latencyMs = 100;
  platform.input = {
    ...inputFor(0),
    startUrls: [{ requestsFromUrl }, { url: `${api.url}/items/31` }],
    maxConcurrency: 2,
  };
  const first = start();
  await first.until(() => api.stats().requests >= 5);
  platform.emit('migrating');
  await first.until(() => platform.reboots === 1);
  await first.destroy();
  const second = start();
  expect(await second.ended, second.output).toBe(0);
  lists.close();
  expect(urlsOf(rowsOf())).toEqual(urls(31).sort());
  expect(served).toBe(1);
});

test("serves the live page on the Actor's web server port while it crawls", async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  latencyMs = 200;
  platform.input = inputFor(100, { maxConcurrency: 2 });
  const url = 'https://run1.runs.apify.net';
  const container = start({ ACTOR_WEB_SERVER_PORT: String(port), ACTOR_WEB_SERVER_URL: url });
  await container.until(() => api.stats().requests >= 2);
  const page = await new Promise<{ status: number | undefined; html: string }>((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: '/', headers: { host: new URL(url).host } }, (response) => {
      text(response).then((html) => resolve({ status: response.statusCode, html }), reject);
    });
    request.on('error', reject);
  });
  expect(page.status).toBe(200);
  expect(page.html).toContain(new URL(api.url).host);
});

test("keeps its queue in the platform's with little more than one call a request", async () => {
  platform.input = inputFor(300, { queue: 'apify' });
  platform.faultOf = (count) => (count % 25 === 7 ? 502 : null);
  const container = start();
  expect(await container.ended, container.output).toBe(0);
  expect(urlsOf(rowsOf())).toEqual(urls(300).sort());
  const queued = [...platform.queued.values()];
  expect(queued.map(({ url }) => url).sort()).toEqual(urls(300).sort());
  expect(queued.filter(({ handledAt }) => handledAt === undefined)).toEqual([]);
  const calls = platform.callsTo('/request-queues').filter(({ status }) => status < 400);
  expect(calls.filter(({ method }) => method === 'PUT')).toHaveLength(300);
  // 12 to add them, 1 to look what there is.
  expect(calls.length).toBeLessThan(300 + 40);
});

test("goes on from the platform's queue after a container is gone without a word", async () => {
  latencyMs = 100;
  statusOf = (path) => (path === '/items/1' ? 404 : 200);
  platform.input = inputFor(300, { queue: 'apify', maxConcurrency: 10 });
  const first = start();
  const handled = (): number => [...platform.queued.values()].filter(({ handledAt }) => handledAt !== undefined).length;
  await first.until(() => handled() >= 40);
  first.child.kill('SIGKILL');
  await first.ended;
  const [marked, fetched] = [handled(), api.stats().requests];
  expect(marked).toBeLessThan(300);
  latencyMs = 0;
  const second = start();
  expect(await second.ended, second.output).toBe(0);
  expect(distinct(rowsOf())).toEqual(urls(300).sort());
  // What was marked is not fetched again, whatever became of it.
  expect(api.stats().requests).toBe(fetched + 300 - marked);
  expect(output().requests).toMatchObject({ total: 300, succeeded: 299, failed: 1, pending: 0 });
  const { statusMessage } = platform.statuses.at(-1)!;
  expect(statusMessage).toContain(`${rowsOf().length} records.`);
});

test("goes on from the platform's queue when it is moved, with every record once", async () => {
  latencyMs = 100;
  platform.input = inputFor(300, { queue: 'apify', maxConcurrency: 10 });
  const first = start();
  await first.until(() => api.stats().requests >= 40);
  platform.emit('migrating');
  await first.until(() => platform.reboots === 1);
  const fetched = api.stats().requests;
  expect(fetched).toBeLessThan(300);
  await first.destroy();
  latencyMs = 0;
  const second = start();
  expect(await second.ended, second.output).toBe(0);
  expect(urlsOf(rowsOf())).toEqual(urls(300).sort());
  // What was in flight for too long is fetched again.
  expect(api.stats().requests).toBeLessThanOrEqual(310);
  expect(platform.records.has('MILLRACE-RUN')).toBe(false);
});

test("takes up requests that others have put into the platform's queue", async () => {
  const uniqueKey = `${api.url}/items/9`;
  platform.add({ uniqueKey, url: uniqueKey, method: 'GET' });
  platform.input = inputFor(3, { queue: 'apify' });
  const container = start();
  expect(await container.ended, container.output).toBe(0);
  expect(urlsOf(rowsOf())).toEqual([...urls(3), uniqueKey].sort());
});
