import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';
import { crawlJob } from '../../src/cli/crawl-job.ts';
import { exportJob } from '../../src/cli/export.ts';
import { OPTIONS } from '../../src/cli/options.ts';
import { practiceApiJob } from '../../src/cli/practice-api.ts';
import { hostConfig } from '../../src/config/host-config.ts';
import { emptyFolder } from './run-millrace.ts';

const job = (
  argv: readonly string[],
  { cwd = '/work dir', env = {} }: { cwd?: string; env?: Record<string, string> } = {},
) => crawlJob(parseArguments('crawl', argv), { cwd, env });

function folderWith(files: Record<string, string>): string {
  const cwd = emptyFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(cwd, name, '..'), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  return cwd;
}

describe('the job of crawl', () => {
  test('has the defaults of the schema where nothing is said', async () => {
    expect(await job(['https://a.b/'])).toMatchObject({
      source: 'given',
      inputs: [{ kind: 'requests', name: 'the command line', requests: [{ url: 'https://a.b/' }] }],
      input: { method: 'GET', maxConcurrency: 100, durability: 'normal' },
      document: {},
      overrides: [],
      run: 'default',
      runGiven: false,
      storageDir: '/work dir/storage',
      baseDir: '/work dir',
      fresh: false,
      join: false,
      outputs: [],
      exportAtEnd: true,
      force: false,
      json: false,
      progress: 'auto',
      quiet: false,
    });
  });

  test('keeps how the place of the run was typed, but for the URL of a database', async () => {
    expect(await job(['https://a.b/'], { env: { CRAWLEE_STORAGE_DIR: 'data' } })).not.toHaveProperty('typedPlace');
    const made = await job([
      'https://a.b/',
      '--storage-dir',
      'my data',
      '--database',
      'postgres://me:secret@db/crawls',
    ]);
    expect(made).toMatchObject({ typedPlace: " --storage-dir 'my data' --database URL" });
  });

  test('takes every option to the key it sets', async () => {
    const argv =
      '--run nightly --storage-dir data --fresh --durability full --max-concurrency 7 --max-concurrency-per-host 3 ' +
      '--max-requests-per-minute 600 --requests-per-second 2.5 --headroom 0.9 --no-discovery --max-retries 0 --timeout 1.5 ' +
      '--max-wait 30 --max-requests 1000 --http-client got-scraping --no-http2 --method POST --body {} --contact me@a.b ' +
      '--ignore-robots --url-column link --dataset items --output out/a.csv.gz --output b.ndjson --csv-delimiter ; --csv-bom --force --json --quiet';
    const made = await job(['https://a.b/', ...argv.split(' '), '--header', 'X-Id: a: b', '--header', 'Accept:*/*']);
    expect(made).toMatchObject({
      run: 'nightly',
      runGiven: true,
      storageDir: '/work dir/data',
      fresh: true,
      outputs: [
        { path: '/work dir/out/a.csv.gz', format: 'csv', gzip: true },
        { path: '/work dir/b.ndjson', format: 'ndjson', gzip: false },
      ],
      csv: { delimiter: ';', bom: true },
      force: true,
      json: true,
      progress: 'off',
      quiet: true,
      input: {
        durability: 'full',
        maxConcurrency: 7,
        maxRequestsPerMinute: 600,
        maxRequestsPerCrawl: 1000,
        maxWaitSecs: 30,
        httpClient: 'got-scraping',
        method: 'POST',
        body: '{}',
        contact: 'me@a.b',
        urlColumn: 'link',
        dataset: 'items',
        headers: { 'X-Id': 'a: b', Accept: '*/*' },
      },
    });
    expect(hostConfig(made.input.hosts, 'any.host')).toMatchObject({
      maxConcurrency: 3,
      requestsPerSecond: 2.5,
      headroom: 0.9,
      discovery: 'off',
      http2: 'off',
      robots: 'ignore',
      retry: { maxRetries: 0 },
      timeouts: { totalMs: 1_500, connectMs: 10_000 },
    });
    expect(Object.isFrozen(made.input.hosts)).toBe(true);
  });

  test('lays the command line over the document, for every host', async () => {
    const cwd = folderWith({
      'in/crawl.yaml':
        'startUrls: [https://a.b/]\nurlsFile: urls.csv\nhosts: {a.b: {requestsPerSecond: 50, minDelayMs: 9}}',
    });
    const made = await job(['in/crawl.yaml', 'https://a.b/first', '--requests-per-second', '95'], { cwd });
    expect(hostConfig(made.input.hosts, 'a.b')).toMatchObject({ requestsPerSecond: 95, minDelayMs: 9 });
    expect(made.baseDir).toBe(join(cwd, 'in'));
    expect(made.inputs).toEqual([
      { kind: 'requests', name: 'the command line', requests: [{ url: 'https://a.b/first' }] },
      { kind: 'requests', name: 'startUrls of in/crawl.yaml', requests: [{ url: 'https://a.b/' }] },
      { kind: 'file', path: join(cwd, 'in/urls.csv'), name: 'urls.csv', format: 'csv', urlColumn: null },
    ]);
  });

  test('tells files, standard input and URLs apart, and takes them in order', async () => {
    const cwd = folderWith({ 'a.txt': '', 'b.jsonl': '' });
    const { inputs } = await job(['b.jsonl', '-', './a.txt', 'HTTP://A.b'], { cwd });
    expect(inputs.map((spec) => (spec.kind === 'file' ? `${spec.name} ${spec.format}` : spec.kind))).toEqual([
      'requests',
      'b.jsonl jsonl',
      'stdin',
      'a.txt text',
    ]);
  });

  test('without INPUT is INPUT.json, whose paths start from the working directory', async () => {
    const cwd = folderWith({ 'data/key_value_stores/default/INPUT.json': '{"urlsFile": "urls.txt"}' });
    expect(await job([], { cwd, env: { CRAWLEE_STORAGE_DIR: 'data' } })).toMatchObject({
      source: 'given',
      storageDir: join(cwd, 'data'),
      baseDir: cwd,
      inputs: [{ path: join(cwd, 'urls.txt') }],
    });
  });

  test('with --run alone resumes a run that is there, before INPUT.json, and keeps what the command line sets', async () => {
    const cwd = folderWith({
      'storage/runs/a/x': '',
      'storage/key_value_stores/default/INPUT.json': '{"routes": true}',
    });
    expect(await job(['--run', 'a', '--max-concurrency', '3'], { cwd })).toMatchObject({
      source: 'resume',
      run: 'a',
      inputs: [],
      overrides: [{ path: ['maxConcurrency'], value: 3, name: '--max-concurrency' }],
    });
    expect(await job(['--run', 'b'], { cwd })).toMatchObject({ source: 'given', run: 'b', input: { routes: true } });
  });

  test('without anything is the routes', async () => {
    expect(await job([], { cwd: emptyFolder() })).toMatchObject({ source: 'routes', inputs: [], runGiven: false });
  });
});

