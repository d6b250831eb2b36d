import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { PROJECT, runIn } from '../package/packed.ts';

let folder: string;
let api: FixtureServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-local-'));
  api = await serve(({ path }) => ({ status: 200, body: JSON.stringify({ path }) }));
});

afterEach(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

test("npm start without arguments takes the input where Apify's tools put it", async () => {
  const storage = join(folder, 'storage');
  const input = join(storage, 'key_value_stores/default/INPUT.json');
  mkdirSync(dirname(input), { recursive: true });
  const startUrls = [
    { url: `${api.url}/a`, method: 'GET' },
    { url: `${api.url}/b`, userData: { of: 'the form' } },
  ];
  writeFileSync(
    input,
    JSON.stringify({ startUrls, hosts: { default: { robots: 'ignore' } }, queue: 'auto', failOnErrors: false }),
  );
  const { code, stderr } = await runIn(PROJECT, 'npm', ['start', '--silent'], { CRAWLEE_STORAGE_DIR: storage });
  expect(code, stderr).toBe(0);
  const rows = JSON.parse(readFileSync(join(storage, 'runs/default/exports/default.json'), 'utf8')) as {
    url: string;
  }[];
  expect(rows.map(({ url }) => url).sort()).toEqual([`${api.url}/a`, `${api.url}/b`]);
  // What Apify's tools have there is left alone.
  expect(JSON.parse(readFileSync(input, 'utf8'))).toMatchObject({ startUrls });
});
