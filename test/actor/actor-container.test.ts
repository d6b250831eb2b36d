import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlainImage } from '../container/plain-image.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { FakeApify } from './fake-apify.ts';

const DOCKERFILE = '.actor/Dockerfile';
const requireTool = createRequire(new URL('../tools/package.json', import.meta.url));

let image: PlainImage;
let platform: FakeApify;
let api: FixtureServer;

beforeAll(async () => {
  platform = await FakeApify.open();
  api = await serve(({ path }) => ({ status: 200, body: JSON.stringify([{ path }, { path }]) }));
  image = PlainImage.build(DOCKERFILE);
  image.ownWorkdir();
}, 300_000);

afterAll(async () => {
  image.remove();
  await api.close();
  await platform.close();
});

test('its Dockerfile is valid, and on the image for Node 24', () => {
  const text = readFileSync(new URL(`../../${DOCKERFILE}`, import.meta.url), 'utf8');
  const { validate } = requireTool('dockerfile-utils') as { validate: (text: string) => unknown[] };
  expect(validate(text)).toEqual([]);
  const { run } = requireTool('dockerfilelint') as { run: (folder: string, text: string) => unknown[] };
  expect(run('.', text)).toEqual([]);
  expect(text).toContain('FROM apify/actor-node:24\n');
});

test('its command runs the Actor, within the memory of the run', async () => {
  const report =
    "import v8 from 'node:v8';process.stderr.write('heap of '+v8.getHeapStatistics().heap_size_limit+'\\n');";
  platform.input = {
    startUrls: [{ url: `${api.url}/posts` }],
    select: '$[*]',
    blockPrivateAddresses: false,
    hosts: { default: { robots: 'ignore' } },
  };
  const env = { ...platform.env, ACTOR_MEMORY_MBYTES: '512' };
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(report)}`;
  const { code, stderr } = await image.start([], { env: { ...env, NODE_OPTIONS } }).ended;
  expect(code, stderr).toBe(0);
  expect(platform.datasets.get('dataset1')).toEqual([{ path: '/posts' }, { path: '/posts' }]);
  const heapMbytes = Number(/heap of (\d+)/.exec(stderr)![1]) / 2 ** 20;
  expect(heapMbytes).toBe(384);
});
