import { expect, test } from 'vitest';
import { ceilingPacer, Pacer } from '../../src/governor/pacer.ts';

test('spaces sends evenly and lets none go early', () => {
  const pacer = new Pacer(100);
  pacer.take(0);
  expect(pacer.readyAtMs).toBeGreaterThan(0);
  pacer.take(100);
  expect(pacer.readyAtMs).toBe(200);
});

test('a send that is late by up to 20 ms keeps the schedule, a later one starts a new one', () => {
  const pacer = new Pacer(100);
  pacer.take(1000);
  pacer.take(1118);
  expect(pacer.readyAtMs).toBe(1200);
  pacer.take(1221);
  expect(pacer.readyAtMs).toBe(1321);
});

test('idle time earns no burst', () => {
  const pacer = new Pacer(100);
  pacer.take(0);
  pacer.take(60_000);
  expect(pacer.readyAtMs).toBe(60_100);
});

test('a new pace counts from the last send', () => {
  const pacer = new Pacer(100);
  pacer.take(1000);
  pacer.setInterval(20);
  expect(pacer.readyAtMs).toBe(1020);
  pacer.setInterval(500);
  expect(pacer.readyAtMs).toBe(1500);
});

test('a send given back can be taken again at once', () => {
  const pacer = new Pacer(100);
  pacer.take(1000);
  pacer.giveBack();
  expect(pacer.readyAtMs).toBeLessThanOrEqual(1000);
});

test('a configured ceiling gives no credit up to 50/s, and above it lowers the pace by what credit could add', () => {
  expect(ceilingPacer({ requestsPerSecond: 50, minDelayMs: 0 })?.intervalMs).toBe(20);
  expect(ceilingPacer({ requestsPerSecond: 203, minDelayMs: 0 })?.intervalMs).toBeCloseTo(5);
  expect(ceilingPacer({ requestsPerSecond: null, minDelayMs: 0 })).toBeNull();
});

test('the longer of delay and interval holds', () => {
  expect(ceilingPacer({ requestsPerSecond: 10, minDelayMs: 300 })?.intervalMs).toBe(300);
  expect(ceilingPacer({ requestsPerSecond: 2, minDelayMs: 300 })?.intervalMs).toBe(500);
});
