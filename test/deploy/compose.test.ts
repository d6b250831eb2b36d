import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPTIONS } from '../../src/cli/options.ts';

const FILE = fileURLToPath(new URL('../../deploy/compose.yaml', import.meta.url));

type Service = {
  command: string[];
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
};
type Compose = { services: Record<string, Service>; volumes: Record<string, unknown> };

const compose = parse(readFileSync(FILE, 'utf8')) as Compose;

test('the composition starts a crawl and workers on one run of one database', () => {
  const { crawl, worker, database } = compose.services as { crawl: Service; worker: Service; database: Service };
  expect(crawl.command[0]).toBe('crawl');
  expect(worker.command[0]).toBe('worker');
  const runOf = ({ command }: Service) => command[command.indexOf('--run') + 1];
  expect(runOf(worker)).toBe(runOf(crawl));
  expect(worker.environment).toEqual(crawl.environment);
  const url = new URL(crawl.environment.MILLRACE_DATABASE_URL!.replace(/\$\{[^}]*\}/, 'password'));
  expect([url.hostname, url.username, url.pathname]).toEqual(['database', 'millrace', '/millrace']);
  expect(database.environment).toMatchObject({ POSTGRES_USER: 'millrace', POSTGRES_DB: 'millrace' });
  for (const service of [crawl, worker])
    expect(service.depends_on).toEqual({ database: { condition: 'service_healthy' } });
});

test('its commands use options that there are', () => {
  for (const { command } of [compose.services.crawl!, compose.services.worker!]) {
    const known = OPTIONS[command[0] as 'crawl' | 'worker'].map(({ flags }) => flags.split(' ')[0]);
    expect(known).toEqual(expect.arrayContaining(command.filter((word) => word.startsWith('--'))));
  }
});

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;

test.runIf(hasCompose)('docker compose takes it as it is', () => {
  const env = { ...process.env, POSTGRES_PASSWORD: 'x' };
  const { status, stderr } = spawnSync('docker', ['compose', '-f', FILE, 'config', '--quiet'], {
    env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});
