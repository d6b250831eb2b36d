import { expect, test } from 'vitest';
import { Gate } from '../../src/governor/gate.ts';

const told = { nowMs: 0, waitMs: 5000, jitterMs: 20, source: 'server' as const, reason: 'status 429' };

test('stays shut until the wait and its jitter are over, then lets one request through', () => {
  const gate = new Gate();
  gate.park(told);
  expect(gate.readyAtMs(5019, 2000)).toBe(5020);
  expect(gate.readyAtMs(5020, 2000)).toBe(0);
  gate.sent(5020);
  expect(gate.readyAtMs(5021, 2000)).toBe(7020);
  expect(gate.isProbe(5020)).toBe(true);
  gate.open();
  expect(gate.readyAtMs(5022, 2000)).toBe(0);
});

test('lets a second request through when the first hangs', () => {
  const gate = new Gate();
  gate.park(told);
  gate.sent(5020);
  expect(gate.readyAtMs(7020, 2000)).toBe(0);
});

test('a shorter wait never shortens a longer one', () => {
  const gate = new Gate();
  gate.park(told);
  gate.park({ ...told, nowMs: 100, waitMs: 1000 });
  expect(gate.untilMs).toBe(5020);
});

test('counts the time parked on the server’s word once, however many answers told it', () => {
  const gate = new Gate();
  gate.park(told);
  gate.park({ ...told, nowMs: 1000, waitMs: 5000 });
  expect(gate.serverParkedMs(3000)).toBe(3000);
  expect(gate.serverParkedMs(10_000)).toBe(6000);
  gate.park({ ...told, nowMs: 10_000, waitMs: 4000, source: 'own' });
  expect(gate.serverParkedMs(20_000)).toBe(6000);
});
