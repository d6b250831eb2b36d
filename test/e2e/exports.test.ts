import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { saveMeta } from '../../src/app/run-meta.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Summary } from '../../src/core/summary.ts';
import { openRun } from '../../src/storage/runs.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

const BIN = new URL('../../bin/millrace.mjs', import.meta.url).pathname;

let place: Workplace;
let server: FixtureServer | null;
let latencyMs = 0;
let isMended = false;

beforeEach(async () => {
  latencyMs = 0;
  isMended = false;
  server = null;
  place = await Workplace.open();
});

afterEach(async () => {
  await server?.close();
  await place.remove();
});

/** Serves `{id, price, tags}`; ids that end in 0 fail until they are mended. */
async function startServer(): Promise<string> {
  server = await serve(({ path }) => {
    const id = Number(path.split('/').at(-1));
    if (!isMended && id % 10 === 0) return { status: 404, body: '{}', afterMs: latencyMs };
    return { status: 200, afterMs: latencyMs, body: `{"id":${id},"price":1.10,"of":{"brand":"b;${id % 3}"}}` };
  });
  return server.url;
}

async function crawlList(count: number, ...args: string[]) {
  await place.write('urls.txt', urlList(await startServer(), count));
  return place.crawl(['urls.txt', '--max-retries', '0', '--no-discovery', ...args]);
}

async function read(name: string): Promise<string> {
  return readFile(join(place.folder, name), 'utf8');
}

async function idsOf(name: string): Promise<number[]> {
  const lines = (await read(name)).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { data: { id: number } }).data.id).sort((a, b) => a - b);
}

/** A run of so many rows of about 1 KB, as a crawl would have left it. */
async function runOf(rows: number): Promise<void> {
  const ports = { clock: systemClock, random: Math.random, log: silentLog };
  const run = await openRun({ storageDir: place.storage, name: 'default', durability: 'normal', ports });
  const { datasets, values } = run.store;
  const text = 'x'.repeat(1_000);
  for (let first = 0; first < rows; first += 1_000)
    await datasets.push(
      'default',
      Array.from({ length: Math.min(1_000, rows - first) }, (_, index) => `{"id":${first + index},"text":"${text}"}`),
    );
  await datasets.addColumns('default', ['id', 'text']);
  await saveMeta(values, {
    version: 1,
    fingerprint: '',
    isFinished: true,
    source: 'given',
    document: {},
    missingSecrets: [],
    baseDir: place.folder,
    inputs: [],
    exports: [],
  });
  await run.close();
}

