import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ListFormat } from '../../src/config/crawl-job.ts';
import { loadInput } from '../../src/config/load-input.ts';
import { parseText } from '../../src/config/read-document.ts';
import { EnvironmentError, UsageError } from '../../src/core/errors.ts';
import { openSource } from '../../src/queue/sources/open-source.ts';
import { cases, inTime } from './support/arbitrary.ts';

const KEYS = [
  ...['startUrls', 'maxConcurrency', 'hosts', 'default', 'headers', 'api', 'baseUrl', 'resources', 'name', 'endpoint'],
  ...[
    'path',
    'params',
    'paginator',
    'type',
    'auth',
    'token',
    'export',
    'formats',
    'retry',
    'sessionPool',
    'url',
    '__proto__',
  ],
];
const VALUES = [
  'auto',
  'bearer',
  '$.items[*]',
  '${env:X}',
  '{resources.a.b}',
  'https://x.example',
  '*',
  '/p',
  'cursor',
];
const documentLike = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(...VALUES),
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 3 })), tie('value'), { maxKeys: 4 }),
  ),
})).value;
const yamlLike = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...KEYS,
        ...VALUES,
        ': ',
        '- ',
        '\n',
        '  ',
        '{',
        '}',
        '[',
        ']',
        '&a ',
        '*a',
        '!!js ',
        '<<: ',
        '|',
        '>',
        '"',
        "'",
        '#',
        '%',
        '---\n',
        '\t',
      ),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

describe('an input document of', () => {
  test('any text is read, or every problem is listed', () => {
    fc.assert(fc.property(fc.oneof(yamlLike, fc.string({ unit: 'binary' }), fc.json()), loadsOrTells), {
      numRuns: 300,
    });
  });

  test('the right keys with any values is read, or every problem is listed', () => {
    fc.assert(
      fc.property(documentLike, (value) => loadsOrTells(stringify(value))),
      cases(300),
    );
  });

  test('aliases that multiply is refused, at once', () => {
    const levels = Array.from(
      { length: 30 },
      (_, n) => `a${n}: &a${n} [${n === 0 ? 'x' : `*a${n - 1}, *a${n - 1}, *a${n - 1}`}]`,
    );
    expect(() => inTime(() => loadInput(parseText(levels.join('\n'), 'bomb.yaml'), []))).toThrow(UsageError);
  });

  test('the key __proto__ changes no object', () => {
    for (const text of [
      '__proto__: {polluted: 1}',
      '{"__proto__": {"polluted": 1}}',
      'hosts: {__proto__: {polluted: 1}}',
    ])
      loadsOrTells(text);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

function loadsOrTells(text: string): void {
  try {
    inTime(() => loadInput(parseText(text, 'crawl.yaml'), []));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    for (const problem of error.problems) expect(problem).not.toMatch(/undefined|\[object/);
  }
}

const csvLike = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'url',
        ',',
        ';',
        '\t',
        '"',
        '""',
        '\n',
        '\r\n',
        '\r',
        'https://x.example/1',
        '|',
        ' ',
        '#',
        '\uFEFF',
      ),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => Buffer.from(pieces.join('')));
const anyBytes = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));
const formats = fc.constantFrom<ListFormat>('text', 'csv', 'jsonl', 'auto');

describe('a list of', () => {
  test('any bytes gives requests with http URLs, and a reason for each line that is none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          csvLike,
          anyBytes,
          csvLike.map((bytes) => gzipSync(bytes)),
        ),
        formats,
        readsOrTells,
      ),
      cases(300),
    );
  });

  test('a gzip file that is cut off is an error that names it', async () => {
    const packed = gzipSync(Buffer.from('https://x.example/1\n'.repeat(5_000)));
    await expect(read(packed.subarray(0, packed.length - 9), 'text')).rejects.toThrow(EnvironmentError);
  });
});

async function readsOrTells(bytes: Buffer, format: ListFormat): Promise<void> {
  try {
    const { urls, lines, malformed } = await read(bytes, format);
    for (const url of urls) expect(new URL(url).protocol).toMatch(/^https?:$/);
    expect(urls.length + malformed).toBe(lines);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof EnvironmentError)) throw error;
  }
}

async function read(bytes: Buffer, format: ListFormat): Promise<{ urls: string[]; lines: number; malformed: number }> {
  const reasons: string[] = [];
  const source = openSource(
    { kind: 'stdin', format, urlColumn: null },
    {
      defaults: { method: 'GET', body: null },
      stdin: Readable.from(bytes.length === 0 ? [] : [bytes]),
      onMalformed: ({ reason }) => reasons.push(reason),
    },
  );
  const urls: string[] = [];
  let lines = 0;
  for await (const batch of source.batches()) {
    urls.push(...batch.items.map(({ request }) => request.url));
    lines += batch.lines;
  }
  expect(reasons.every((reason) => reason !== '')).toBe(true);
  return { urls, lines, malformed: reasons.length };
}
