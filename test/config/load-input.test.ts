import { describe, expect, test } from 'vitest';
import type { Setting } from '../../src/config/lay-over.ts';
import { loadInput, resumeInput } from '../../src/config/load-input.ts';
import { parseText } from '../../src/config/read-document.ts';
import { UsageError } from '../../src/core/errors.ts';

function problemsOf(text: string, settings: readonly Setting[] = []): readonly string[] {
  try {
    loadInput(parseText(text, 'crawl.yaml'), settings);
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  throw new Error('expected a UsageError');
}

describe('loadInput', () => {
  test('fills in the defaults, keeps the document as written, and freezes both', () => {
    const { input, document } = loadInput(parseText('startUrls: [https://a.b/c]\nexport: {}', 'crawl.yaml'), []);
    expect(input.maxConcurrency).toBe(100);
    expect(input.export.formats).toEqual(['json', 'csv']);
    expect(document).toEqual({ startUrls: ['https://a.b/c'], export: {} });
    expect(Object.isFrozen(input.startUrls)).toBe(true);
    expect(() => Object.assign(input.export, { formats: [] })).toThrow(TypeError);
  });

  test('leaves references unresolved', () => {
    const { input } = loadInput(parseText('headers: {Authorization: "Bearer ${env:TOKEN}"}', 'crawl.yaml'), []);
    expect(input.headers.Authorization).toBe('Bearer ${env:TOKEN}');
  });

  test('reads YAML merge keys and comments, and JSON with a byte order mark', () => {
    const yaml = 'base: &base {maxConcurrency: 2} # shared\nhosts:\n  a.b: {<<: *base, headroom: 0.5}';
    const { value } = parseText(yaml, 'crawl.yaml');
    expect(value).toMatchObject({ hosts: { 'a.b': { maxConcurrency: 2, headroom: 0.5 } } });
    expect(parseText('\uFEFF{"maxConcurrency": 3}', 'INPUT.json').value).toEqual({ maxConcurrency: 3 });
    expect(parseText('', 'empty.yaml').value).toEqual({});
  });

  test('names every unknown key with its place and the nearest known name', () => {
    const text = 'maxConcurancy: 5\nhosts:\n  api.example.com:\n    timeouts: {totalMS: 3}\nqqq: 1';
    expect(problemsOf(text)).toEqual([
      'crawl.yaml:4:16: hosts["api.example.com"].timeouts.totalMS: unknown key. Did you mean totalMs?',
      'crawl.yaml:1:1: maxConcurancy: unknown key. Did you mean maxConcurrency?',
      expect.stringMatching(/^crawl\.yaml:5:1: qqq: unknown key\. Known here: startUrls, urlsFile, /),
    ]);
  });

  test('says where a host setting belongs that stands at the top', () => {
    expect(problemsOf('requestsPerSecond: 5')).toEqual([
      'crawl.yaml:1:1: requestsPerSecond: unknown key. It is a setting of a host: hosts: {default: {requestsPerSecond: ...}}.',
    ]);
  });

  test('says what a value must be and what stands there', () => {
    const text = [
      'maxConcurrency: 0',
      'maxRequestsPerMinute: 1.5',
      'dataset: ""',
      'durability: ful',
      'routes: "yes"',
      'maxFailureShare: 0',
      'method: "G T"',
      'startUrls: 3',
      'headers: {X-Id: 7}',
    ].join('\n');
    expect(problemsOf(text).toSorted()).toEqual(
      [
        'crawl.yaml:1:17: maxConcurrency: must be at least 1, not 0.',
        'crawl.yaml:2:23: maxRequestsPerMinute: must be a whole number, not 1.5.',
        'crawl.yaml:3:10: dataset: must not be empty.',
        'crawl.yaml:4:13: durability: must be normal or full, not "ful". Did you mean full?',
        'crawl.yaml:5:9: routes: must be true or false, not "yes".',
        'crawl.yaml:6:18: maxFailureShare: must be more than 0, not 0.',
        'crawl.yaml:7:9: method: must look like /^[A-Za-z]+$/, not "G T".',
        'crawl.yaml:8:12: startUrls: must be a list, not 3.',
        'crawl.yaml:9:17: headers["X-Id"]: must be text. Put it in quotes.',
      ].toSorted(),
    );
  });

  test('finds the problem within the shape of a start URL that was meant', () => {
    const text = '{"startUrls": ["https://a.b/",\n {"url": "https://a.b/c", "methd": "POST"},\n {"url": ""}, 5, {}]}';
    expect(problemsOf(text)).toEqual([
      'crawl.yaml:2:27: startUrls[1].methd: unknown key. Did you mean method?',
      'crawl.yaml:3:10: startUrls[2].url: must not be empty.',
      'crawl.yaml:3:15: startUrls[3]: must be text or an object with keys, not 5.',
      'crawl.yaml:3:18: startUrls[4].url: is missing: it must be text.',
    ]);
  });

  test('does not repeat what may be a secret', () => {
    const text = 'hosts:\n  a.b:\n    sessionPool: {credentials: [{name: x, headers: {Authorization: [hunter2]}}]}';
    expect(problemsOf(text).join()).toContain('must be text.');
    expect(problemsOf(text).join()).not.toContain('hunter2');
  });

  test('names the option where the command line set the value, in the unit that was typed', () => {
    const settings: Setting[] = [
      { path: ['hosts', '*', 'timeouts', 'totalMs'], value: 100_000_000, name: '--timeout', scale: 1000 },
      { path: ['hosts', '*', 'headroom'], value: 'abc', name: '--headroom' },
      { path: ['maxConcurrency'], value: -1, name: '--max-concurrency' },
    ];
    expect(problemsOf('maxConcurrency: 5\nhosts: {a.b: {headroom: 0.5}}', settings).toSorted()).toEqual([
      '--headroom: must be a number, not "abc".',
      '--max-concurrency: must be at least 1, not -1.',
      '--timeout: must be at most 86400, not 100000.',
    ]);
  });

  test('tells a header of the command line from one of the document', () => {
    const settings: Setting[] = [{ path: ['headers'], value: { Accept: 'x' }, name: '--header' }];
    expect(problemsOf('headers: {X-Id: 7}', settings)).toEqual([
      'crawl.yaml:1:17: headers["X-Id"]: must be text. Put it in quotes.',
    ]);
  });
});

describe('parseText', () => {
  test('gives a syntax error its line and column', () => {
    expect(() => parseText('a: [1, 2\nb: 3', 'crawl.yaml')).toThrow(/^crawl\.yaml:2:\d+: Flow sequence/);
    expect(() => parseText('{"startUrls": ["https://a.b/"}', 'INPUT.json')).toThrow(/^INPUT\.json:1:\d+: /);
  });

  test('gives a key written twice its place', () => {
    expect(() => parseText('method: GET\nmethod: POST', 'crawl.yaml')).toThrow(
      /^crawl\.yaml:2:1: Map keys must be unique/,
    );
  });

  test('says what to write instead of a bare list', () => {
    expect(() => parseText('["https://a.b/"]', 'urls.json')).toThrow(/^urls\.json: an input document is an object/);
  });

  test('refuses a text that is no object with its name', () => {
    expect(problemsOf('just text')).toEqual(['crawl.yaml: must be an object with keys, not "just text".']);
  });
});

describe('resumeInput', () => {
  test('lays the command line over the stored document', () => {
    const settings: Setting[] = [
      { path: ['hosts', '*', 'maxConcurrency'], value: 9, name: '--max-concurrency-per-host' },
    ];
    const stored = { maxConcurrency: 7, hosts: { 'a.b': { maxConcurrency: 2 } } };
    const { input, overrides } = resumeInput(stored, settings);
    expect(input.maxConcurrency).toBe(7);
    expect(input.hosts).toEqual({ 'a.b': {}, default: { maxConcurrency: 9 } });
    expect(overrides).toEqual(settings);
  });

  test('says of a stored document that does not fit any more whose it is', () => {
    expect(() => resumeInput({ gone: 1 }, [])).toThrow(/^the stored input of the run: gone: unknown key/);
  });
});
