import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { createTestDatabase, type TestDatabase } from '../storage/postgres/server.ts';
import { PROJECT, runIn } from './packed.ts';

type Example = { title: string; code: string };

const PAGE = readFileSync(join(PROJECT, 'docs/library.md'), 'utf8');

/** The line that each example of docs/library.md prints. */
const PRINTED: Record<string, string> = {
  'Three lines: the storage of an existing Crawlee project': '2',
  'The same for several machines: PostgreSQL': '2',
  'Ten lines: the crawler of an existing Crawlee project': '3',
  'Routes: records by a schema': '6',
  'The governor alone': '40',
};

let project: string;
let api: FixtureServer;
let database: TestDatabase;

beforeAll(async () => {
  api = await serve(({ path }) => ({ status: path.startsWith('/robots') ? 404 : 200, body: bodyOf(path) }));
  database = await createTestDatabase();
  project = projectOfSomebody();
  for (const [index, { code }] of examples().entries())
    writeFileSync(join(project, `example-${index}.ts`), code.replaceAll('https://api.example.com', api.url));
});

afterAll(async () => {
  rmSync(project, { recursive: true, force: true });
  await api.close();
  await database.end();
});

/** Three pages of two products, and items. */
function bodyOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://server');
  if (!pathname.startsWith('/products')) return JSON.stringify({ path });
  const page = Number(searchParams.get('page') ?? 1);
  const items = [2 * page - 1, 2 * page].map((id) => ({ id, name: `Product ${id}` }));
  return JSON.stringify({ items, next: page < 3 ? `${api.url}/products?page=${page + 1}` : null });
}

/** A project that has this one, Crawlee and zod installed: the same copies, as after npm install. */
function projectOfSomebody(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-library-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(PROJECT, join(folder, 'node_modules/millrace'));
  for (const name of ['crawlee', '@crawlee', 'zod', '@types'])
    symlinkSync(join(PROJECT, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
  return folder;
}

function examples(): Example[] {
  const sections = PAGE.split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const title = section.split('\n', 1)[0]!;
    return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => ({ title, code: code! }));
  });
}

test('every section with code has one example, and what it prints is known', () => {
  expect(examples().map(({ title }) => title)).toEqual(Object.keys(PRINTED));
});

test('three lines are three, and ten are ten', () => {
  const [three, , ten] = examples() as [Example, Example, Example];
  expect(three.code.match(/ \/\/ \d$/gm)).toEqual([' // 1', ' // 2', ' // 3']);
  const after = ten.code.slice(ten.code.indexOf('const router'));
  expect(after.trim().split('\n').length).toBeLessThanOrEqual(10);
});

test('the types of all examples hold', async () => {
  const compilerOptions = {
    target: 'esnext',
    lib: ['esnext'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  };
  const files = examples().map((_, index) => `example-${index}.ts`);
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const { code, stdout } = await runIn(project, join(PROJECT, 'node_modules/.bin/tsc'), ['-p', '.']);
  expect(code, stdout).toBe(0);
});

test.each(examples().map(({ title }, index) => [title, index] as const))('%s', async (title, index) => {
  const env = { DATABASE_URL: database.url };
  const { code, stdout, stderr } = await runIn(project, process.execPath, [`example-${index}.ts`], env);
  expect(code, stderr).toBe(0);
  // Crawlee's log is on stdout, too.
  expect(stdout.split('\n')).toContain(PRINTED[title]);
});
