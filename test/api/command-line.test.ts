import { cpSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { PRACTICE_CREDENTIALS } from '../../src/practice-api/options.ts';
import { type PracticeApi, startPracticeApi } from '../../src/practice-api/start-practice-api.ts';
import { type Ended, emptyFolder, run, start } from '../cli/run-millrace.ts';
import { startEcho } from '../crawl/support/echo-server.ts';
import { ROOT } from './example.ts';
import { ITEMS, PRACTICE_EXAMPLES } from './expectations.ts';

let practice: PracticeApi;

beforeAll(async () => {
  practice = await startPracticeApi({ port: 0, items: ITEMS, latencyMs: 0, errorRate: 0, rateLimit: null, seed: 1 });
});
afterAll(() => practice.close());

const example = (name: string): string => join(ROOT, 'examples', `${name}.yaml`);

function crawl(folder: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return run(['crawl', ...args, '--json'], { cwd: folder, env: { PRACTICE_API: practice.url, ...env } });
}

function exported(folder: string, dataset: string, runName = 'default'): Record<string, unknown>[] {
  return JSON.parse(readFileSync(join(folder, 'storage/runs', runName, 'exports', `${dataset}.json`), 'utf8'));
}

const sortedIds = (records: Record<string, unknown>[]) => records.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
const ALL = Array.from({ length: ITEMS }, (_, at) => at + 1);

async function issueRefreshToken(): Promise<string> {
  const { clientId, clientSecret } = PRACTICE_CREDENTIALS;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const answer = await fetch(`${practice.url}/oauth/token`, { method: 'POST', body });
  return ((await answer.json()) as { refresh_token: string }).refresh_token;
}

/** Everything a run left behind, as bytes. */
function artefacts(folder: string): Buffer {
  const files = globSync('**/*', { cwd: folder }).map((file) => join(folder, file));
  return Buffer.concat(files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file)));
}

const namesUnder = (folder: string): string[] =>
  Object.keys(PRACTICE_EXAMPLES).filter((name) => name.startsWith(`${folder}/`));

/** All paginator examples in one document, each a resource of its own name. */
function everyPaginator(): { document: object; names: string[] } {
  const resources = namesUnder('api-paginators').map((name) => {
    const { api } = parse(readFileSync(example(name), 'utf8')) as { api: { resources: Record<string, unknown>[] } };
    return { ...api.resources[0], name: name.replace('api-paginators/', '').replaceAll('-', '_') };
  });
  return { document: { api: { baseUrl: '${env:PRACTICE_API}', resources } }, names: resources.map(({ name }) => name) };
}

