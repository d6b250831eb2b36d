import { expect, test } from 'vitest';
import { ceilingPacer, Pacer } from '../../src/governor/pacer.ts';

test('spaces sends evenly and lets none go early', () => {
  const pacer = new Pacer(100);
  pacer.take(0);
  expect(pacer.askAt(99.9)).toBe(100);
  expect(pacer.askAt(100)).toBe(0);
  pacer.take(100);
  expect(pacer.askAt(100)).toBe(200);
});

test('who was told to wait and is late by up to half an interval keeps the schedule, later starts a new one', () => {
  const pacer = new Pacer(100);
  pacer.take(1000);
  pacer.askAt(1000);
  pacer.take(1150);
  expect(pacer.askAt(1150)).toBe(1200);
  pacer.take(1251);
  expect(pacer.readyAtMs).toBe(1351);
});

test('makes up for several sends missed within the credit, one after the other', () => {
  const pacer = new Pacer(5);
  pacer.take(1000);
  pacer.askAt(1000);
  const grants = [1016, 1016, 1016, 1016].map((nowMs) => {
    if (pacer.askAt(nowMs) > 0) return false;
    pacer.take(nowMs);
    return true;
  });
  expect(grants).toEqual([true, true, true, false]);
  expect(pacer.readyAtMs).toBe(1020);
});

test('time spent waiting for something else is no lateness', () => {
  const pacer = new Pacer(5);
  pacer.take(1000);
  pacer.askAt(1000);
  pacer.heldByOthers();
  pacer.take(1016);
  expect(pacer.readyAtMs).toBe(1021);
});

test('makes up for no more than a dozen sends at once', () => {
  const pacer = new Pacer(1);
  pacer.bear(100);
  pacer.take(1000);
  pacer.askAt(1000);
  pacer.take(1013.1);
  expect(pacer.readyAtMs).toBeCloseTo(1014.1);
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
