import { expect, test } from 'vitest';
import { isOwnHost } from '../../../src/report/live/own-host.ts';

test.each([
  '127.0.0.1:4411',
  '127.0.0.1',
  '[::1]:4411',
  'localhost:4411',
  'LOCALHOST',
  'crawl.localhost:80',
  '10.0.0.7:1',
])('%s names this machine: no web page elsewhere can have that origin', (header) =>
  expect(isOwnHost(header)).toBe(true),
);

test.each([
  undefined,
  '',
  'evil.example',
  'evil.example:4411',
  'localhost.evil.example:4411',
  '127.0.0.1.evil.example',
  'evil.example@127.0.0.1',
  '127.0.0.1/evil.example',
  '127.0.0.1, evil.example',
  'localhost:99999',
])('%s may be pointed here by its owner', (header) => expect(isOwnHost(header)).toBe(false));

test('a name that was configured is asked for by right', () => {
  expect(isOwnHost('crawler.internal:8080', ['crawler.internal'])).toBe(true);
  expect(isOwnHost('other.internal:8080', ['crawler.internal'])).toBe(false);
});
