import { describe, expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { silentLog } from '../../src/core/log.ts';
import { createPrettyLog } from '../../src/report/console-log.ts';
import { type HostProgress, type ProgressFacts, startProgress } from '../../src/report/progress.ts';
import { LiveArea, wantsColor, widthOf } from '../../src/report/terminal.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { FakeTerminal } from './fake-terminal.ts';

const HOST: HostProgress = {
  host: 'api.example.com',
  inFlight: 12,
  concurrency: 50,
  attempts: 0,
  limitRps: 95,
  p50Ms: 38.2,
  p95Ms: 1_234,
  parkedUntilMs: null,
  failed: 3,
};

function factsOf(changes: Partial<ProgressFacts> = {}): ProgressFacts {
  return { total: 2_000, succeeded: 0, failed: 0, skipped: 0, hosts: [], ...changes };
}

function logTo(lines: string[]): Log {
  return { ...silentLog, info: (message) => void lines.push(message) };
}

async function shown({ columns = 80, color = false, facts = factsOf() } = {}): Promise<FakeTerminal> {
  const terminal = new FakeTerminal(columns);
  const clock = new FakeClock();
  const area = new LiveArea(terminal);
  startProgress({ ports: { clock, log: silentLog }, area, facts: () => facts, color });
  await clock.advance(1_000);
  return terminal;
}

test('on a terminal: a bar, what is done, the rate, failures and the time left', async () => {
  const terminal = new FakeTerminal();
  const clock = new FakeClock();
  let succeeded = 0;
  const facts = () => factsOf({ succeeded, failed: 7 });
  startProgress({ ports: { clock, log: silentLog }, area: new LiveArea(terminal), facts, color: false });
  for (let redraw = 0; redraw < 100; redraw++) {
    succeeded += 10;
    await clock.advance(100);
  }
  expect(terminal.rows).toEqual(['██████████░░░░░░░░░░  50 % 1,007/2,000  100 requests/s  7 failed  ETA 9.9 s']);
});

test('is redrawn ten times a second, however fast the crawl is', async () => {
  const terminal = new FakeTerminal();
  const clock = new FakeClock();
  startProgress({ ports: { clock, log: silentLog }, area: new LiveArea(terminal), facts: factsOf, color: false });
  await clock.advance(5_000);
  expect(terminal.writes).toBe(51);
});

test('a host line says what it does, at 80 columns whole', async () => {
  const terminal = await shown({ facts: factsOf({ hosts: [HOST] }) });
  expect(terminal.rows[1]).toBe('  api.example.com            12/50  0/s of 95  p50 38 ms  p95 1.2 s  3 failed');
});

test('a parked host says so first', async () => {
  const parkedUntilMs = new FakeClock().wallMs() + 91_000;
  const terminal = await shown({ columns: 120, facts: factsOf({ hosts: [{ ...HOST, parkedUntilMs }] }) });
  expect(terminal.rows[1]).toContain('  parked 1 min 30 s  12/50 in flight  0/s of 95');
});

test('a wait of a second or more is told of between the overall line and the hosts', async () => {
  const waitingFor = (nextInMs: number) => factsOf({ hosts: [HOST], waiting: { kind: 'retries', count: 3, nextInMs } });
  const terminal = await shown({ facts: waitingFor(4_000) });
  expect(terminal.rows[1]).toBe('  waiting to retry 3 requests, the next in 4.0 s');
  expect(terminal.rows[2]).toMatch(/^ {2}api\.example\.com /);
  const soon = await shown({ facts: waitingFor(900) });
  expect(soon.rows).toHaveLength(2);
});

test('in a log a wait is told of however short it is', async () => {
  const lines: string[] = [];
  const clock = new FakeClock();
  const area = new LiveArea({ write: () => true });
  const facts = () => factsOf({ waiting: { kind: 'retries', count: 1, nextInMs: 20 } });
  startProgress({ ports: { clock, log: logTo(lines) }, area, facts, color: false });
  await clock.advance(10_000);
  expect(lines).toEqual([
    '0 of 2,000 requests done, 0 requests/s, 0 failed, ETA –, waiting to retry 1 request, the next now',
  ]);
});

test.each([20, 40, 60, 79, 80, 81, 200])('no line is wider than %i columns less one', async (columns) => {
  const host = { ...HOST, host: `${'very-long-host-name.'.repeat(5)}example.com` };
  const terminal = await shown({ columns, facts: factsOf({ failed: 123_456, hosts: [host, host] }) });
  expect(terminal.rows).toHaveLength(3);
  for (const row of terminal.rows) expect(row.length).toBeLessThan(columns);
});

test('log lines scroll above it, and nothing is torn', async () => {
  const terminal = new FakeTerminal();
  const clock = new FakeClock();
  const area = new LiveArea(terminal);
  const log = createPrettyLog({ area, level: 'info', color: false, clock });
  const progress = startProgress({
    ports: { clock, log },
    area,
    facts: () => factsOf({ hosts: [HOST] }),
    color: false,
  });
  log.info('first');
  await clock.advance(250);
  log.warn(`second ${'x'.repeat(200)}`, { status: 429 });
  await clock.advance(250);
  expect(terminal.rows.slice(0, 2)).toEqual(['00:00:00 first', expect.stringMatching(/^00:00:00 warning: second x+$/)]);
  expect(terminal.rows.slice(-2)).toEqual([expect.stringContaining('0/2,000'), expect.stringContaining('12/50')]);
  progress.stop();
  expect(terminal.rows.at(-1)).toMatch(/^x+ status=429$/);
  log.info('last');
  expect(terminal.rows.at(-1)).toBe('00:00:00 last');
});

test('a terminal made narrower or wider keeps its log and gets no lines twice', async () => {
  const terminal = new FakeTerminal(100);
  const clock = new FakeClock();
  const area = new LiveArea(terminal);
  area.print('kept');
  startProgress({ ports: { clock, log: silentLog }, area, facts: () => factsOf({ hosts: [HOST] }), color: false });
  for (const columns of [40, 30, 120, 25, 80]) {
    terminal.columns = columns;
    await clock.advance(100);
    expect(terminal.rows[0]).toBe('kept');
    expect(terminal.rows).toHaveLength(3);
  }
});

test('elsewhere: a log line every 10 s, and no escape', async () => {
  const lines: string[] = [];
  const clock = new FakeClock();
  const stream = {
    isTTY: false,
    text: '',
    write(text: string) {
      this.text += text;
    },
  };
  let succeeded = 0;
  const progress = startProgress({
    ports: { clock, log: logTo(lines) },
    area: new LiveArea(stream),
    facts: () => factsOf({ succeeded }),
    color: false,
  });
  for (let second = 0; second < 25; second++) {
    succeeded += 50;
    await clock.advance(1_000);
  }
  progress.stop();
  await clock.advance(60_000);
  expect(lines).toEqual([
    expect.stringMatching(/^\d+ of 2,000 requests done, \d+ requests\/s, 0 failed, ETA \d+ s$/),
    expect.stringMatching(/^1,\d+ of 2,000 requests done, 50 requests\/s, 0 failed, ETA \d+ s$/),
  ]);
  expect(stream.text).toBe('');
});

test('elsewhere nothing is logged at the start, though the clock of a real machine never stands still', async () => {
  const lines: string[] = [];
  const restless = new (class extends FakeClock {
    #looks = 0;
    override nowMs = (): number => super.nowMs() + this.#looks++ / 1_000;
  })();
  const area = new LiveArea({ isTTY: false, write: () => {} });
  startProgress({ ports: { clock: restless, log: logTo(lines) }, area, facts: factsOf, color: false });
  expect(lines).toEqual([]);
});

test('quiet says nothing at all', async () => {
  const terminal = new FakeTerminal();
  const clock = new FakeClock();
  startProgress({
    ports: { clock, log: silentLog },
    area: new LiveArea(terminal),
    facts: factsOf,
    color: false,
    quiet: true,
  });
  await clock.advance(30_000);
  expect(terminal.raw).toBe('');
});

describe('colours', () => {
  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
  ])('%j on a terminal: %s gives %s', (env, isTTY, expected) => {
    expect(wantsColor(env, { isTTY, write: () => true })).toBe(expected);
  });

  test('without them no colour is written, with them the columns are the same', async () => {
    const facts = factsOf({ failed: 2, hosts: [HOST] });
    const plain = await shown({ facts });
    const coloured = await shown({ facts, color: true });
    expect(plain.raw).not.toMatch(/\[\d+m/);
    expect(coloured.raw).toMatch(/\[31m/);
    expect(coloured.rows.map(widthOf)).toEqual(plain.rows.map(widthOf));
  });
});
