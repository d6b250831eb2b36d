import { expect, test } from 'vitest';
import { type HostCeiling, theoreticalRps } from '../../src/report/theoretical.ts';

const host = (changes: Partial<HostCeiling>): HostCeiling => ({
  limitRps: null,
  concurrency: 10,
  latencyMs: 100,
  workShare: 1,
  requests: 100,
  ...changes,
});

test('a host allows its concurrency over its latency', () => {
  expect(theoreticalRps([host({})], 1_000)).toBe(100);
});

test('its limit is the lower one', () => {
  expect(theoreticalRps([host({ limitRps: 30 })], 1_000)).toBe(30);
  expect(theoreticalRps([host({ limitRps: 300 })], 1_000)).toBe(100);
});

test('hosts add up, each for the share of the run in which it had work', () => {
  expect(theoreticalRps([host({}), host({ limitRps: 40, workShare: 0.5 })], 1_000)).toBe(120);
});

test('the crawl’s own concurrency over the mean latency caps the sum, hosts weighed by their requests', () => {
  const hosts = [host({ latencyMs: 100, requests: 300 }), host({ latencyMs: 500, requests: 100 })];
  expect(theoreticalRps(hosts, 12)).toBe((12 * 1_000) / 200);
});

test('a host with a limit but no latency counts with its limit, one with neither not at all', () => {
  expect(theoreticalRps([host({ latencyMs: null, limitRps: 7 }), host({ latencyMs: null })], 100)).toBe(7);
  expect(theoreticalRps([host({ latencyMs: null })], 100)).toBeNull();
  expect(theoreticalRps([], 100)).toBeNull();
});