describe('export', () => {
  test('every format, to files and to stdout, with columns, a limit and CSV as asked for', async () => {
    expect((await crawlList(9, '--no-export')).code).toBe(0);
    const files = ['a.csv', 'b.csv.gz', 'c.ndjson', 'd.parquet', 'e.json'];
    const options = ['--fields', 'data.id,data.of', '--limit', '4', '--csv-delimiter', ';', '--csv-bom'];
    const written = await place.run(['export', ...files.flatMap((file) => ['--output', file]), ...options]);
    expect(written).toMatchObject({ code: 0, stderr: '', stdout: `${files.join('\n')}\n` });
    const [head, ...rows] = (await read('a.csv')).trimEnd().split('\n');
    expect(head).toBe('\ufeffdata.id;data.of.brand');
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row).toMatch(/^\d;"b;\d"$/);
    expect(gunzipSync(await readFile(join(place.folder, 'b.csv.gz'))).toString()).toBe(await read('a.csv'));
    expect((await read('c.ndjson')).split('\n')[0]).toMatch(/^\{"data":\{"id":\d,"of":\{"brand":"b;\d"\}\}\}$/);
    expect((await readFile(join(place.folder, 'd.parquet'))).subarray(0, 4).toString()).toBe('PAR1');
    expect(JSON.parse(await read('e.json'))).toHaveLength(4);

    const toStdout = await place.run(['export', '--output', '-', '--format', 'jsonl']);
    expect(toStdout).toMatchObject({ code: 0, stderr: '' });
    expect(toStdout.stdout.trimEnd().split('\n')).toHaveLength(9);
    // A price keeps its digits.
    expect(toStdout.stdout).toContain('"price":1.10');

    const ownFolder = await place.run(['export', '--format', 'csv.gz', '--json']);
    expect((JSON.parse(ownFolder.stdout) as { files: string[] }).files).toEqual([
      join(place.storage, 'runs/default/exports/default.csv.gz'),
    ]);
  }, 60_000);

  test('--dataset chooses, --fields alone is of the main dataset, and a mistaken name tells those there are', async () => {
    expect((await crawlList(20)).code).toBe(3);
    const failures = await place.run(['export', '--dataset', 'failures', '--output', '-', '--format', 'jsonl']);
    expect(failures.stdout.trimEnd().split('\n')).toHaveLength(2);
    const fields = await place.run(['export', '--fields', 'url', '--output', 'urls.csv']);
    expect(fields).toMatchObject({ code: 0, stdout: 'urls.csv\n' });
    const wrong = await place.run(['export', '--fields', 'prize', '--output', 'x.csv']);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/^millrace: No column "prize"; there are url, status, /);
    expect(existsSync(join(place.folder, 'x.csv'))).toBe(false);
  }, 60_000);

  test('a slow reader of stdout holds it back, and one that leaves ends it without a complaint', async () => {
    await runOf(100_000);
    const { child, finished } = place.start(['export', '--output', '-', '--format', 'csv']);
    child.stdout?.pause();
    // It has had all the time it needs to read the run, and is still there: the pipe holds it back.
    await sleep(3_000);
    expect(child.exitCode).toBeNull();
    const peakKb = Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
    expect(peakKb).toBeLessThan(200_000);
    child.stdout?.resume();
    const { code, stdout } = await finished;
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(100_002);

    const head = spawn(
      'sh',
      ['-c', `"${process.execPath}" "${BIN}" export --output - --format csv; echo "code $?" >&2`],
      { cwd: place.folder, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let stderr = '';
    head.stderr.on('data', (chunk) => (stderr += chunk));
    head.stdout.once('data', () => head.stdout.destroy());
    await once(head, 'close');
    expect(stderr).toBe('code 0\n');
  }, 60_000);

  test('on a terminal a line shows how far it is, and is gone at the end', async () => {
    await runOf(20_000);
    const output = execFileSync(
      'script',
      ['-qec', `"${process.execPath}" "${BIN}" export --output all.jsonl`, '/dev/null'],
      { cwd: place.folder, env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] },
    ).toString();
    expect(output).toContain('all.jsonl  0 of 20,000 rows');
    // What was drawn is taken away before the name of the file is written.
    expect(output.split('\u001b[J').at(-1)?.trim()).toBe('all.jsonl');
  }, 60_000);

  test('a full disk is told, and leaves the earlier file', async ({ skip }) => {
    await runOf(3_000);
    const small = await smallDisk(place, 1);
    if (small === null) return skip('this user may not mount a small disk');
    await writeFile(join(small, 'x.csv'), 'earlier\n');
    const full = await place.run(['export', '--output', join(small, 'x.csv'), '--force']);
    expect(full).toMatchObject({ code: 1, stdout: '' });
    expect(full.stderr).toContain('x.csv: the disk is full; nothing was replaced. Free some space and export again');
    expect(await readFile(join(small, 'x.csv'), 'utf8')).toBe('earlier\n');
    expect(await readdir(small)).toEqual(['x.csv']);
  }, 60_000);
});

