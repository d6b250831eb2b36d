import { expect, test } from 'vitest';
import { layOver } from '../../src/config/lay-over.ts';

test('a setting replaces the value of the document, and neither is changed', () => {
  const document = { maxConcurrency: 5, startUrls: ['https://a.b/'] };
  const laid = layOver(document, [{ path: ['maxConcurrency'], value: 7, name: '--max-concurrency' }]);
  expect(laid).toEqual({ maxConcurrency: 7, startUrls: ['https://a.b/'] });
  expect(document.maxConcurrency).toBe(5);
});

test('a setting for every host holds for hosts that the document sets otherwise', () => {
  const document = {
    hosts: {
      'api.example.com': { requestsPerSecond: 50, maxConcurrency: 3, retry: { maxRetries: 1, factor: 3 } },
      '*.example.org': { requestsPerSecond: 5 },
      default: { requestsPerSecond: 2, minDelayMs: 10 },
    },
  };
  const settings = [
    { path: ['hosts', '*', 'requestsPerSecond'], value: 95, name: '--requests-per-second' },
    { path: ['hosts', '*', 'retry', 'maxRetries'], value: 0, name: '--max-retries' },
  ];
  expect(layOver(document, settings)).toEqual({
    hosts: {
      'api.example.com': { maxConcurrency: 3, retry: { factor: 3 } },
      '*.example.org': {},
      default: { requestsPerSecond: 95, minDelayMs: 10, retry: { maxRetries: 0 } },
    },
  });
});

test("a header replaces the document's of the same name in any case, and leaves the others", () => {
  const document = { headers: { ACCEPT: 'text/html', 'X-Id': '1' } };
  const settings = [{ path: ['headers'], value: { accept: 'application/json' }, name: '--header' }];
  expect(layOver(document, settings)).toEqual({ headers: { accept: 'application/json', 'X-Id': '1' } });
});

test('a document whose shape is wrong is left for the schema to refuse', () => {
  const settings = [
    { path: ['hosts', '*', 'headroom'], value: 1, name: '--headroom' },
    { path: ['headers'], value: { a: 'b' }, name: '--header' },
  ];
  expect(layOver({ hosts: 'x', headers: ['y'] }, settings)).toEqual({ hosts: 'x', headers: ['y'] });
  expect(layOver('text', settings)).toBe('text');
});
