import { expect, test } from 'vitest';
import { LoadMonitor } from '../../src/crawl/load-monitor.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

test('remembers when the process was last busier than 95 %', async () => {
  const clock = new FakeClock();
  let share = 0;
  const monitor = new LoadMonitor(clock, () => share);
  monitor.start();
  expect(monitor.wasOverloadedSince(0)).toBe(false);
  await clock.advance(250);
  share = 0.95;
  await clock.advance(100);
  share = 0.5;
  await clock.advance(1_000);
  expect(monitor.wasOverloadedSince(300)).toBe(true);
  expect(monitor.wasOverloadedSince(301)).toBe(false);
});

test('does not look after stop, and does again after start', async () => {
  const clock = new FakeClock();
  let looks = 0;
  const monitor = new LoadMonitor(clock, () => {
    looks += 1;
    return 1;
  });
  monitor.start();
  await clock.advance(300);
  expect(looks).toBe(4);
  monitor.stop();
  await clock.advance(1_000);
  expect(looks).toBe(4);
  monitor.start();
  monitor.start();
  await clock.advance(100);
  expect(looks).toBe(7);
});

test('sees the event loop of this process', async () => {
  const clock = new FakeClock();
  const monitor = new LoadMonitor(clock);
  monitor.start();
  const endMs = performance.now() + 50;
  while (performance.now() < endMs);
  await clock.advance(100);
  expect(monitor.wasOverloadedSince(100)).toBe(true);
});
