import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Workplace } from '../e2e/millrace.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';

vi.setConfig({ testTimeout: 120_000 });

const TYPED = 'typed-s3cret-71c9';
const FROM_ENVIRONMENT = 'environment-s3cret-5d20';
const OF_POOL = 'pool-s3cret-0b4e';
const SECRETS = [TYPED, FROM_ENVIRONMENT, OF_POOL];

let place: Workplace;
let server: FixtureServer;
const seen: (string | string[] | undefined)[][] = [];

beforeAll(async () => {
  place = await Workplace.open();
  server = await serve(({ path, headers }) => {
    if (path === '/robots.txt') return { status: 404 };
    seen.push([headers['x-typed'], headers['x-environment'], headers.authorization]);
    if (path.endsWith('/denied')) return { status: 401, body: '{"error":"who are you?"}' };
    if (path.endsWith('/broken')) return { status: 200, body: '<html>' };
    return { status: 200, body: '{"id":1}' };
  });
});
afterAll(async () => {
  await server.close();
  await place.remove();
});

test('no credential is in anything that a crawl leaves or says, whatever becomes of its requests', async () => {
  const { host } = new URL(server.url);
  const document = {
    startUrls: ['/items/1', '/items/2', '/denied', '/broken'].map((path) => `${server.url}${path}`),
    headers: { 'x-environment': '${env:SECRET}' },
    hosts: {
      [host]: {
        retry: { maxRetries: 1, baseDelayMs: 1 },
        sessionPool: { credentials: [{ name: 'alice', headers: { authorization: 'Bearer ${env:POOL_SECRET}' } }] },
      },
    },
  };
  const input = await place.write('crawl.json', JSON.stringify(document));
  const { code, stdout, stderr } = await place.run(
    [input, '--header', `x-typed: ${TYPED}`, '--verbose', '--log-format', 'json', '--json'],
    { SECRET: FROM_ENVIRONMENT, POOL_SECRET: OF_POOL },
  );
  expect(code, stderr).toBe(3);
  // They were sent: it is not for lack of them that none is found.
  expect(seen).toContainEqual([TYPED, FROM_ENVIRONMENT, `Bearer ${OF_POOL}`]);
  const files = await filesBelow(place.storage);
  expect(files.map((file) => file.slice(file.lastIndexOf('/') + 1))).toEqual(
    expect.arrayContaining([
      'run.sqlite',
      'report.html',
      'report.json',
      'default.json',
      'default.csv',
      'failures.json',
    ]),
  );
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'latin1') })));
  for (const { file, text } of [...texts, { file: 'stdout', text: stdout }, { file: 'stderr', text: stderr }])
    for (const secret of SECRETS) expect(text.includes(secret), `${secret} in ${file}`).toBe(false);
});

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
