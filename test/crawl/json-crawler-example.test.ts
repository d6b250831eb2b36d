import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { type PracticeApi, startPracticeApi } from '../../src/practice-api/start-practice-api.ts';
import { readRun } from '../../src/storage/runs.ts';
import { datasetOf } from './support/stores.ts';

const EXAMPLE = new URL('../../examples/json-crawler/crawl.ts', import.meta.url).pathname;
const LIBRARY = new URL('../../src/index.ts', import.meta.url).pathname;

// Processes that import Crawlee take seconds to start on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

let folder: string;
let api: PracticeApi;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-example-'));
  api = await startPracticeApi({ port: 0, items: 60, latencyMs: 0, errorRate: 0.05, rateLimit: null, seed: 1 });
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true, force: true });
});

test('the example crawls an API with Crawlee’s own handlers, and its process ends by itself', async () => {
  const { code, stdout } = await node(EXAMPLE, api.url);
  expect(code).toBe(0);
  expect(stdout).toContain('0 failed, 60 products');
  const ports = { clock: systemClock, random: Math.random, log: silentLog };
  const run = { storageDir: folder, name: 'json-crawler-example', durability: 'normal' as const, ports };
  const store = await readRun(run);
  const products = await datasetOf(store!, 'default');
  await store!.close();
  expect(products).toHaveLength(60);
  expect(new Set(products.map(({ id }) => id)).size).toBe(60);
  expect(Object.keys(products[0]!)).toEqual(['id', 'name', 'amount', 'currency']);
});

test('importing the library starts, opens and prints nothing, beyond what importing Crawlee does', async () => {
  const look = async (specifier: string) => {
    const code = `await import(${JSON.stringify(specifier)});
      const resources = process.getActiveResourcesInfo().filter((name) => !/^(Pipe|TTY|FSReq|Immediate)/.test(name));
      console.log(JSON.stringify([resources, process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')]));`;
    return node('--input-type=module', '--eval', code);
  };
  const crawlee = await look(import.meta.resolve('@crawlee/http'));
  const { stdout, stderr } = await look(LIBRARY);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(crawlee.stdout));
  expect(JSON.parse(stdout)[0]).toEqual([]);
  expect(stderr).toBe('');
});

async function node(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const env = { ...process.env, CRAWLEE_STORAGE_DIR: folder };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
