import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Arrival, type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { Workplace } from './millrace.ts';

const TOKEN = 'shpat-5f2c-not-for-others';

vi.setConfig({ testTimeout: 120_000 });

let place: Workplace;
let api: FixtureServer;
let elsewhere: FixtureServer;
let seenByApi: Arrival[];
let seenElsewhere: Arrival[];

beforeEach(async () => {
  seenByApi = [];
  seenElsewhere = [];
  place = await Workplace.open();
  elsewhere = await serve((arrival) => {
    seenElsewhere.push(arrival);
    return { status: 200, body: '[{"id":1}]' };
  });
  api = await serve((arrival) => {
    seenByApi.push(arrival);
    if (arrival.path === '/here') return { status: 302, headers: { location: '/there' } };
    if (arrival.path === '/away') return { status: 307, headers: { location: `${elsewhere.url}/landed` } };
    return { status: 200, body: '[{"id":2}]' };
  });
});

afterEach(async () => {
  await api.close();
  await elsewhere.close();
  await place.remove();
});

const seen = (arrivals: readonly Arrival[], path: string) => arrivals.find((arrival) => arrival.path === path)?.headers;

test('credentials in headers of any name stay with the origin they are for, wherever it redirects to', async () => {
  await place.write(
    'api.yaml',
    `
api:
  baseUrl: ${api.url}
  headers: {X-Shop-Secret: "\${env:SHOP_TOKEN}", X-Plain: plain}
  auth: {type: apiKey, location: header, name: X-Shopify-Access-Token, value: "\${env:SHOP_TOKEN}"}
  paginator: {type: singlePage}
  resourceDefaults: {endpoint: {dataSelector: "$[*]", headers: {X-Own-Secret: "\${env:SHOP_TOKEN}"}}}
  resources:
    - {name: here, endpoint: {path: /here}}
    - {name: away, endpoint: {path: /away}}
`,
  );
  const { code, stderr } = await place.run(['crawl', 'api.yaml'], { SHOP_TOKEN: TOKEN });
  expect(code, stderr).toBe(0);
  const secrets = { 'x-shopify-access-token': TOKEN, 'x-shop-secret': TOKEN, 'x-own-secret': TOKEN };
  expect(seen(seenByApi, '/away')).toMatchObject(secrets);
  expect(seen(seenByApi, '/there')).toMatchObject(secrets);
  const landed = seen(seenElsewhere, '/landed');
  expect(landed).toMatchObject({ accept: expect.any(String) });
  expect(JSON.stringify(seenElsewhere)).not.toContain(TOKEN);
});
