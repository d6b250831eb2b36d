import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { BIN, emptyFolder, messages, PROJECT, run, type Started, start } from './run-millrace.ts';
import { listen, slowServer } from './slow-server.ts';

/** Options that make a crawl of the test's own server quick. */
const QUICK = ['--no-discovery', '--ignore-robots', '--max-retries', '0', '--timeout', '60'];

/** Waits until the process has printed what matches. */
async function printed({ output, ended }: Started, pattern: RegExp): Promise<RegExpExecArray> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  for (;;) {
    const match = pattern.exec(output());
    if (match !== null) return match;
    if (isOver) throw new Error(`It ended without printing ${pattern}:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('bin/millrace.mjs', () => {
  test('on an older Node says one sentence and ends with 2', async () => {
    const preload = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` };
    const ended = await run(['https://a.b/'], { env });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(
      /^millrace needs Node 24 or newer, and this is v[\d.]+: run it by "npm start" or "npx millrace" in its folder, .*\.\n$/,
    );
  });

  const systemNode = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path)) ?? 'node';
  const systemMajor = Number.parseInt(spawnSync(systemNode, ['-p', 'process.versions.node']).stdout.toString(), 10);
  test.runIf(systemMajor < 24)('on the older Node of this machine does so too', async () => {
    const ended = await run([BIN, '--version'], { command: systemNode });
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('millrace needs Node 24') });
  });

  test('drops the warnings of an older Node 24 about what it is built on, and no others', async () => {
    const names = ['SQLite', 'Type Stripping'].map((name) => `${name} is an experimental feature and might change`);
    const warn = [...names, 'something else'].map((text) => `process.emitWarning("${text}","ExperimentalWarning");`);
    // Given out once the program is under way: when it starts to listen for a signal.
    const preload = `const {on}=process;process.on=(name,f)=>{if(name==="SIGTERM"){${warn.join('')}}return on.call(process,name,f)}`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` };
    const { code, stderr } = await run(['status', '--run', 'none'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('ExperimentalWarning: something else');
    expect(stderr).not.toMatch(/SQLite|Type Stripping/);
  });

  test('runs by npx and by npm start on the Node of node_modules', async () => {
    const byNpx = await run(['millrace', '--version'], { command: 'npx', cwd: PROJECT });
    expect(byNpx).toMatchObject({ code: 0, stderr: '' });
    const byNpm = await run(['start', '--silent', '--', '--version'], { command: 'npm', cwd: PROJECT });
    expect(byNpm).toMatchObject({ code: 0, stdout: byNpx.stdout, stderr: '' });
    expect(byNpx.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('exit codes', () => {
  test('0 and the summary as one JSON document on stdout', async () => {
    const { url } = await slowServer(0);
    const { code, stdout, stderr } = await run([`${url}/1`, '--json', ...QUICK]);
    expect(code, stderr).toBe(0);
    const summary = JSON.parse(stdout) as Summary;
    expect(summary).toMatchObject({ state: 'finished', requests: { total: 1, succeeded: 1 }, input: { lines: 1 } });
    expect(summary.exports).toHaveLength(2);
  });

  test('3 when requests have failed', async () => {
    const url = await listen(createServer((_, response) => response.writeHead(404).end('{}')));
    const { code, stdout } = await run([`${url}/1`, '--json', ...QUICK]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ requests: { failed: 1 } });
  });

  test('1 with one line when the port is in use', async () => {
    const url = await listen(createServer());
    const ended = await run(['practice-api', '--port', new URL(url).port]);
    expect(ended.code).toBe(1);
    expect(messages(ended)).toHaveLength(1);
    expect(ended.stderr).toContain(new URL(url).port);
  });

  test('1 with one line when the storage folder cannot be written', async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, 'file'), '');
    const ended = await run(['https://a.b/', '--storage-dir', 'file'], { cwd });
    expect(ended.code).toBe(1);
    expect(messages(ended)).toHaveLength(1);
    expect(ended.stderr).toContain(join(cwd, 'file'));
  });

  test('1 when another process crawls the same run, 2 when its input is another', async () => {
    const { url, whenAsked } = await slowServer(null);
    const cwd = emptyFolder();
    const first = start([`${url}/1`, ...QUICK], { cwd });
    await whenAsked(1);
    const second = await run([`${url}/1`, ...QUICK], { cwd });
    expect(second.code, second.stderr).toBe(1);
    expect(messages(second)).toHaveLength(1);
    expect(second.stderr).toContain('default');
    first.child.kill('SIGKILL');
    await first.ended;
    const other = await run([`${url}/other`, ...QUICK], { cwd });
    expect(other.code, other.stderr).toBe(2);
    for (const word of ['--fresh', '--run', 'millrace crawl --run default']) expect(other.stderr).toContain(word);
  });

  test('1 with one line for what nobody expected, and its stack by --verbose', async () => {
    const preload = 'Promise.allSettled=()=>{throw new Error("broken promise")}';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` };
    const short = await run(['https://a.b/'], { env });
    expect(short.code).toBe(1);
    expect(messages(short)).toEqual([
      'Something unexpected went wrong: broken promise',
      'Run it again with --verbose for the details.',
    ]);
    const long = await run(['https://a.b/', '--verbose'], { env });
    expect(long.stderr).toMatch(/Error: broken promise\n +at /);
  });
});

