import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyFolder, messages, run } from './run-millrace.ts';

/** Runs in a folder with these files; asserts that it is bad usage and that nothing was started. */
async function problems(args: readonly string[], files: Record<string, string> = {}, env = {}): Promise<string[]> {
  const cwd = emptyFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(cwd, name, '..'), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  const ended = await run(args, { cwd, env });
  expect(ended.stdout).toBe('');
  expect(ended.code, ended.stderr).toBe(2);
  expect(existsSync(join(cwd, 'storage/runs')), 'a run was begun').toBe(false);
  return messages(ended);
}

describe('help and version', () => {
  test('--help names the commands on stdout and ends with 0', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of ['crawl', 'export', 'status', 'practice-api']) expect(stdout).toContain(`\n  ${command} `);
  });

  test.each([
    ['crawl', '--help'],
    ['help', 'crawl'],
    ['crawl', 'urls.txt', '-h'],
  ])('%s %s shows the options', async (...args) => {
    const { code, stdout } = await run(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/--max-concurrency <count> +Most requests in flight over all hosts \(default: 100\)\n/);
    expect(stdout).toContain('(default: 60)');
  });

  test('--help loads neither zod nor the crawler', async () => {
    const env = { NODE_DEBUG: 'esm' };
    const { stderr } = await run(['crawl', '--help'], { env });
    expect(stderr).toContain('commander');
    expect(stderr).not.toMatch(/node_modules\/(zod|@crawlee|undici|yaml)\//);
  });

  test('--version is that of package.json', async () => {
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('an unknown command of help is told with the nearest', async () => {
    expect(messages(await run(['help', 'exprt']))).toEqual([
      expect.stringMatching(
        /^There is no command exprt\. Did you mean export\? There are crawl, export, .*practice-api\.$/,
      ),
    ]);
  });
});

describe('wrong options', () => {
  test('are all listed, each with the nearest known one', async () => {
    expect(
      await problems([
        'https://a.b/',
        '--max-concurency=5',
        '--frsh',
        '--fresh=yes',
        '--zzz',
        '--log-format',
        'jsn',
        '--run',
      ]),
    ).toEqual([
      'Unknown option --max-concurency. Did you mean --max-concurrency? See millrace crawl --help.',
      'Unknown option --frsh. Did you mean --fresh? See millrace crawl --help.',
      '--fresh takes no value.',
      'Unknown option --zzz. See millrace crawl --help.',
      '--log-format must be pretty or json, not "jsn". Did you mean json?',
      '--run needs a value: --run <name>.',
    ]);
  });

  test('of another command are told whose they are', async () => {
    expect(await problems(['status', '--max-retries', '3'])).toEqual([
      expect.stringMatching(
        /^Unknown option --max-retries\. It is an option of millrace crawl.*\. See millrace status --help\.$/,
      ),
    ]);
  });

  test('that take the next option for their value are noticed', async () => {
    expect(await problems(['https://a.b/', '--run', '--fresh'])).toEqual([
      '--run needs a value, and what follows is --fresh: --run <name>.',
    ]);
  });

  test('with values out of range are told in the unit that was typed', async () => {
    const args = [
      'https://a.b/',
      '--max-concurrency',
      '0',
      '--timeout',
      '100000',
      '--headroom',
      'x',
      '--max-retries',
      '-1',
    ];
    expect((await problems(args)).toSorted()).toEqual([
      '--headroom: must be a number, not "x".',
      '--max-concurrency: must be at least 1, not 0.',
      '--max-retries: must be at least 0, not -1.',
      '--timeout: must be at most 86400, not 100000.',
    ]);
  });

  test('of the job are told together: run name, output, header, input', async () => {
    const args = [
      'none.txt',
      '--run',
      '../x',
      '--output',
      'x.xls',
      '--output',
      'a.csv',
      '--output',
      './a.csv',
      '--header',
      'Accept json',
    ];
    expect(await problems(args)).toEqual([
      '--run: "../x" cannot be the name of a run. Use letters, digits, ".", "_" and "-", a letter or digit first, 100 at most.',
      '--output: x.xls must end in .json, .jsonl, .ndjson, .csv (each also with .gz) or .parquet.',
      '--output: ./a.csv is named twice.',
      '--header "Accept ..." must be "Name: value", for example "Accept: application/json".',
      'none.txt: there is no such file.',
    ]);
  });

  test('of export are told together', async () => {
    const args = ['--format', 'xls', '--output', 'a.b', '--limit', '-1', '--fields', ',', '--csv-delimiter', 'x'];
    expect(await problems(['export', ...args])).toEqual([
      '--format: Unknown format "xls": use json, jsonl, ndjson, csv, parquet.',
      '--fields: name at least one column, id,brand.name for example.',
      '--limit: must be a number of rows, not "-1".',
      'CSV delimiter "x": use one character such as , ; | or a tab',
    ]);
    expect(await problems(['export', '--output', '-', '--output', 'a.parquet.gz', '--output', 'b'])).toEqual([
      '--output: - has no name that tells the format: add --format, csv for example.',
      '--output: "a.parquet.gz": Parquet is compressed within; name it .parquet.',
      '--output: b must end in .json, .jsonl, .ndjson, .csv (each also with .gz) or .parquet.',
    ]);
    const toStdout = ['export', '--output', '-', '--format', 'csv', '--json', '--dataset', 'a', '--dataset', 'b'];
    expect(await problems(toStdout)).toEqual([
      '--json and --output -: both would write to stdout, give one of them.',
      '--output -: one dataset fits on stdout, not a and b.',
    ]);
    expect(await problems(['https://a.b/', '--output', '-'])).toEqual([
      '--output: - is not possible here: name a file, and see millrace export for standard output.',
    ]);
  });

  test('that contradict each other are refused', async () => {
    const args = ['https://a.b/', '--no-export', '--output', 'a.csv', '--quiet', '--verbose', '--body', 'x'];
    expect(await problems(args)).toEqual([
      '--no-export and --output: give one of them.',
      '--quiet and --verbose: give one of them.',
      '--body: a GET request carries none. Add --method POST.',
    ]);
  });

  test('other commands take no INPUT', async () => {
    expect(await problems(['status', 'urls.txt'])).toEqual([
      'millrace status takes options only, not urls.txt. See millrace status --help.',
    ]);
  });
});

describe('wrong input', () => {
  test.each([
    [
      'a mistyped command',
      'statsu',
      'statsu: there is no such file, nor such a command. Did you mean status? See millrace --help.',
    ],
    ['a mistyped file', 'url.txt', 'url.txt: there is no such file. Did you mean urls.txt?'],
    [
      'a URL without its scheme',
      'api.example.com/x',
      'api.example.com/x: there is no such file. For a URL write it whole: https://api.example.com/x',
    ],
    ['a URL of another scheme', 'ftp://a.b/', 'ftp://a.b/: only http and https URLs can be crawled.'],
    ['a URL that is none', 'http://a b', 'http://a b: this is not a URL that can be read.'],
    ['a folder', '.', '.: it is a folder, not a file.'],
  ])('%s', async (_, input, expected) => {
    expect(await problems([input], { 'urls.txt': 'https://a.b/' })).toEqual([expected]);
  });

  test('an unreadable file', async () => {
    expect(await problems(['--input', 'lists/crawl.yaml'], {})).toEqual([
      '--input: lists/crawl.yaml: there is no such file.',
    ]);
  });

  test('a list without a URL says what it has instead', async () => {
    expect(await problems(['urls.txt'], { 'urls.txt': '\n# none\nexample\n' })).toEqual([
      'urls.txt has no URL that can be crawled. Malformed: line 3: example is not an absolute URL.',
    ]);
  });

  test('a CSV without the column names those there are', async () => {
    expect(await problems(['a.csv', '--url-column', 'lnk'], { 'a.csv': 'id,link\n1,https://a.b/\n' })).toEqual([
      'a.csv has no column "lnk". Did you mean link? Its columns: id, link.',
    ]);
  });

  test('an input document with unknown keys, with file, line and column', async () => {
    const yaml = 'startUrls: [https://a.b/]\nmaxConcurency: 5\nhosts:\n  a.b: {requestPerSecond: 5}\n';
    expect(await problems(['crawl.yaml'], { 'crawl.yaml': yaml })).toEqual([
      'crawl.yaml:4:9: hosts["a.b"].requestPerSecond: unknown key. Did you mean requestsPerSecond?',
      'crawl.yaml:2:1: maxConcurency: unknown key. Did you mean maxConcurrency?',
    ]);
  });

  test('an input document that names nothing to crawl', async () => {
    expect(await problems(['crawl.yaml'], { 'crawl.yaml': 'maxConcurrency: 5\n' })).toEqual([
      'crawl.yaml names nothing to crawl: add startUrls, urlsFile, api, or routes: true.',
    ]);
  });

  test('two input documents', async () => {
    const files = { 'a.yaml': 'routes: true', 'b.json': '{"routes": true}' };
    expect(await problems(['a.yaml', '--input', 'b.json'], files)).toEqual([
      'Give one input document, not 2: b.json, a.yaml.',
    ]);
  });

  test('a list where the input document should be', async () => {
    expect(await problems(['--input', 'urls.txt'], { 'urls.txt': 'https://a.b/' })).toEqual([
      '--input: urls.txt must be a .yaml or .json document. A list of URLs is given without --input.',
    ]);
  });

  test('a missing environment variable is named with the key that refers to it', async () => {
    const yaml = 'startUrls: [https://a.b/]\nheaders: {Authorization: "Bearer ${env:MILLRACE_TEST_NONE}"}\n';
    const [problem] = await problems(['crawl.yaml'], { 'crawl.yaml': yaml });
    expect(problem).toContain('headers.Authorization');
    expect(problem).toContain('MILLRACE_TEST_NONE is not set');
  });

  test('a run to go on with that is not there', async () => {
    const [problem] = await problems(['--run', 'nightly']);
    expect(problem).toMatch(
      /^--run nightly: there is no such run in .*storage\/runs to go on with\. To start it, say what to crawl/,
    );
  });

  // Without any argument the first is an Actor, which says so itself.
  test.each([{ APIFY_IS_AT_HOME: '1' }, { MILLRACE_CONTAINER: '1' }])('no input at all, with %o', async (env) => {
    const [problem] = await problems(['crawl'], {}, env);
    expect(problem).toMatch(
      /^There is nothing to crawl: give a URL.*storage\/key_value_stores\/default\/INPUT\.json\.$/,
    );
  });

  test('INPUT.json is the input where nothing is given, and its problems have its place', async () => {
    const file = 'storage/key_value_stores/default/INPUT.json';
    expect(await problems([], { [file]: '{"maxConcurrency": 0}' }, { MILLRACE_CONTAINER: '1' })).toEqual([
      `${file}:1:20: maxConcurrency: must be at least 1, not 0.`,
    ]);
  });
});
