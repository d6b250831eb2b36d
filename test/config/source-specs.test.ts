import { expect, test } from 'vitest';
import { inputSchema } from '../../src/config/input-schema.ts';
import { documentSources, isDocumentName, listFileSpec } from '../../src/config/source-specs.ts';

test.each([
  ['urls.txt', 'text'],
  ['urls.txt.gz', 'text'],
  ['urls.CSV', 'csv'],
  ['urls.tsv', 'csv'],
  ['urls.jsonl', 'jsonl'],
  ['urls.ndjson.gz', 'jsonl'],
  ['urls', 'auto'],
  ['urls.list', 'auto'],
  ['urls.gz', 'auto'],
])('the name of %s says that it is %s', (path, format) => {
  expect(listFileSpec({ path, name: path, urlColumn: null }).format).toBe(format);
});

test('a document is told by its name', () => {
  expect(['a.json', 'a.yaml', 'a.YML'].every(isDocumentName)).toBe(true);
  expect(['a.jsonl', 'a.txt', 'json', 'a.json.gz'].some(isDocumentName)).toBe(false);
});

test('a document names start URLs first, then the file, relative to its folder', () => {
  const startUrls = ['https://a.b/1', { url: 'https://a.b/2', method: 'POST' }];
  const input = inputSchema.parse({ startUrls, urlsFile: 'lists/urls.csv', urlColumn: 'link' });
  expect(documentSources(input, { name: 'crawl.yaml', baseDir: '/data' })).toEqual([
    {
      kind: 'requests',
      name: 'startUrls of crawl.yaml',
      requests: [{ url: 'https://a.b/1' }, { url: 'https://a.b/2', method: 'POST' }],
    },
    { kind: 'file', path: '/data/lists/urls.csv', name: 'lists/urls.csv', format: 'csv', urlColumn: 'link' },
  ]);
  expect(documentSources(inputSchema.parse({}), { name: 'x', baseDir: '/' })).toEqual([]);
});