describe('a signal', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s lets what is in flight end, saves, and ends with %i; the run then goes on', async (signal, code) => {
    const { url, whenAsked, asked } = await slowServer(1_000);
    const cwd = emptyFolder();
    writeFileSync(join(cwd, 'urls.txt'), Array.from({ length: 6 }, (_, index) => `${url}/${index}\n`).join(''));
    const { child, ended } = start(['urls.txt', '--max-concurrency', '2', ...QUICK], { cwd });
    await whenAsked(2);
    // As npm hands on the terminal's own: at once, and meant as one.
    child.kill(signal);
    child.kill(signal);
    const stopped = await ended;
    expect(stopped.code, stopped.stderr).toBe(code);
    expect(asked).toHaveLength(2);
    const status = await run(['status', '--json'], { cwd });
    expect(JSON.parse(status.stdout)).toMatchObject({ requests: { total: 6, succeeded: 2, pending: 4 } });
    const rest = await run(['--run', 'default', '--json'], { cwd });
    expect(rest.code, rest.stderr).toBe(0);
    expect(JSON.parse(rest.stdout)).toMatchObject({ requests: { total: 6, succeeded: 6, pending: 0 } });
    expect(asked.toSorted()).toEqual(['/0', '/1', '/2', '/3', '/4', '/5']);
  });

  test('a second time ends at once', async () => {
    const { url, whenAsked } = await slowServer(null);
    const { child, ended } = start([`${url}/1`, ...QUICK]);
    await whenAsked(1);
    child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const beforeMs = performance.now();
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(performance.now() - beforeMs).toBeLessThan(5_000);
  });

  test('to the practice API is its normal end', async () => {
    const started = start(['practice-api', '--port', '0']);
    const [, url] = await printed(started, /answers at (http:\S+),/);
    expect((await fetch(`${url}/__stats`)).status).toBe(200);
    started.child.kill('SIGTERM');
    expect((await started.ended).code).toBe(0);
  });

  test.each([
    ['npm', ['start', '--', 'practice-api', '--port', '0']],
    ['npx', ['millrace', 'practice-api', '--port', '0']],
  ])('to %s reaches the process', async (command, args) => {
    const started = start(args, { command, cwd: PROJECT });
    const [, url] = await printed(started, /answers at (http:\S+),/);
    started.child.kill('SIGTERM');
    for (let attempt = 0; attempt < 200; attempt++) {
      const isGone = await fetch(`${url}/__stats`).then(
        () => false,
        () => true,
      );
      if (isGone) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('The practice API still answers 10 s after npm was told to stop.');
  });
});

describe('status', () => {
  test('says once, on stdout, what the end of the crawl said', async () => {
    const { url } = await slowServer(5);
    const cwd = emptyFolder();
    const crawl = await run([`${url}/1`, '--json', ...QUICK], { cwd });
    const told = JSON.parse(crawl.stdout) as Summary;
    const status = await run(['status'], { cwd });
    expect(status.stdout.match(/^Run default finished in /gm)).toHaveLength(1);
    expect(status.stderr).toBe('');
    const { durationSecs, requestsPerSecond, statusCodes } = told;
    expect(JSON.parse((await run(['status', '--json'], { cwd })).stdout)).toMatchObject({
      durationSecs,
      requestsPerSecond,
      statusCodes,
    });
  });
});

describe.runIf(process.platform === 'linux')('a folder that the system does not make', () => {
  test('ends an export with what the system said', async () => {
    const { url } = await slowServer(0);
    const cwd = emptyFolder();
    expect((await run([`${url}/1`, ...QUICK], { cwd })).code).toBe(0);
    const ended = await run(['export', '--output', '/proc/none/x.csv'], { cwd });
    expect(ended.code).toBe(1);
    expect(messages(ended)).toContain(
      "/proc/none: the system does not create it (ENOENT: no such file or directory, mkdir '/proc/none')",
    );
  });
});

describe('stdout', () => {
  test('that nobody reads any more is no reason to complain', async () => {
    const { child, ended } = start(['crawl', '--help']);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('closed during a crawl does not stop it', async () => {
    const { url } = await slowServer(200);
    const cwd = emptyFolder();
    const { child, ended } = start([`${url}/1`, '--json', ...QUICK], { cwd });
    child.stdout?.destroy();
    expect((await ended).code).toBe(0);
    const report = JSON.parse(readFileSync(join(cwd, 'storage/runs/default/report.json'), 'utf8')) as Summary;
    expect(report.requests.succeeded).toBe(1);
  });
});

describe('standard input', () => {
  test('is crawled as it comes, and its malformed lines are told', async () => {
    const { url, asked } = await slowServer(0);
    const ended = await run(['-', '--json', ...QUICK], { stdin: `${url}/1\nnonsense\n${url}/2\n${url}/1\n` });
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      input: { lines: 4, malformed: 1, duplicates: 1 },
      requests: { total: 2, succeeded: 2 },
    });
    expect(ended.stderr).toContain('stdin:2: nonsense is not an absolute URL; skipped');
    expect(asked.toSorted()).toEqual(['/1', '/2']);
  });
});
