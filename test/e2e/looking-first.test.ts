import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

vi.setConfig({ testTimeout: 120_000 });

let place: Workplace;
let server: FixtureServer;

beforeEach(async () => {
  place = await Workplace.open();
  server = await serve(({ path }) => {
    const url = new URL(path, 'http://host');
    const page = Number(url.searchParams.get('page'));
    if (url.pathname === '/items') {
      const items = page > 10 ? [] : [1, 2].map((n) => ({ id: page * 10 + n, at: `2026-01-${10 + page}` }));
      return { status: 200, body: JSON.stringify({ items, total: 20 }) };
    }
    return { status: 200, body: `[{"note":"${url.pathname}"}]` };
  });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const api = (base: string): string => `
api:
  baseUrl: ${base}
  headers: {X-Key: "\${env:KEY}"}
  resources:
    - name: items
      primaryKey: id
      endpoint:
        path: /items
        params: {since: "{incremental.startValue}"}
        headers: {Authorization: "Bearer \${env:KEY}", X-Typed: typed-secret, Accept-Language: de}
        dataSelector: "$.items[*]"
        incremental: {cursorPath: at, initialValue: "2026-01-01"}
        paginator: {type: pageNumber, pageParam: page, basePage: 1, pageSize: 2, pageSizeParam: size, totalPath: "$.total"}
    - {name: notes, endpoint: {path: "/items/{resources.items.id}/notes", paginator: {type: singlePage}, dataSelector: "$[*]"}}
    - {name: search, endpoint: {path: /search, method: POST, json: {q: all}, paginator: {type: singlePage}, dataSelector: "$[*]"}}
`;

describe('--sample', () => {
  test('fetches so many pages of each resource into a run of its own, and moves no increment', async () => {
    await place.write('api.yaml', api(server.url));
    for (let time = 0; time < 2; time++) {
      const { code, stderr } = await place.run(['api.yaml', '--sample', '3'], { KEY: 'k' });
      expect(code, stderr).toBe(0);
      expect(await place.records('sample', 'items')).toHaveLength(6);
      expect(await place.records('sample', 'notes')).toHaveLength(3);
    }
    // Twice the same: the second began at the same place, as the first was only a sample.
    expect(server.stats().requests).toBe(2 * (1 + 3 + 3 + 1));
    expect(await exists(join(place.storage, 'runs', 'default'))).toBe(false);
    const again = await place.run(['retry-failed', '--run', 'sample']);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('is a sample, which is begun anew each time');
  });

  test('does not go on with an unfinished crawl of all pages, and leaves it as it is', async () => {
    await place.write('api.yaml', api(server.url));
    const env = { KEY: 'k' };
    await place.run(['api.yaml', '--max-requests', '2'], env);
    const refused = await place.run(['api.yaml', '--run', 'default', '--sample', '1'], env);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('was begun with another input');
    const { code, stderr } = await place.run(['api.yaml'], env);
    expect(code, stderr).toBe(0);
    expect(await place.records('default', 'items')).toHaveLength(20);
  });

  test('wants an api and a number of pages', async () => {
    await place.write('urls.txt', urlList(server.url, 1));
    const ofList = await place.run(['urls.txt', '--sample', '1']);
    expect(ofList.code).toBe(2);
    expect(ofList.stderr).toContain('--sample takes pages of the resources of an api');
    const none = await place.run(['urls.txt', '--sample', 'few']);
    expect(none.stderr).toContain('--sample must be a whole number of pages, 1 or more, not "few"');
    expect(server.stats().requests).toBe(0);
  });
});

describe('--dry-run', () => {
  test('shows the first request of each resource, without a secret, and does nothing else', async () => {
    await place.write('api.yaml', api(server.url));
    const { code, stdout, stderr } = await place.run(['api.yaml', '--dry-run'], { KEY: 'secret-key' });
    expect(code, stderr).toBe(0);
    expect(stdout).toBe(`GET ${server.url}/items?since=2026-01-01&size=2&page=1  (items)
  authorization: [redacted]
  x-typed: [redacted]
  accept-language: de
POST ${server.url}/search  (search)
  content-type: application/json
  {"q":"all"}
Nothing was sent.
`);
    expect(server.stats().requests).toBe(0);
    expect(await exists(place.storage)).toBe(false);
  });

  test('shows the first few of a list, and says that there are more', async () => {
    await place.write('urls.txt', urlList(server.url, 1000));
    const { stdout } = await place.run(['urls.txt', '--dry-run', '--method', 'POST', '--body', '{}', '--json']);
    const { requests, hasMore } = JSON.parse(stdout) as { requests: object[]; hasMore: boolean };
    expect(requests).toHaveLength(5);
    expect(requests[0]).toEqual({
      method: 'POST',
      url: `${server.url}/items/1`,
      label: null,
      headers: {},
      payload: '{}',
    });
    expect(hasMore).toBe(true);
    expect(await exists(place.storage)).toBe(false);
  });

  test('shows the seeds of the routes, and finds what is wrong as a crawl would', async () => {
    const routes = await place.run(['crawl', '--dry-run']);
    expect(routes.stdout).toContain('GET http://practice-api.invalid/products  (practice-products)');
    await place.write('api.yaml', api(server.url));
    const missing = await place.run(['api.yaml', '--dry-run']);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('KEY');
    const nothing = await place.run(['no-such-file.txt', '--dry-run']);
    expect(nothing.code).toBe(2);
    expect(await exists(place.storage)).toBe(false);
  });
});
