import { expect, test } from 'vitest';
import { recordEveryMs } from '../../src/app/run-monitor.ts';

test.each([
  { hosts: 1, activeMs: 0, everyMs: 1_000 },
  { hosts: 50, activeMs: 100_000, everyMs: 1_000 },
  { hosts: 1, activeMs: 300_000, everyMs: 3_000 },
  { hosts: 1, activeMs: 86_400_000, everyMs: 5_000 },
  { hosts: 51, activeMs: 0, everyMs: 5_000 },
])('the record of $hosts hosts after $activeMs ms is written every $everyMs ms', ({ hosts, activeMs, everyMs }) => {
  expect(recordEveryMs({ hosts, activeMs })).toBe(everyMs);
});
