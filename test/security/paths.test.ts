import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Workplace } from '../e2e/millrace.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';

vi.setConfig({ testTimeout: 120_000 });

let place: Workplace;
let server: FixtureServer;

beforeAll(async () => {
  place = await Workplace.open();
  server = await serve(() => ({ status: 200, body: '{"id":1}' }));
});
afterAll(async () => {
  await server.close();
  await place.remove();
});

test.each(['../../../evil', '/tmp/evil', 'a/../../evil', '..', 'a\\..\\evil', 'x\0y'])(
  'a dataset called %j writes nothing outside of the run, nor over another file of it',
  async (dataset) => {
    const document = await place.write('a.json', JSON.stringify({ startUrls: [`${server.url}/1`], dataset }));
    const { code, stderr } = await place.run([document, '--fresh', '--ignore-robots', '--quiet']);
    expect([0, 2], stderr).toContain(code);
    const made = await readdir(place.folder, { recursive: true });
    const strange = made.filter((file) => /evil/.test(file) && !file.startsWith(join('storage', 'runs', 'default')));
    expect(strange).toEqual([]);
    expect((await readdir(place.folder)).sort()).toEqual(
      code === 0 || made.includes('storage') ? ['a.json', 'storage'] : ['a.json'],
    );
    await expect(readdir('/tmp').then((names) => names.filter((name) => name.startsWith('evil')))).resolves.toEqual([]);
  },
);
