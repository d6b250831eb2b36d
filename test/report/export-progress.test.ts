import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { ExportProgress } from '../../src/report/export-progress.ts';
import { LiveArea } from '../../src/report/terminal.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { FakeTerminal } from './fake-terminal.ts';

const CLOSED = { isTTY: false, write: () => {} };

test('on a terminal: a bar, the file, rows, rate and the time left; redrawn ten times a second', async () => {
  const terminal = new FakeTerminal(100);
  const clock = new FakeClock();
  const progress = new ExportProgress({ ports: { clock, log: silentLog }, area: new LiveArea(terminal), color: false });
  progress.begin('products.csv', 400_000);
  expect(terminal.rows[0]).toContain('0 %  products.csv  0 of 400,000 rows  – rows/s');
  for (let batch = 1; batch <= 200; batch++) {
    await clock.advance(10);
    progress.rows(batch * 1_000);
  }
  expect(terminal.writes).toBe(1 + 20);
  const bar = '██████████░░░░░░░░░░  50 %';
  expect(terminal.rows).toEqual([`${bar}  products.csv  200,000 of 400,000 rows  100,000 rows/s  ETA 2.0 s`]);
  progress.end();
  expect(terminal.rows.join('')).toBe('');
});

test('rows that came in meanwhile do not lead beyond the end, and an empty file shows no nonsense', async () => {
  const terminal = new FakeTerminal(100);
  const clock = new FakeClock();
  const progress = new ExportProgress({ ports: { clock, log: silentLog }, area: new LiveArea(terminal), color: false });
  progress.begin('none.csv', 0);
  expect(terminal.rows[0]).toContain('  0 %  none.csv  0 of 0 rows');
  progress.begin('some.csv', 10);
  await clock.advance(100);
  progress.rows(12);
  expect(terminal.rows[0]).toContain('100 %  some.csv  12 of 10 rows');
});

test('elsewhere: a log line every 10 s; and quiet says nothing', async () => {
  const clock = new FakeClock();
  for (const quiet of [false, true]) {
    const lines: string[] = [];
    const log = { ...silentLog, info: (message: string) => void lines.push(message) };
    const progress = new ExportProgress({ ports: { clock, log }, area: new LiveArea(CLOSED), color: false, quiet });
    progress.begin('a.json', 1_000);
    for (let second = 1; second <= 25; second++) {
      await clock.advance(1_000);
      progress.rows(second * 10);
    }
    progress.end();
    expect(lines).toEqual(
      quiet
        ? []
        : [
            'a.json: 100 of 1,000 rows, 10 rows/s, ETA 1 min 30 s',
            'a.json: 200 of 1,000 rows, 10 rows/s, ETA 1 min 20 s',
          ],
    );
  }
});
