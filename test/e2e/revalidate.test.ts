import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { saveFeed, saveMeta } from '../../src/app/run-meta.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { startPracticeApi } from '../../src/practice-api/start-practice-api.ts';
import { openRun } from '../../src/storage/runs.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { Workplace } from './millrace.ts';

vi.setConfig({ testTimeout: 120_000 });

let place: Workplace;

beforeEach(async () => {
  place = await Workplace.open();
});

afterEach(() => place.remove());

type Done = { moved: number; left: number; requests: number; reasons: { reason: string; count: number }[] };

async function revalidate(args: readonly string[] = []): Promise<Done> {
  const { code, stdout, stderr } = await place.run(['revalidate', '--json', ...args]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Done;
}

async function exported<T>(dataset: string, run = 'default'): Promise<T[]> {
  const { code, stderr } = await place.run(['export', '--run', run]);
  expect(code, stderr).toBe(0);
  return place.records<T>(run, dataset);
}

describe('records of an api', () => {
  let server: FixtureServer;

  beforeEach(async () => {
    server = await serve(({ path }) => {
      if (path === '/shops') return { status: 200, body: '[{"id":1,"town":"Bern"}]' };
      return {
        status: 200,
        body: '[{"id":1,"price":2.5},{"id":12345678901234567890,"price":"on request"},{"id":3,"price":null}]',
      };
    });
  });

  afterEach(() => server.close());

  const document = (schema: string): string => `
api:
  baseUrl: ${server.url}
  resourceDefaults: {primaryKey: id, endpoint: {paginator: {type: singlePage}, dataSelector: "$[*]"}}
  resources:
    - {name: shops, endpoint: {path: /shops}}
    - {name: goods, includeFromParent: [town], schema: ${schema}, endpoint: {path: "/shops/{resources.shops.id}/goods"}}
`;
  const schema = (...types: string[]): string => JSON.stringify({ properties: { price: { type: types } } });

  test('go to their dataset once the schema takes them, as if they had fitted at first, without a request', async () => {
    await place.write('goods.json', schema('number'));
    await place.write('crawl.yaml', document('goods.json'));
    const first = await place.crawl(['crawl.yaml']);
    expect(first.code, first.stderr).toBe(0);
    expect(first.summary).toMatchObject({ invalid: 2, records: { goods: 1 } });
    const sent = server.stats().requests;

    expect(await revalidate()).toMatchObject({ moved: 0, left: 2 });
    await place.write('goods.json', schema('number', 'string'));
    expect(await revalidate()).toEqual({
      moved: 1,
      left: 1,
      requests: 0,
      reasons: [{ reason: 'price: must be number,string', count: 1 }],
    });
    expect(await exported('goods')).toHaveLength(2);
    const text = await readFile(join(place.storage, 'runs/default/exports/goods.json'), 'utf8');
    expect(text).toContain('{"id":12345678901234567890,"price":"on request","_shops_town":"Bern"}');
    expect(await exported<{ record: object }>('invalid')).toMatchObject([{ record: { id: 3, price: null } }]);

    // The schema of another document: written in place, the stored one could not be corrected.
    await place.write('mended.yaml', document(schema('number', 'string', 'null')));
    const said = await place.run(['revalidate', '--input', 'mended.yaml']);
    expect(said.stdout, said.stderr).toContain('1 of 1 rows of dataset "invalid" fit by now');
    expect(await exported('goods')).toHaveLength(3);
    const status = JSON.parse((await place.run(['status', '--json'])).stdout);
    expect(status).toMatchObject({ state: 'finished', invalid: 0, records: { goods: 3 } });
    expect(await revalidate()).toEqual({ moved: 0, left: 0, requests: 0, reasons: [] });
    expect(server.stats().requests).toBe(sent);
  });
});

describe('bodies and records of routes', () => {
  test('a body goes through its route, and what it leads to is crawled when the run is continued', async () => {
    const api = await startPracticeApi({ port: 0, items: 3, latencyMs: 0, errorRate: 0, rateLimit: null, seed: 1 });
    try {
      const url = `${api.url}/products`;
      const body = await (await fetch(url)).json();
      const rows = [
        { url, label: 'practice-products', loadedUrl: url, issues: ['items: expected array'], record: body },
        { url, label: 'practice-products', loadedUrl: url, issues: ['next: expected string'], record: { items: 1 } },
        { url, label: 'gone', issues: ['x'], record: {} },
      ];
      await beginRun('routes', rows);
      expect(await revalidate(['--run', 'routes'])).toEqual({
        moved: 1,
        left: 2,
        requests: 3,
        reasons: [
          { reason: 'items: Invalid input: expected array, received number', count: 1 },
          { reason: 'nothing here has the label "gone"', count: 1 },
        ],
      });
      const { summary, code, stderr } = await place.crawl(['--run', 'routes']);
      expect(code, stderr).toBe(0);
      expect(summary).toMatchObject({ state: 'finished', records: { products: 3 }, invalid: 2 });
    } finally {
      await api.close();
    }
  });

  /** A finished run whose one request has left these rows in dataset `invalid`. */
  async function beginRun(name: string, rows: readonly object[]): Promise<void> {
    const ports = { clock: systemClock, random: Math.random, log: silentLog };
    const run = await openRun({ storageDir: place.storage, name, durability: 'normal', ports });
    const { queue, values } = run.store;
    const { url } = rows[0] as { url: string };
    const label = 'practice-products';
    await queue.add([{ uniqueKey: url, url, host: new URL(url).host, method: 'GET', label, data: null }]);
    const { requests } = await queue.claim({ limit: 1, perHost: 1, skipHosts: new Set(), leaseMs: 60_000 });
    await queue.commit([
      {
        lease: requests[0]!.lease,
        outcome: { kind: 'handled', result: 'succeeded', reason: null, patch: null },
        records: rows.map((row) => ({ dataset: 'invalid', json: JSON.stringify(row) })),
        requests: [],
        values: [],
        columns: [],
      },
    ]);
    const feed = { isDone: true, source: 0, line: 0, lines: 0, malformed: 0, duplicates: 0, origins: [] };
    await saveFeed(values, feed);
    await saveMeta(values, {
      version: 1,
      fingerprint: 'test',
      isFinished: true,
      source: 'given',
      document: { routes: true, export: { formats: ['json'] } },
      missingSecrets: [],
      baseDir: place.folder,
      inputs: [],
      exports: [],
    });
    await run.close();
  }
});