describe('the command line', () => {
  test('crawls a list by every paginator at once, each whole', async () => {
    const folder = emptyFolder();
    const { document, names } = everyPaginator();
    writeFileSync(join(folder, 'crawl.yaml'), stringify(document));
    cpSync(join(ROOT, 'examples/api-paginators/by-cursor.ts'), join(folder, 'by-cursor.ts'));
    const path = join(ROOT, 'src/api/custom-code.ts');
    const code = readFileSync(join(folder, 'by-cursor.ts'), 'utf8').replace('../../src/api/custom-code.ts', path);
    writeFileSync(join(folder, 'by-cursor.ts'), code);
    const ended = await crawl(folder, ['crawl.yaml']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(names).toHaveLength(12);
    for (const name of names) {
      expect([name, sortedIds(exported(folder, name))]).toEqual([name, name === 'single_page' ? [1] : ALL]);
    }
  });

  test.each(namesUnder('api-auth'))('crawls %s.yaml whole, and no secret is in anything it leaves', async (name) => {
    const folder = emptyFolder();
    const refreshToken = await issueRefreshToken();
    const env = { ...PRACTICE_EXAMPLES[name]!.env, PRACTICE_REFRESH_TOKEN: refreshToken };
    const ended = await crawl(folder, [example(name)], env);
    expect(ended.code, ended.stderr).toBe(0);
    expect(sortedIds(exported(folder, 'products'))).toEqual(ALL);
    const left = artefacts(folder);
    expect(left.length).toBeGreaterThan(1000);
    for (const secret of [...Object.values(env), 'let-me-in']) {
      expect(left.includes(secret), `${secret} in an artefact`).toBe(false);
      expect(ended.stdout + ended.stderr).not.toContain(secret);
    }
  });

  test('shows no secret when credentials are refused either', async () => {
    const folder = emptyFolder();
    const secret = 'not-the-secret-they-know';
    for (const name of ['api-auth/api-key-query', 'api-auth/oauth2-client-credentials']) {
      const env = { PRACTICE_KEY: secret, PRACTICE_SECRET: secret };
      const ended = await crawl(folder, [example(name), '--fresh', '--verbose'], env);
      expect(ended.code).not.toBe(0);
      expect(ended.stdout + ended.stderr).not.toContain(secret);
    }
    expect(artefacts(folder).includes(secret)).toBe(false);
  });

  test('ends with what to do where the token server refuses the credentials, and goes on when they are right', async () => {
    const folder = emptyFolder();
    const args = [example('api-auth/oauth2-client-credentials'), '--quiet'];
    const ended = await crawl(folder, args, { PRACTICE_SECRET: 'not-the-secret' });
    const [what, advice] = ended.stderr.trim().split('\n').slice(-2);
    expect(ended.code).toBe(1);
    expect(what).toMatch(/^millrace: token endpoint \S+ answered 401: invalid_client.*\.$/);
    expect(advice).toBe(
      'millrace: AUTH_FAILED: Check client id, secret and scope; the same command continues the run.',
    );
    const again = await crawl(folder, args, { PRACTICE_SECRET: 'practice-secret' });
    expect(again.code, again.stderr).toBe(0);
    expect(sortedIds(exported(folder, 'products'))).toEqual(ALL);
  });

  test('tells how complete a run is', async () => {
    const folder = emptyFolder();
    const ended = await crawl(folder, [example('api-parents/products-with-reviews')]);
    const { completeness } = JSON.parse(ended.stdout) as { completeness: Record<string, unknown>[] };
    const reviews = exported(folder, 'reviews').length;
    expect(completeness).toEqual([
      { resource: 'list', declared: ITEMS, fetched: ITEMS, duplicates: 0, gaps: 0, suspectedShifts: 0 },
      { resource: 'products', declared: null, fetched: ITEMS, duplicates: 0, gaps: 0, suspectedShifts: 0 },
      { resource: 'reviews', declared: reviews, fetched: reviews, duplicates: 0, gaps: 0, suspectedShifts: 0 },
    ]);
  });

  test('fetches on the second run only what has changed since the first', async () => {
    const own = await startPracticeApi({ port: 0, items: ITEMS, latencyMs: 0, errorRate: 0, rateLimit: null, seed: 1 });
    const folder = emptyFolder();
    const args = [example('api-incremental/changed-products')];
    try {
      expect((await crawl(folder, args, { PRACTICE_API: own.url })).code).toBe(0);
      expect(exported(folder, 'products')).toHaveLength(ITEMS);
      own.touch([3, 77]);
      expect((await crawl(folder, args, { PRACTICE_API: own.url })).code).toBe(0);
      const again = sortedIds(exported(folder, 'products'));
      // The record the first run ended at comes once more: the start is included.
      expect(again).toEqual(expect.arrayContaining([3, 77]));
      expect(again.length).toBeLessThanOrEqual(3);
    } finally {
      await own.close();
    }
  });

  test('goes on after kill -9 at the page it was at: nothing lost, nothing doubled', async () => {
    const slow = await startPracticeApi({ port: 0, items: 300, latencyMs: 30, errorRate: 0, rateLimit: null, seed: 1 });
    const folder = emptyFolder();
    const yaml = `
api:
  baseUrl: ${slow.url}
  resources:
    - name: products
      primaryKey: id
      endpoint: {path: /products, params: {limit: 5}, dataSelector: "$.items[*]", paginator: {type: cursor, cursorPath: "$.next"}}
`;
    writeFileSync(join(folder, 'crawl.yaml'), yaml);
    try {
      const first = start(['crawl', 'crawl.yaml', '--json'], { cwd: folder });
      while (slow.stats().served < 25) await new Promise((resolve) => setTimeout(resolve, 20));
      first.child.kill('SIGKILL');
      await first.ended;
      const servedBefore = slow.stats().served;
      const second = await run(['crawl', 'crawl.yaml', '--json'], { cwd: folder });
      expect(second.code, second.stderr).toBe(0);
      expect(sortedIds(exported(folder, 'products'))).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
      // 60 pages in all; the one in flight when it died may be asked for again.
      expect(slow.stats().served - servedBefore).toBeLessThan(45);
      const { completeness } = JSON.parse(second.stdout) as { completeness: object[] };
      expect(completeness).toMatchObject([{ fetched: 300, duplicates: 0 }]);
    } finally {
      await slow.close();
    }
  });

  test('tells every problem of an api with file, line and column, and starts nothing', async () => {
    const folder = emptyFolder();
    const yaml = [
      'api:',
      '  baseUrl: https://api.example.com',
      '  auth: {type: bearer, token: "${env:NOT_SET_ANYWHERE}"}',
      '  resources:',
      '    - name: products',
      '      endpoint: {path: /products}',
      '    - name: reviews',
      '      endpoint: {path: "/products/{resources.product.id}/reviews"}',
    ];
    writeFileSync(join(folder, 'crawl.yaml'), yaml.join('\n'));
    for (const command of ['crawl', 'validate']) {
      const ended = await run([command, 'crawl.yaml'], { cwd: folder });
      expect(ended.code).toBe(2);
      expect(ended.stderr.trim().split('\n')).toEqual([
        'millrace: crawl.yaml:8:24: api.resources[1].endpoint.path: {resources.product.id}: there is no resource "product". Did you mean products?',
        'millrace: crawl.yaml:3:31: api.auth.token: ${env:NOT_SET_ANYWHERE}: the environment variable NOT_SET_ANYWHERE is not set.',
      ]);
    }
    expect(globSync('storage/**', { cwd: folder })).toEqual([]);
  });

  test('init writes a document from a URL that validate accepts and crawl fetches whole', async () => {
    const folder = emptyFolder();
    const made = await run(['init', `${practice.url}/pages/products?per_page=50`, '--output', 'made.yaml'], {
      cwd: folder,
    });
    expect(made.code, made.stderr).toBe(0);
    const checked = await run(['validate', 'made.yaml'], { cwd: folder });
    expect(checked.stdout).toContain('made.yaml is valid.\n');
    expect(checked.stdout).toContain('products: GET /pages/products, pages by pageNumber, into dataset products');
    expect((await crawl(folder, ['made.yaml'])).code).toBe(0);
    expect(sortedIds(exported(folder, 'products'))).toEqual(ALL);
    const again = await run(['init', practice.url, '--output', 'made.yaml'], { cwd: folder });
    expect([again.code, again.stderr]).toEqual([2, 'millrace: made.yaml is there already: --force replaces it.\n']);
  });

  test('init says what is wrong with what it was given', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'swagger.json'), '{"swagger": "2.0"}');
    const swagger = await run(['init', 'swagger.json'], { cwd: folder });
    expect([swagger.code, swagger.stderr]).toEqual([
      2,
      'millrace: swagger.json: it is Swagger 2.0: convert it to OpenAPI 3 first (npx swagger2openapi).\n',
    ]);
    writeFileSync(join(folder, 'made.yaml'), 'api: {baseUrl: https://a.test, resources: []}');
    const document = await run(['init', 'made.yaml'], { cwd: folder });
    expect([document.code, document.stderr]).toEqual([
      2,
      'millrace: made.yaml is an input document already: millrace validate made.yaml, then millrace crawl made.yaml.\n',
    ]);
    const page = await startEcho(() => ({ body: '<html>Please log in</html>' }));
    const html = await run(['init', `${page.url}/page?key=1`], { cwd: folder });
    await page.close();
    expect([html.code, html.stderr]).toEqual([
      2,
      `millrace: ${page.url}/page answered with an HTML or XML page, not with JSON records: give the URL of the API itself, as its documentation names it, with what it needs by --header.\n`,
    ]);
    const refused = await run(['init', page.url], { cwd: folder });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `millrace: ${page.host}: connect ECONNREFUSED ${page.host} connecting\n`,
    ]);
    const missing = await run(['init', `${practice.url}/nothing`], { cwd: folder });
    expect([missing.code, missing.stderr]).toEqual([1, `millrace: ${new URL(practice.url).host} answered 404\n`]);
  });
});
