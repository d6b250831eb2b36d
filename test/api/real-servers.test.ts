import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyFolder, run } from '../cli/run-millrace.ts';
import { ROOT } from './example.ts';

const MODULES = join(ROOT, 'test/tools/node_modules');

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a server by Node and waits until it answers; it ends with the test. */
async function serve(script: string, args: readonly string[], url: string, cwd: string): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [join(MODULES, script), ...args], { cwd, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`);
    const answered = await fetch(url).catch(() => null);
    if (answered !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${script} does not answer at ${url}`);
}

type Crawled = { code: number | null; summary: { completeness: Record<string, unknown>[] }; stderr: string };

/** Crawls an input document; `read` gives the records of a dataset. */
async function crawl(
  folder: string,
  yaml: string,
): Promise<Crawled & { read: (dataset: string) => Record<string, unknown>[] }> {
  writeFileSync(join(folder, 'crawl.yaml'), yaml);
  const ended = await run(['crawl', 'crawl.yaml', '--json'], { cwd: folder });
  const read = (dataset: string) =>
    JSON.parse(readFileSync(join(folder, 'storage/runs/default/exports', `${dataset}.json`), 'utf8'));
  return { code: ended.code, summary: ended.code === 0 ? JSON.parse(ended.stdout) : null, stderr: ended.stderr, read };
}

const byId = (list: Record<string, unknown>[]) => list.toSorted((a, b) => Number(a.id) - Number(b.id));

describe('json-server', () => {
  test('is crawled whole: posts by its Link header, all pages at once, and the comments of each', async () => {
    const folder = emptyFolder();
    const posts = Array.from({ length: 57 }, (_, at) => ({ id: at + 1, title: `Post ${at + 1}` }));
    const comments = posts.flatMap(({ id }) =>
      Array.from({ length: id % 4 }, (_, at) => ({ id: id * 10 + at, postId: id, body: `Comment ${at}` })),
    );
    writeFileSync(join(folder, 'db.json'), JSON.stringify({ posts, comments }));
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    await serve(
      'json-server/lib/cli/bin.js',
      ['--port', String(port), '--host', '127.0.0.1', '--quiet', 'db.json'],
      base,
      folder,
    );
    const crawled = await crawl(
      folder,
      `
api:
  baseUrl: ${base}
  paginator: {type: headerLink}
  resourceDefaults: {primaryKey: id, endpoint: {params: {_page: 1, _limit: 10}, dataSelector: "$[*]"}}
  resources:
    - {name: posts, endpoint: {path: /posts}}
    - {name: comments, includeFromParent: [title], endpoint: {path: "/posts/{resources.posts.id}/comments", params: {_limit: 2}}}
`,
    );
    expect(crawled.code, crawled.stderr).toBe(0);
    expect(byId(crawled.read('posts'))).toEqual(posts);
    expect(byId(crawled.read('comments'))).toEqual(
      comments.map((comment) => ({ ...comment, _posts_title: `Post ${comment.postId}` })),
    );
    expect(crawled.summary.completeness).toMatchObject([
      { resource: 'posts', fetched: 57, duplicates: 0 },
      { resource: 'comments', fetched: comments.length, duplicates: 0 },
    ]);
  });
});

describe('a Verdaccio registry', () => {
  async function publish(base: string, name: string): Promise<void> {
    const tarball = Buffer.from(`not a real tarball of ${name}`);
    const shasum = createHash('sha1').update(tarball).digest('hex');
    const file = `${name}-1.0.0.tgz`;
    const version = {
      name,
      version: '1.0.0',
      description: `About ${name}`,
      dist: { tarball: `${base}/${name}/-/${file}`, shasum },
    };
    const body = {
      _id: name,
      name,
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': version },
      _attachments: {
        [file]: { content_type: 'application/octet-stream', data: tarball.toString('base64'), length: tarball.length },
      },
    };
    const answer = await fetch(`${base}/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new Error(`publishing ${name}: ${answer.status} ${await answer.text()}`);
  }

  test('is crawled whole: its search by offset, though the total it states is no total, and each package', async () => {
    const folder = emptyFolder();
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    mkdirSync(join(folder, 'registry'));
    const config = [
      `storage: ${join(folder, 'registry')}`,
      'uplinks: {}',
      "packages: {'**': {access: $all, publish: $all}}",
      'web: {enable: false}',
      'log: {type: stdout, level: fatal}',
    ];
    writeFileSync(join(folder, 'verdaccio.yaml'), config.join('\n'));
    await serve(
      'verdaccio/bin/verdaccio',
      ['--config', 'verdaccio.yaml', '--listen', `127.0.0.1:${port}`],
      `${base}/-/ping`,
      folder,
    );
    const names = Array.from({ length: 23 }, (_, at) => `pkg-${String(at + 1).padStart(2, '0')}`);
    for (const name of names) await publish(base, name);
    const crawled = await crawl(
      folder,
      `
api:
  baseUrl: ${base}
  resources:
    - name: found
      primaryKey: package.name
      endpoint:
        path: /-/v1/search
        params: {text: pkg}
        dataSelector: "$.objects[*]"
        paginator: {type: offset, limit: 10, offsetParam: from, limitParam: size, totalPath: "$.total"}
    - name: packages
      primaryKey: name
      endpoint: {path: "/{resources.found.package.name}", dataSelector: "$", paginator: {type: singlePage}}
`,
    );
    expect(crawled.code, crawled.stderr).toBe(0);
    expect(
      crawled
        .read('packages')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(names);
    expect(crawled.read('found')).toHaveLength(23);
    expect(crawled.stderr).toContain('found: the total stated is less than there is');
  });
});
