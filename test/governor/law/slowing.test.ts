import { expect, test } from 'vitest';
import { hasSlowed } from '../../../src/governor/law/slowing.ts';

const slow = { meanMs: 80, leastMs: 30 };

test('fewer answers that take longer each are a server that slows', () => {
  expect(hasSlowed({ goodput: 74, expected: 100, latency: slow })).toBe(true);
  expect(hasSlowed({ goodput: 76, expected: 100, latency: slow })).toBe(false);
  expect(hasSlowed({ goodput: 50, expected: 100, latency: { meanMs: 74, leastMs: 30 } })).toBe(false);
});

test('of a few answers a second, some fewer are chance', () => {
  expect(hasSlowed({ goodput: 4, expected: 6, latency: slow })).toBe(false);
  expect(hasSlowed({ goodput: 8, expected: 16, latency: slow })).toBe(false);
  expect(hasSlowed({ goodput: 7, expected: 16, latency: slow })).toBe(true);
});
