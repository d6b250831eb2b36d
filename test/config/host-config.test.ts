import { expect, test } from 'vitest';
import { hostConfig, matchesHost } from '../../src/config/host-config.ts';

const ENTRIES = {
  default: { maxConcurrency: 10, timeouts: { totalMs: 1_000, connectMs: 500 } },
  '*.example.com': { maxConcurrency: 20, minDelayMs: 5, timeouts: { totalMs: 2_000 } },
  'api.*.example.com': { minDelayMs: 7 },
  'API.v1.example.com': { maxConcurrency: 30, timeouts: { idleMs: 9 } },
};

test('an exact host stands before patterns, the longest of those first, before default, key by key', () => {
  const config = hostConfig(ENTRIES, 'api.v1.example.com');
  expect(config).toMatchObject({ maxConcurrency: 30, minDelayMs: 7, headroom: 0.8 });
  expect(config.timeouts).toMatchObject({ idleMs: 9, totalMs: 2_000, connectMs: 500, firstByteMs: 30_000 });
});

test('a host that nothing names has the default entry over the schema', () => {
  expect(hostConfig(ENTRIES, 'other.org')).toMatchObject({ maxConcurrency: 10, minDelayMs: 0 });
  expect(hostConfig({}, 'other.org')).toMatchObject({ maxConcurrency: 50, requestsPerSecond: null });
});

test.each([
  ['*.example.com', 'a.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.example.com', 'a.example.com.evil.org', false],
  ['*.EXAMPLE.com', 'a.example.com', true],
  ['api-*', 'api-7.example.com:8080', true],
  ['a.b', 'axb', false],
  ['*', 'anything', true],
])('%s matches %s: %s', (pattern, host, expected) => {
  expect(matchesHost(pattern, host)).toBe(expected);
});
