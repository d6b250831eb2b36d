import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type EchoServer, startEcho } from '../crawl/support/echo-server.ts';
import { Workplace } from '../e2e/millrace.ts';

let workplace: Workplace;
let server: EchoServer;
let records: Record<string, unknown>[];
let status: number;

beforeEach(async () => {
  workplace = await Workplace.open();
  status = 200;
  server = await startEcho(() => ({ status, body: JSON.stringify({ items: records }) }));
});
afterEach(async () => {
  await server.close();
  await workplace.remove();
});

const report = (run: string): string => readFileSync(join(workplace.storage, 'runs', run, 'report.html'), 'utf8');

async function crawl(...args: string[]) {
  const endpoint = {
    path: '/changes',
    paginator: { type: 'singlePage' },
    params: { since: '{incremental.startValue}' },
    incremental: { cursorPath: 'n', initialValue: 0 },
  };
  const file = await workplace.write(
    'crawl.yaml',
    stringify({
      hosts: { default: { robots: 'ignore', retry: { maxRetries: 0 } } },
      api: { baseUrl: server.url, resources: [{ name: 'changes', primaryKey: 'id', endpoint }] },
    }),
  );
  return workplace.crawl(['crawl', file, ...args]);
}

const batch = (from: number, record: (at: number) => object) =>
  Array.from({ length: 20 }, (_, at) => ({ id: from + at, n: from + at, ...record(at) }));

test('a run tells how its records differ from those of the run before, and where its increment went', async () => {
  records = batch(1, () => ({ price: 5, old: 'x' }));
  const first = await crawl();
  expect(first.summary.drift).toBeNull();
  expect(first.summary.completeness).toEqual([
    {
      resource: 'changes',
      declared: null,
      fetched: 20,
      duplicates: 0,
      gaps: 0,
      suspectedShifts: 0,
      increment: { from: 0, to: 20, held: null },
    },
  ]);

  records = [...batch(21, (at) => ({ price: at === 7 ? '5 EUR' : 5, fresh: true })), { id: 3, n: 3, price: 1 }];
  const second = await crawl();
  expect(second.summary.drift).toEqual([
    { dataset: 'changes', field: 'price', change: 'type', before: 'integer', after: 'integer | text' },
    { dataset: 'changes', field: 'old', change: 'removed', before: 'text', after: null },
    { dataset: 'changes', field: 'fresh', change: 'added', before: null, after: 'boolean' },
  ]);
  expect(second.summary.completeness).toMatchObject([
    { records: { outside: 1, discarded: 0, drifted: 0 }, increment: { from: 20, to: 40, held: null } },
  ]);
  const page = report('default');
  expect(page).toContain('changes.price is integer | text; it was integer');
  expect(page).toContain('changes: 1 outside of the increment, left out.');
  expect(page).toContain('changes: the increment moved from 20 to 40.');
});

test('one whose request fails says why its increment stays, and its profile is not compared with', async () => {
  records = batch(1, () => ({ price: 5 }));
  await crawl();
  status = 500;
  const failed = await crawl();
  expect(failed.summary.completeness).toMatchObject([
    { failed: 1, increment: { from: 20, to: 20, held: 'requests of changes have failed' } },
  ]);
  expect(report('default')).toContain('the increment stays at 20, as requests of changes have failed');
  expect(report('default')).toContain('changes: 1 request failed: retry-failed puts them back.');
  expect(failed.summary.failures).toMatchObject([
    { code: 'HTTP_500', message: expect.stringContaining('answered 500') },
  ]);
  expect(failed.summary.drift).toBeNull();

  // What the datasets looked like two runs ago still stands.
  status = 200;
  records = batch(21, () => ({ price: 'five' }));
  const third = await crawl();
  expect(third.summary.drift).toMatchObject([{ field: 'price', change: 'type', before: 'integer', after: 'text' }]);
});

test('a sample is compared with nothing, and nothing with it', async () => {
  records = batch(1, () => ({ price: 5 }));
  for (const price of [5, 'five']) {
    records = batch(1, () => ({ price }));
    const { summary } = await crawl('--sample', '1');
    expect([summary.drift, summary.completeness]).toEqual([null, null]);
  }
});

test('the printed summary tells both in words', async () => {
  records = batch(1, () => ({ price: 5 }));
  await crawl();
  records = batch(21, () => ({ price: null }));
  const { stderr, stdout } = await workplace.run(['crawl', join(workplace.folder, 'crawl.yaml')]);
  expect(stdout + stderr).toContain('changes: 20 records, no total stated; the increment moved from 20 to 40');
  expect(stdout + stderr).toContain('changes.price is null or missing in 100 % of records; it was in 0 %');
});
