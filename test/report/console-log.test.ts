import { describe, expect, test } from 'vitest';
import { createJsonLog, createPrettyLog, type LogLevel } from '../../src/report/console-log.ts';
import { LiveArea } from '../../src/report/terminal.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

class Lines {
  text = '';
  write(text: string): void {
    this.text += text;
  }
  get all(): string[] {
    return this.text.split('\n').slice(0, -1);
  }
}

function pretty(level: LogLevel, color = false) {
  const stream = new Lines();
  return { stream, log: createPrettyLog({ area: new LiveArea(stream), level, color, clock: new FakeClock() }) };
}

test.each([
  ['quiet', ['e']],
  ['info', ['i', 'w', 'e']],
  ['verbose', ['d', 'i', 'w', 'e']],
] as const)('%s lets through %j, pretty and JSON alike', async (level, expected) => {
  const { stream, log } = pretty(level);
  const json = new Lines();
  const jsonLog = await createJsonLog({ stream: json, level, clock: new FakeClock() });
  for (const each of [log, jsonLog]) {
    each.debug('d');
    each.info('i');
    each.warn('w');
    each.error('e');
  }
  expect(stream.all.map((line) => line.at(-1))).toEqual(expected);
  expect(json.all.map((line) => JSON.parse(line).msg)).toEqual(expected);
});

describe('pretty', () => {
  test('a line is the time, a mark for what is no plain news, the message and its facts', () => {
    const { stream, log } = pretty('info');
    log.info('started');
    log.warn('api.example.com asked for less', { status: 429, host: 'a.b:80', why: 'two words', none: undefined });
    expect(stream.all).toEqual([
      '00:00:00 started',
      '00:00:00 warning: api.example.com asked for less status=429 host=a.b:80 why="two words"',
    ]);
  });

  test('facts of any kind are written, none breaks the log', () => {
    const { stream, log } = pretty('info');
    log.info('x', { big: 2n ** 64n, nested: { big: 1n }, error: new Error('boom'), fn: () => 1, list: [1, 'a'] });
    expect(stream.all[0]).toMatch(/big=18446744073709551616 nested={"big":"1"} error=boom fn=.* list=\[1,"a"\]$/);
  });

  test('control characters from the network do not reach the terminal', () => {
    const { stream, log } = pretty('info');
    log.info('body \u001b[2Jwiped\r\u009b', { excerpt: '\u001b]0;title\u0007' });
    expect(stream.all[0]).toBe('00:00:00 body \\x1b[2Jwiped\\x0d\\x9b excerpt="\\u001b]0;title\\u0007"');
  });
});

test('JSON lines have level, time, message and facts', async () => {
  const stream = new Lines();
  const log = await createJsonLog({ stream, level: 'info', clock: new FakeClock() });
  log.warn('asked for less', { host: 'x', status: 429 });
  expect(stream.all.map((line) => JSON.parse(line))).toEqual([
    { level: 40, time: '2026-01-01T00:00:00.000Z', host: 'x', status: 429, msg: 'asked for less' },
  ]);
});