test('the job of export names datasets, files, columns and how they are written', async () => {
  const argv = [
    ...['--run', 'a', '--dataset', 'x', '--dataset', 'y', '--output', 'x.json', '--output', 'y.parquet', '--force'],
    ...['--json', '--fields', 'id,brand.name', '--limit', '10', '--csv-delimiter', '\\t', '--csv-bom'],
    ...['--csv-line-ending', 'crlf', '--csv-escape-formulas', '--quiet'],
  ];
  expect(await exportJob(parseArguments('export', argv), { cwd: '/w', env: {} })).toEqual({
    run: 'a',
    storageDir: '/w/storage',
    datasets: ['x', 'y'],
    outputs: [
      { path: '/w/x.json', format: 'json', gzip: false },
      { path: '/w/y.parquet', format: 'parquet', gzip: false },
    ],
    format: null,
    fields: ['id', 'brand.name'],
    limit: 10,
    csv: { delimiter: '\t', bom: true, lineEnding: 'crlf', escapeFormulas: true },
    force: true,
    json: true,
    progress: 'off',
  });
  expect(await exportJob(parseArguments('export', []), { cwd: '/w', env: {} })).toMatchObject({
    datasets: null,
    outputs: [],
    format: null,
    fields: null,
    limit: null,
    csv: {},
    progress: 'auto',
  });
  const toStdout = parseArguments('export', ['--output', '-', '--format', 'csv.gz']);
  expect(await exportJob(toStdout, { cwd: '/w', env: {} })).toMatchObject({
    outputs: [{ path: '-', format: 'csv', gzip: true }],
    format: { format: 'csv', gzip: true },
  });
});

test('the job of practice-api has the ranges of its schema', () => {
  const argv = '--port 0 --items 5 --latency-ms 1 --error-rate 0.5 --rate-limit 9'.split(' ');
  const expected = { port: 0, items: 5, latencyMs: 1, errorRate: 0.5, rateLimit: 9 };
  expect(practiceApiJob(parseArguments('practice-api', argv))).toEqual(expected);
  expect(() => practiceApiJob(parseArguments('practice-api', ['--error-rate', '2', '--port', 'x']))).toThrow(
    '--port: must be a number, not "x".\n--error-rate: must be at most 1, not 2.',
  );
});

test('every option is in one of the groups of its command, says what it does, and is named once', () => {
  for (const options of Object.values(OPTIONS)) {
    const names = options.map(({ flags }) => flags.split(' ')[0]);
    expect(new Set(names).size).toBe(names.length);
    for (const { help, path, group } of options) expect(Boolean(help ?? path) && group.endsWith(':')).toBe(true);
  }
});
