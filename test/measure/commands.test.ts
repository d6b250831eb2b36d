import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BenchReport } from '../../src/measure/bench/bench-report.ts';
import type { ProbeReport } from '../../src/measure/probe/probe-report.ts';
import { type Finished, urlList, Workplace } from '../e2e/millrace.ts';
import { answerJson } from '../fixtures/servers/json-server.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';

let place: Workplace;
let server: FixtureServer;

beforeAll(async () => {
  place = await Workplace.open();
  server = await serve(answerJson({ latencyMs: 5, bodyBytes: 100 }));
});

afterAll(async () => {
  await server.close();
  await place.remove();
});

const run = (...args: string[]): Promise<Finished> => place.run(args);

describe('probe', () => {
  test('measures URLs, keeps what it measured, and puts two of them side by side', async () => {
    const url = `${server.url}/items/1`;
    const printed = await run('probe', url, '--keep-alive', '0.2', '--save', 'a.json');
    expect([printed.code, printed.stdout]).toEqual([0, expect.stringContaining('What this position allows')]);
    const saved = JSON.parse(await readFile(join(place.folder, 'a.json'), 'utf8')) as ProbeReport;
    expect(saved.urls[0]).toMatchObject({ url, status: 200, httpVersion: '1.1' });
    const compared = await run('probe', '--compare', 'a.json', 'a.json');
    expect([compared.code, compared.stdout]).toEqual([0, expect.stringContaining('The places are alike')]);
  });

  test('without a URL it checks the set-up', async () => {
    const { code, stdout } = await run('probe', '--json');
    expect(code).toBe(0);
    const checks = JSON.parse(stdout) as { name: string; status: string }[];
    expect(checks.find(({ name }) => name === 'Node')).toMatchObject({ status: 'ok' });
    const broken = await run('probe', '--database', 'postgresql://127.0.0.1:1/x');
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('No server answers at 127.0.0.1:1')]);
  });

  test('what cannot be reached is exit 3, what cannot be meant is exit 2', async () => {
    expect((await run('probe', 'http://127.0.0.1:1/')).code).toBe(3);
    const wrong = await run('probe', 'api.example.com/items', '--rate', '0');
    expect(wrong.code).toBe(2);
    expect((await run('probe', 'api.example.com/items')).stderr).toContain(
      'write it whole, https://api.example.com/items',
    );
    expect((await run('probe', '--compare', 'a.json')).stderr).toContain('two or more files');
  });
});

describe('bench', () => {
  test('gives its figures as JSON, with machine, versions and settings', async () => {
    const { code, stdout } = await run(
      'bench',
      server.url,
      '--requests',
      '100',
      '--concurrency',
      '5',
      '--json',
      '--quiet',
    );
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as BenchReport;
    expect(report).toMatchObject({ kind: 'millrace bench', machine: { node: process.version }, comparison: null });
    expect(report.results[0]).toMatchObject({
      setting: { requests: 100, warmup: 10, concurrency: 5, rate: null },
      statusCodes: { 200: 100 },
      bodyBytes: 10_000,
    });
  });

  test('refuses settings that there are not, all at once', async () => {
    const { code, stderr } = await run('bench', server.url, '--compare', 'concurency=5,http2=x,rate=0');
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean concurrency?');
    expect(stderr).toContain('http2=x');
    expect(stderr).toContain('rate=0');
  });
});

describe('ramp', () => {
  test('says what it will do, and sends nothing before somebody agrees', async () => {
    const before = server.stats().requests;
    const { code, stderr } = await run('ramp', server.url);
    expect(code).toBe(2);
    expect(stderr).toContain('At most 4,500 requests');
    expect(stderr).toContain('--yes');
    expect(server.stats().requests).toBe(before);
  });

  test('with --yes it goes on, never above its greatest rate, until it is stopped', async () => {
    const before = server.stats().arrivalsMs.length;
    const { child, finished } = place.start(['ramp', server.url, '--yes', '--max-rate', '2', '--json']);
    while (server.stats().arrivalsMs.length < before + 4) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill('SIGTERM');
    const { code, stderr } = await finished;
    expect(code).toBe(143);
    // Its output is redirected: what it will do, and how it goes, are plain lines.
    expect(stderr).toContain('At most 180 requests');
    expect(stderr).toMatch(/^\S+ climbing: [12]\/s sent, [0-2]\/s good, 0\/s refused$/m);
    const arrivals = server.stats().arrivalsMs.slice(before);
    expect(arrivals[3]! - arrivals[0]!).toBeGreaterThan(1_400);
  });
});

test('a crawl serves its metrics while it runs', async () => {
  const slow = await serve(answerJson({ latencyMs: 300 }));
  await place.write('slow.txt', urlList(slow.url, 40));
  const args = [
    'slow.txt',
    '--run',
    'metrics',
    '--ignore-robots',
    '--metrics-port',
    '0',
    '--max-concurrency-per-host',
    '2',
  ];
  const { child, finished } = place.start(args);
  try {
    let told = '';
    while (!/localhost:(\d+)\/metrics/.test(told)) told += String((await once(child.stderr!, 'data'))[0]);
    const base = `http://127.0.0.1:${/localhost:(\d+)\/metrics/.exec(told)?.[1]}`;
    while (slow.stats().requests < 4) await new Promise((resolve) => setTimeout(resolve, 50));
    const text = await (await fetch(`${base}/metrics`)).text();
    expect(text).toContain(`millrace_requests_total{host="${new URL(slow.url).host}",status="200"}`);
    expect(text).toContain('millrace_queue{state="pending"}');
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect((await fetch(`${base}/readyz`)).status).toBe(200);
    const taken = await run('crawl', 'slow.txt', '--run', 'other', '--metrics-port', new URL(base).port);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('--metrics-port')]);
  } finally {
    child.kill('SIGKILL');
    await finished;
    await slow.close();
  }
});
