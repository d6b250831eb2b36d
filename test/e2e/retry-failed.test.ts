import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

let server: FixtureServer;
let place: Workplace;
let isMended = false;

beforeEach(async () => {
  isMended = false;
  place = await Workplace.open();
  server = await serve(({ path }) => {
    const id = Number(path.split('/').at(-1));
    if (!isMended && id % 10 === 0) return { status: 500, body: '{"error":"broken"}' };
    if (!isMended && id % 10 === 1) return { status: 404, body: '{"error":"gone"}' };
    return { status: 200, body: JSON.stringify({ id }) };
  });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

type Row = { url: string; status: number | null; data: { id: number } | null; error: string | null };

test('failed requests are put back and crawled, and their rows replaced', async () => {
  await place.write('urls.txt', urlList(server.url, 100));
  const first = await place.crawl(['urls.txt', '--max-retries', '0', '--no-discovery']);
  expect(first.code).toBe(3);
  expect(first.summary.requests).toMatchObject({ total: 100, succeeded: 80, failed: 20, pending: 0 });
  expect(first.summary.failures.map(({ code, count }) => [code, count])).toEqual([
    ['HTTP_404', 10],
    ['HTTP_500', 10],
  ]);
  expect(await place.records<Row>('default')).toHaveLength(100);
  expect(await place.records('default', 'failures')).toHaveLength(20);

  isMended = true;
  const some = await place.run(['retry-failed', '--code', 'HTTP_500', '--json']);
  expect(some.code, some.stderr).toBe(3);
  const afterSome = JSON.parse(some.stdout) as Summary;
  expect(afterSome.requests).toMatchObject({ total: 100, succeeded: 90, failed: 10 });
  expect(afterSome.failures.map(({ code, count }) => [code, count])).toEqual([['HTTP_404', 10]]);

  const rest = await place.run(['retry-failed', '--json']);
  expect(rest.code, rest.stderr).toBe(0);
  const rows = await place.records<Row>('default');
  expect(rows).toHaveLength(100);
  expect(new Set(rows.map(({ data }) => data?.id)).size).toBe(100);
  expect(rows.filter(({ error }) => error !== null)).toEqual([]);
  expect((JSON.parse(rest.stdout) as Summary).records).toEqual({ default: 100, failures: 0 });
  expect(await place.records('default', 'failures')).toEqual([]);
  // 100, then the 10 of one code, then the other 10; robots.txt was kept.
  expect(server.stats().requests).toBe(1 + 100 + 20);
});

test('with nothing to retry it says so, and another host or time selects nothing', async () => {
  await place.write('urls.txt', urlList(server.url, 20));
  await place.crawl(['urls.txt', '--max-retries', '0', '--no-discovery']);
  const before = server.stats().requests;
  for (const selection of [
    ['--host', 'other.example.com'],
    ['--since', '2999-01-01'],
    ['--code', 'HTTP_418'],
  ]) {
    const { stderr, code } = await place.run(['retry-failed', ...selection]);
    expect(stderr).toContain('no failed request of that kind');
    expect(code).toBe(3);
  }
  expect(server.stats().requests).toBe(before);
  const wrong = await place.run(['retry-failed', '--since', 'yesterday']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('--since: "yesterday" is no time');
});
