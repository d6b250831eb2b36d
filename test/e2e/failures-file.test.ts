import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

vi.setConfig({ testTimeout: 120_000 });

let server: FixtureServer;
let place: Workplace;
let isMended = false;

beforeEach(async () => {
  isMended = false;
  place = await Workplace.open();
  server = await serve(({ path, headers }) => {
    const id = Number(path.split('/').at(-1));
    const status = isMended || id % 2 === 0 ? 200 : id % 3 === 0 ? 500 : 404;
    return { status, body: JSON.stringify({ id, tenant: headers['x-tenant'] ?? null }) };
  });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

const begin = (file: string) => place.crawl([file, '--max-retries', '0', '--no-discovery']);

test('failed requests become the input of another crawl, whole but for secrets', async () => {
  const special = {
    url: `${server.url}/items/1001`,
    method: 'PUT',
    payload: '{"a":"ü"}',
    headers: { 'x-tenant': 'blue', authorization: 'Bearer secret-token', 'x-api-key': 'secret-key' },
    userData: { page: { n: 1 } },
  };
  await place.write('list.jsonl', `${JSON.stringify(special)}\n${JSON.stringify({ url: `${server.url}/items/9` })}\n`);
  expect((await begin('list.jsonl')).summary.requests).toMatchObject({ failed: 2 });
  const { code, stderr } = await place.run(['retry-failed', '--failures', 'failed.jsonl']);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('failed.jsonl has 2 failed requests');
  const text = await readFile(join(place.folder, 'failed.jsonl'), 'utf8');
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([{ ...special, headers: { 'x-tenant': 'blue' } }, { url: `${server.url}/items/9` }]);
  isMended = true;
  const next = await place.crawl(['failed.jsonl', '--run', 'mended']);
  expect(next.code, next.stderr).toBe(0);
  const rows = await place.records<{ data: object }>('mended');
  expect(rows.map(({ data }) => data)).toEqual(
    expect.arrayContaining([
      { id: 1001, tenant: 'blue' },
      { id: 9, tenant: null },
    ]),
  );
});

test('only those asked for, and the run itself stays as it is', async () => {
  await place.write('urls.txt', urlList(server.url, 60));
  await begin('urls.txt');
  const before = server.stats().requests;
  const some = await place.run(['retry-failed', '--failures', '-', '--code', 'HTTP_500']);
  const ids = some.stdout
    .trimEnd()
    .split('\n')
    .map((line) => Number((JSON.parse(line) as { url: string }).url.split('/').at(-1)));
  expect(ids).toEqual([3, 9, 15, 21, 27, 33, 39, 45, 51, 57]);
  expect((await place.run(['retry-failed', '--failures', '-', '--host', 'other.example'])).stdout).toBe('');
  expect(server.stats().requests).toBe(before);
  const status = JSON.parse((await place.run(['status', '--json'])).stdout);
  expect(status).toMatchObject({ state: 'finished', requests: { failed: 30, pending: 0 } });
  await place.write('mine.jsonl', 'mine');
  const refused = await place.run(['retry-failed', '--failures', 'mine.jsonl']);
  expect(refused.code).toBe(2);
  expect(await readFile(join(place.folder, 'mine.jsonl'), 'utf8')).toBe('mine');
  expect((await place.run(['retry-failed', '--failures', 'mine.jsonl', '--force'])).code).toBe(0);
  expect((await place.run(['retry-failed', '--failures', 'x.jsonl', '--run', 'none'])).stderr).toContain(
    'There is no run "none"',
  );
});
