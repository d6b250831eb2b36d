import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EchoServer, type Seen, startEcho } from '../crawl/support/echo-server.ts';
import { Workplace } from '../e2e/millrace.ts';
import { ROOT } from './example.ts';

let workplace: Workplace;
let server: EchoServer;

beforeEach(async () => {
  workplace = await Workplace.open();
});
afterEach(async () => {
  await server.close();
  await workplace.remove();
});

async function crawl(example: string, env: Record<string, string>) {
  const file = join(ROOT, 'examples/api-open-data', `${example}.yaml`);
  const finished = await workplace.run(['crawl', file, '--json'], { PORTAL: server.url, ...env });
  expect(finished.code, finished.stderr).toBe(0);
  return JSON.parse(finished.stdout) as { completeness: object[]; requests: object; statusCodes: object };
}

const query = (seen: Seen): URLSearchParams => new URL(seen.path, server.url).searchParams;

/** What dev.socrata.com documents: a bare list, no total, an order only where it is asked for, 202 while it works. */
describe('a Socrata portal', () => {
  const ROWS = 2_412;
  const row = (at: number) => ({
    ':id': `row-${String(at).padStart(5, '0')}`,
    ':created_at': '2024-05-01T07:00:00.000Z',
    // Numbers are text in SODA JSON.
    earthquake_id: String(70_000 + at),
    magnitude: (at % 70) / 10 < 3 ? null : String((at % 70) / 10),
  });

  function answer(seen: Seen, earlier: number) {
    const headers = {
      'content-type': 'application/json;charset=utf-8',
      'x-socrata-requestid': 'aqe1bgaxzvhitfgrsvy6semhi',
      'x-soda2-fields': '[":id",":created_at","earthquake_id","magnitude"]',
      'last-modified': 'Wed, 01 May 2024 07:00:00 GMT',
    };
    if (seen.headers['x-app-token'] !== 'the-app-token')
      return {
        status: 403,
        headers,
        body: '{"code":"permission_denied","error":true,"message":"Invalid app_token specified"}',
      };
    const asked = query(seen);
    const [limit, offset] = [Number(asked.get('$limit') ?? 1000), Number(asked.get('$offset') ?? 0)];
    if (offset === 1000 && earlier === 0)
      return { status: 202, headers, body: '{"code":"query.executing","error":false}' };
    const rows = Array.from({ length: Math.max(0, Math.min(limit, ROWS - offset)) }, (_, at) => row(offset + at));
    // SODA leaves nulls out.
    const items = rows.map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== null)));
    return { headers, body: JSON.stringify(asked.get('$order') === ':id' ? items : items.map(() => row(0))) };
  }

  test('gives all rows of a dataset once, waiting while the query runs', async () => {
    server = await startEcho(answer);
    const env = { DATASET: 'xzkq-xp2w', SOCRATA_APP_TOKEN: 'the-app-token' };
    const summary = await crawl('socrata-dataset', env);
    const rows = await workplace.records<Record<string, string>>('default', 'rows');
    expect(rows.map((each) => each[':id']).sort()).toEqual(Array.from({ length: ROWS }, (_, at) => row(at)[':id']));
    expect(rows.find((each) => each[':id'] === 'row-00045')).toEqual(row(45));
    expect(summary.statusCodes).toEqual({ 200: 4, 202: 1 });
    expect(summary.completeness).toMatchObject([{ declared: null, fetched: ROWS, duplicates: 0 }]);
    expect(new URL(server.seen[0]!.path, server.url).pathname).toBe('/resource/xzkq-xp2w.json');
    expect(server.seen.map((seen) => query(seen).get('$offset'))).toEqual(['0', '1000', '1000', '2000', '2412']);
  });
});

/** What docs.ckan.org documents of datastore_search; the portal caps a page below what is asked for. */
describe('a CKAN portal', () => {
  const RECORDS = 2_050;
  const CAP = 700;

  function answer(seen: Seen) {
    const asked = query(seen);
    const [limit, offset] = [Math.min(CAP, Number(asked.get('limit') ?? 100)), Number(asked.get('offset') ?? 0)];
    const headers = { 'content-type': 'application/json;charset=utf-8' };
    if (asked.get('resource_id') !== 'f4129802')
      return {
        status: 404,
        headers,
        body: '{"help": "...", "error": {"__type": "Not Found Error", "message": "Not found: Resource was not found."}, "success": false}',
      };
    const records = Array.from({ length: Math.max(0, Math.min(limit, RECORDS - offset)) }, (_, at) => ({
      _id: offset + at + 1,
      station: `S${offset + at}`,
      value: '1.50',
    }));
    const result = {
      include_total: true,
      limit,
      offset,
      records_format: 'objects',
      resource_id: 'f4129802',
      total_estimation_threshold: null,
      records,
      fields: [
        { id: '_id', type: 'int' },
        { id: 'station', type: 'text' },
        { id: 'value', type: 'numeric' },
      ],
      _links: {
        start: '/api/3/action/datastore_search',
        next: `/api/3/action/datastore_search?offset=${offset + limit}`,
      },
      total: RECORDS,
      total_was_estimated: false,
    };
    return {
      headers,
      body: JSON.stringify({ help: 'https://demo.ckan.org/api/3/action/help_show', success: true, result }),
    };
  }

  test('gives all records of a table once, though its pages are shorter than asked for', async () => {
    server = await startEcho(answer);
    const summary = await crawl('ckan-datastore', { RESOURCE: 'f4129802' });
    const records = await workplace.records<{ _id: number }>('default', 'records');
    expect(records.map(({ _id }) => _id).sort((a, b) => a - b)).toEqual(
      Array.from({ length: RECORDS }, (_, at) => at + 1),
    );
    expect(summary.completeness).toMatchObject([{ declared: RECORDS, fetched: RECORDS, duplicates: 0, gaps: 0 }]);
  });

  test('a table that is not there fails with what it means', async () => {
    server = await startEcho(answer);
    const file = join(ROOT, 'examples/api-open-data/ckan-datastore.yaml');
    const finished = await workplace.run(['crawl', file, '--json'], { PORTAL: server.url, RESOURCE: 'gone' });
    expect(finished.code).toBe(3);
    const [failure] = await workplace.records<Record<string, unknown>>('default', 'failures');
    expect(failure).toMatchObject({
      code: 'RESPONSE_ACTION',
      status: 404,
      message: expect.stringContaining('no such table'),
    });
  });
});
