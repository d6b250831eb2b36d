import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { urlList, Workplace } from './millrace.ts';

vi.setConfig({ testTimeout: 120_000 });

const QUICK = ['--max-retries', '0', '--no-discovery', '--ignore-robots'];

let place: Workplace;
let server: FixtureServer;
let latencyMs = 0;
let isMended = false;

beforeEach(async () => {
  latencyMs = 0;
  isMended = false;
  place = await Workplace.open();
  // Ids that end in 0 fail until they are mended.
  server = await serve(({ path }) => {
    const id = Number(path.split('/').at(-1));
    const isBroken = !isMended && id % 10 === 0;
    return { status: isBroken ? 500 : 200, afterMs: latencyMs, body: isBroken ? '{}' : `{"id":${id}}` };
  });
});

afterEach(async () => {
  await server.close();
  await place.remove();
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const read = (name: string): Promise<string> => readFile(join(place.folder, name), 'utf8');
const linesOf = async (name: string): Promise<string[]> => (await read(name)).trimEnd().split('\n');

async function idsInLines(name: string): Promise<number[]> {
  const rows = (await linesOf(name)).map((line) => JSON.parse(line) as { data: { id: number } });
  return rows.map(({ data }) => data.id).sort((a, b) => a - b);
}

async function idsInCsv(name: string, delimiter = ','): Promise<number[]> {
  const [head = '', ...rows] = await linesOf(name);
  const column = head.split(delimiter).indexOf('data.id');
  expect(column, head).toBeGreaterThan(0);
  return rows.map((row) => Number(row.split(delimiter)[column])).sort((a, b) => a - b);
}

/** The command after "Go on: ", as arguments. */
function advised(stderr: string): string[] {
  const command = /Go on: millrace (.+)$/m.exec(stderr)?.[1];
  if (command === undefined) throw new Error(`No advice in:\n${stderr}`);
  return command.trim().split(' ');
}

/** Crawls until some requests have been answered, then interrupts. */
async function interrupt(args: readonly string[], count: number) {
  latencyMs = 100;
  isMended = true;
  await place.write('f8.txt', urlList(server.url, count));
  const { child, finished } = place.start(['f8.txt', ...QUICK, '--max-concurrency-per-host', '5', ...args]);
  while (server.stats().requests < 20) await sleep(20);
  child.kill('SIGINT');
  const stopped = await finished;
  expect(stopped.code, stopped.stderr).toBe(130);
  latencyMs = 0;
  return stopped;
}

describe('a run that is resumed', () => {
  test('by the advised command ends with the files it was begun with', async () => {
    const outputs = ['--output', 'f8.csv', '--output', 'f8.jsonl', '--csv-delimiter', ';'];
    const { stderr } = await interrupt(['--run', 'f8', '--storage-dir', 'my-store', ...outputs], 300);
    expect(advised(stderr)).toEqual(['crawl', '--run', 'f8', '--storage-dir', 'my-store']);
    expect(existsSync(join(place.folder, 'f8.csv'))).toBe(false);
    expect((await idsInLines('f8.jsonl')).length).toBeLessThan(300);

    const { code, stderr: said, summary } = await place.crawl(advised(stderr));
    expect(code, said).toBe(0);
    expect(summary.exports.sort()).toEqual([join(place.folder, 'f8.csv'), join(place.folder, 'f8.jsonl')]);
    expect(await idsInLines('f8.jsonl')).toEqual(upTo(300));
    expect(await idsInCsv('f8.csv', ';')).toEqual(upTo(300));
    expect(existsSync(join(place.folder, 'my-store/runs/f8/exports'))).toBe(false);
  });

  test('by its input without --output does so too', async () => {
    await interrupt(['--output', 'f8.csv'], 100);
    const { code, stderr } = await place.run(['f8.txt', ...QUICK]);
    expect(code, stderr).toBe(0);
    expect(await idsInCsv('f8.csv')).toEqual(upTo(100));
  });

  test('with --output writes that instead, and remembers it from then on', async () => {
    await interrupt(['--output', 'old.csv'], 100);
    const resumed = await place.crawl(['crawl', '--run', 'default', '--output', 'new.csv']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.summary.exports).toEqual([join(place.folder, 'new.csv')]);
    const anew = await place.crawl(['crawl', '--run', 'default']);
    expect(anew.code, anew.stderr).toBe(0);
    expect(anew.summary.exports).toEqual([join(place.folder, 'new.csv')]);
    expect(await idsInCsv('new.csv')).toEqual(upTo(100));
    expect(existsSync(join(place.folder, 'old.csv'))).toBe(false);
  });

  test('with --no-export writes none, and still knows them', async () => {
    await interrupt(['--output', 'f8.csv', '--output', 'f8.jsonl'], 100);
    const before = await read('f8.jsonl');
    const silent = await place.crawl(['crawl', '--run', 'default', '--no-export']);
    expect(silent.code, silent.stderr).toBe(0);
    expect(silent.summary.exports).toEqual([]);
    expect(await read('f8.jsonl')).toBe(before);
    const retried = await place.run(['retry-failed']);
    expect(retried.code, retried.stderr).toBe(0);
    expect(await idsInLines('f8.jsonl')).toEqual(upTo(100));
    expect(await idsInCsv('f8.csv')).toEqual(upTo(100));
  });

  test('refuses, before it asks for anything, a file that somebody has put there since', async () => {
    await interrupt(['--output', 'f8.csv'], 100);
    const asked = server.stats().requests;
    await place.write('f8.csv', 'precious\n');
    const refused = await place.run(['crawl', '--run', 'default']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('f8.csv" is there already');
    expect(await read('f8.csv')).toBe('precious\n');
    expect(server.stats().requests).toBe(asked);
    const forced = await place.run(['crawl', '--run', 'default', '--force']);
    expect(forced.code, forced.stderr).toBe(0);
    expect(await idsInCsv('f8.csv')).toEqual(upTo(100));
  });

  test('replaces a file that --force gave it to replace', async () => {
    await place.write('f8.csv', 'of last month\n');
    await interrupt(['--output', 'f8.csv', '--force'], 100);
    expect(await read('f8.csv')).toBe('of last month\n');
    const resumed = await place.run(['crawl', '--run', 'default']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(await idsInCsv('f8.csv')).toEqual(upTo(100));
  });
});

describe('retry-failed', () => {
  test('brings the files of the crawl up to date, a followed one by each later row once', async () => {
    await place.write('fx.txt', urlList(server.url, 50));
    const outputs = ['--output', 'fx.csv', '--output', 'fx.jsonl'];
    const first = await place.run(['fx.txt', '--run', 'fx', ...QUICK, ...outputs]);
    expect(first.code, first.stderr).toBe(3);
    expect(await linesOf('fx.failures.csv')).toHaveLength(6);
    const before = await linesOf('fx.jsonl');
    expect(before).toHaveLength(45);

    isMended = true;
    const { code, stderr, stdout } = await place.run(['retry-failed', '--run', 'fx', '--json']);
    expect(code, stderr).toBe(0);
    expect(await idsInCsv('fx.csv')).toEqual(upTo(50));
    expect((await linesOf('fx.failures.csv')).slice(1)).toEqual([]);
    expect((await linesOf('fx.jsonl')).slice(0, 45)).toEqual(before);
    expect(await idsInLines('fx.jsonl')).toEqual(upTo(50));
    expect((JSON.parse(stdout) as Summary).exports.sort()).toEqual(
      ['fx.csv', 'fx.failures.csv', 'fx.failures.jsonl', 'fx.jsonl'].map((name) => join(place.folder, name)),
    );
    expect(existsSync(join(place.storage, 'runs/fx/exports'))).toBe(false);
  });

  test('is advised with the run and the folder that were typed, and alone for the default run', async () => {
    await place.write('fx.txt', urlList(server.url, 10));
    const named = await place.run(['fx.txt', '--run', 'fx', '--storage-dir', 'my-store', ...QUICK]);
    expect(named.code, named.stderr).toBe(3);
    const advice = 'The server may be back by now: run `millrace retry-failed --run fx --storage-dir my-store`. ';
    expect(named.stderr.replaceAll(/\s+/g, ' ')).toContain(advice);
    const status = await place.crawl(['status', '--run', 'fx', '--storage-dir', 'my-store']);
    expect(status.summary.failures[0]?.advice).toContain(advice);
    const page = await readFile(join(place.folder, 'my-store/runs/fx/report.html'), 'utf8');
    expect(page).toContain('run <code>millrace retry-failed --run fx --storage-dir my-store</code>.');

    const plain = await place.crawl(['fx.txt', ...QUICK]);
    expect(plain.summary.failures[0]?.advice).toContain('The server may be back by now: run retry-failed. ');
  });
});