describe('crawl --output x.jsonl', () => {
  const FOLLOW = ['urls.txt', '--max-retries', '0', '--no-discovery', '--output', 'x.jsonl', '--json'];

  test('grows with the crawl; after kill -9 the same command ends with each row once', async () => {
    latencyMs = 150;
    await place.write('urls.txt', urlList(await startServer(), 3_000));
    for (let kill = 1; kill <= 3; kill++) {
      const { child, finished } = place.start([...FOLLOW, '--max-concurrency-per-host', '40']);
      const before = existsSync(join(place.folder, 'x.jsonl')) ? (await read('x.jsonl')).length : 0;
      while (!existsSync(join(place.folder, 'x.jsonl')) || (await read('x.jsonl')).length <= before) await sleep(20);
      await sleep(37 * kill);
      if (kill === 1) {
        // Nobody else writes to it meanwhile.
        const over = await place.run(['export', '--output', 'x.jsonl']);
        expect(over.code, over.stderr).toBe(2);
        expect(over.stderr).toContain('follows the crawl that is under way');
      }
      child.kill('SIGKILL');
      expect((await finished).signal).toBe('SIGKILL');
    }
    latencyMs = 0;
    const last = await place.run([...FOLLOW, '--max-concurrency-per-host', '40']);
    expect(last.code, last.stderr).toBe(3);
    const { exports, requests } = JSON.parse(last.stdout) as Summary;
    // A request that was in flight at every kill may have been given up; what succeeded is there, once.
    expect(requests.failed).toBeLessThan(350);
    expect((await place.run(['export', '--output', 'all.jsonl', '--dataset', 'default'])).code).toBe(0);
    const stored = (await read('all.jsonl')).trimEnd().split('\n');
    expect(stored).toHaveLength(3_000);
    const lines = (await read('x.jsonl')).trimEnd().split('\n');
    expect(lines).toHaveLength(requests.succeeded);
    expect(lines).toEqual(stored.filter((line) => line.endsWith('"error":null}')));
    expect(exports).toEqual([join(place.folder, 'x.jsonl'), join(place.folder, 'x.failures.jsonl')]);

    // What had failed was not final: each row comes once, when it is.
    isMended = true;
    const retried = await place.run(['retry-failed', '--output', 'x.jsonl', '--json']);
    expect(retried.code, retried.stderr).toBe(0);
    expect(await idsOf('x.jsonl')).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1));
  }, 120_000);

  test('a file of somebody else is refused before anything is sent', async () => {
    await place.write('urls.txt', urlList(await startServer(), 5));
    await place.write('x.jsonl', 'precious\n');
    const refused = await place.run(FOLLOW);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--force');
    expect(await read('x.jsonl')).toBe('precious\n');
    expect(server?.stats().requests).toBe(0);
  }, 60_000);

  test('an export over it, and a crawl anew, do not lead it astray', async () => {
    await crawlList(9, '--output', 'x.jsonl');
    const first = await idsOf('x.jsonl');
    expect(first).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect((await place.run(['export', '--output', 'x.jsonl', '--limit', '2'])).code).toBe(0);
    expect(await idsOf('x.jsonl')).toHaveLength(2);
    const again = await place.run(['retry-failed', '--output', 'x.jsonl', '--json']);
    expect(again.code, again.stderr).toBe(0);
    expect(await idsOf('x.jsonl')).toEqual(first);
    const anew = await place.run(FOLLOW);
    expect(anew.code, anew.stderr).toBe(0);
    expect(await idsOf('x.jsonl')).toEqual(first);
  }, 60_000);

  test('it holds the dataset that the input names, or the first there is', async () => {
    const url = await startServer();
    await place.write('list.yaml', `startUrls: ['${url}/items/1', '${url}/items/2']\ndataset: goods\n`);
    const list = await place.run(['list.yaml', '--run', 'list', '--output', 'x.jsonl']);
    expect(list.code, list.stderr).toBe(0);
    expect(await idsOf('x.jsonl')).toEqual([1, 2]);

    const resources = '[{name: shops, endpoint: {path: /items/3}}]';
    await place.write('api.yaml', `api: {baseUrl: '${url}', resources: ${resources}}\n`);
    const api = await place.crawl(['api.yaml', '--run', 'api', '--output', 'y.jsonl']);
    expect(api.code, api.stderr).toBe(0);
    expect(api.summary.exports).toEqual([join(place.folder, 'y.jsonl')]);
    expect(JSON.parse(await read('y.jsonl'))).toMatchObject({ id: 3 });
  }, 60_000);

  test('a full disk ends the crawl with one line, and with room again nothing is missing', async ({ skip }) => {
    const small = await smallDisk(place, 1);
    if (small === null) return skip('this user may not mount a small disk');
    const file = join(small, 'x.jsonl');
    await writeFile(join(small, 'ballast'), Buffer.alloc(960 * 1024));
    await place.write('urls.txt', urlList(await startServer(), 2_000));
    const command = ['urls.txt', '--max-retries', '0', '--no-discovery', '--output', file];
    const full = await place.run(command);
    expect(full.code).toBe(1);
    expect(full.stderr).toContain(
      'x.jsonl: the disk is full; every record is kept in the run. Free some space and give the same command again: it goes on where it was',
    );
    await writeFile(join(small, 'ballast'), '');
    const rest = await place.run(command);
    expect(rest.code, rest.stderr).toBe(3);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(new Set(lines).size).toBe(1_800);
    expect(lines).toHaveLength(1_800);
  }, 120_000);
});

/** A disk of so many MB, gone after the test; null where this user may not mount one. */
async function smallDisk({ folder }: Workplace, megabytes: number): Promise<string | null> {
  const mountPoint = `${folder}-small`;
  await mkdir(mountPoint);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mountPoint], { stdio: 'pipe' });
  } catch {
    await rmdir(mountPoint);
    return null;
  }
  onTestFinished(async () => {
    execFileSync('umount', [mountPoint]);
    await rmdir(mountPoint);
  });
  return mountPoint;
}
