import { copyFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { copyOfCheckout, PROJECT, projectWith, runIn, TOOLS } from './packed.ts';

type PackedFile = { path: string; size: number };
type Manifest = Record<string, unknown> & { dependencies: Record<string, string> };

let checkout: string;
let tarball: string;
let files: PackedFile[];
let consumer: string;
let installed: string;
let api: FixtureServer;

beforeAll(async () => {
  api = await serve(({ path }) => ({ status: 200, body: `{"path":"${path}","exact":9007199254740993}` }));
  checkout = copyOfCheckout();
  const { code, stdout, stderr } = await runIn(checkout, 'npm', ['pack', '--json']);
  expect(code, stderr).toBe(0);
  const packed = Object.values(JSON.parse(stdout) as { filename: string; files: PackedFile[] }[])[0]!;
  tarball = join(checkout, packed.filename);
  files = packed.files;
  consumer = await projectWith(tarball, join(checkout, 'consumer'));
  installed = join(consumer, 'node_modules/millrace');
}, 300_000);

afterAll(async () => {
  await api.close();
  rmSync(checkout, { recursive: true, force: true });
});

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

test('packs the program compiled, its documentation and nothing else', () => {
  const outside = files
    .map(({ path }) => path)
    .filter((path) => !/^(dist\/.+\.(js|d\.ts|css)|docs\/[^/]+\.md|docs\/images\/.+\.(svg|png))$/.test(path));
  expect(outside.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin/millrace.mjs',
    'docs/millrace.schema.json',
    'package.json',
  ]);
  const compiled = new Set(files.map(({ path }) => path));
  const sources = globSync('src/**/*.ts', { cwd: checkout }).filter((path) => !path.endsWith('_template.ts'));
  const missing = sources.filter((path) => !compiled.has(path.replace(/^src/, 'dist').replace(/\.ts$/, '.js')));
  expect(missing).toEqual([]);
});

test('every file that the code names beside itself is packed: worker threads, styles, the manifest', () => {
  const named = globSync('dist/**/*.js', { cwd: installed }).flatMap((path) => {
    const text = readFileSync(join(installed, path), 'utf8');
    return [...text.matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g)].map(([, name]) =>
      resolve(installed, dirname(path), name!),
    );
  });
  expect(named.length).toBeGreaterThanOrEqual(3);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

test('carries no Node binaries, no umbrella package, and nothing that only a checkout needs', () => {
  const manifest = readManifest(installed);
  expect(Object.keys(manifest).sort()).toEqual(
    [
      'bin',
      'dependencies',
      'description',
      'engines',
      'exports',
      'files',
      'keywords',
      'license',
      'name',
      'peerDependencies',
      'peerDependenciesMeta',
      'type',
      'types',
      'version',
    ].sort(),
  );
  const { dependencies } = readManifest(PROJECT);
  const { crawlee, apify, ...own } = dependencies;
  expect([crawlee, apify]).not.toContain(undefined);
  expect(manifest.peerDependenciesMeta).toEqual({ apify: { optional: true } });
  expect(Object.keys(manifest.dependencies)).toEqual(Object.keys(own));
  expect(manifest.dependencies['@crawlee/core']).toBe(`~${dependencies['@crawlee/core']}`);
  expect(globSync('node_modules/node-linux-*', { cwd: consumer })).toEqual([]);
});

test('leaves the checkout as it was', () => {
  expect(readFileSync(join(checkout, 'package.json'), 'utf8')).toBe(
    readFileSync(join(PROJECT, 'package.json'), 'utf8'),
  );
  expect(existsSync(join(checkout, 'package.json.kept'))).toBe(false);
  expect(existsSync(join(checkout, 'dist'))).toBe(false);
});

test('publint finds nothing to say', async () => {
  const ended = await runIn(checkout, process.execPath, [
    join(TOOLS, 'publint/src/cli.js'),
    'run',
    tarball,
    '--strict',
  ]);
  expect(ended, ended.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining('All good!') });
});

test('its types resolve for ES modules and bundlers', async () => {
  const attw = join(TOOLS, '@arethetypeswrong/cli/dist/index.js');
  const ended = await runIn(checkout, process.execPath, [attw, tarball, '--profile', 'esm-only', '--format', 'json']);
  expect(ended.code, ended.stdout).toBe(0);
  const { analysis } = JSON.parse(ended.stdout) as { analysis: { types: { kind: string }; entrypoints: object } };
  expect(analysis.types).toEqual({ kind: 'included' });
  expect(Object.keys(analysis.entrypoints)).toEqual(['.', './package.json']);
});

test('crawls from the command line by npx', async () => {
  const args = [
    '--no-install',
    'millrace',
    `${api.url}/items/1`,
    '--ignore-robots',
    '--output',
    'items.json',
    '--json',
  ];
  const ended = await runIn(consumer, 'npx', args);
  expect(ended.code, ended.stderr).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'finished', requests: { succeeded: 1, failed: 0 } });
  const [row] = JSON.parse(readFileSync(join(consumer, 'items.json'), 'utf8')) as { url: string; status: number }[];
  expect(row).toMatchObject({ url: `${api.url}/items/1`, status: 200 });
  expect(readFileSync(join(consumer, 'items.json'), 'utf8')).toContain('"exact":9007199254740993');
  expect(existsSync(join(consumer, 'storage/runs/default/report.html'))).toBe(true);
});

const FIXTURES = join(import.meta.dirname, 'fixtures');
const USED = {
  requestsFinished: 1,
  rows: [{ path: '/items/1' }],
  isCrawler: true,
  kinds: ['function', 'function', 'function'],
};

async function usedBy(script: string): Promise<unknown> {
  const ended = await runIn(consumer, process.execPath, [script, api.url]);
  expect(ended.code, ended.stderr).toBe(0);
  return JSON.parse(ended.stdout.trim().split('\n').at(-1)!);
}

test('is a library for JavaScript', async () => {
  copyFileSync(join(FIXTURES, 'plain.js'), join(consumer, 'plain.js'));
  expect(await usedBy('plain.js')).toEqual(USED);
});

test('is a library for TypeScript, whose types say what is wrong', async () => {
  copyFileSync(join(FIXTURES, 'typed.ts'), join(consumer, 'typed.ts'));
  const wrong = "import { createJsonCrawler } from 'millrace';\nawait createJsonCrawler({ run: 1 });\n";
  writeFileSync(join(consumer, 'wrong.ts'), wrong);
  const typeRoots = [join(PROJECT, 'node_modules/@types')];
  const compilerOptions = {
    target: 'esnext',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots,
  };
  writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts', 'wrong.ts'] }));
  const { stdout } = await runIn(consumer, join(PROJECT, 'node_modules/.bin/tsc'), ['-p', '.']);
  // Our own declarations are checked too; those of other packages are theirs.
  const isOurs = (line: string): boolean => /error TS/.test(line) && !/^node_modules\/(?!millrace\/)/.test(line);
  expect(stdout.split('\n').filter(isOurs)).toEqual([
    expect.stringMatching(/^wrong\.ts\(2,27\): error TS2322: Type 'number' is not assignable/),
  ]);
  expect(await usedBy('typed.ts')).toEqual(USED);
});

test('is loaded by require, too', async () => {
  const script = "const { createJsonCrawler } = require('millrace'); console.log(typeof createJsonCrawler)";
  const ended = await runIn(consumer, process.execPath, ['--input-type=commonjs', '-e', script]);
  expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: 'function\n' });
});
