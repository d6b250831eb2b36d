import type { Clock } from '../core/clock.ts';
import type { Log, LogFacts } from '../core/log.ts';
import { type LiveArea, type Painter, painter, type Style, type TextStream } from './terminal.ts';

/** quiet = errors only; info = what a person wants to know; verbose = all. */
export type LogLevel = 'quiet' | 'info' | 'verbose';

type Severity = 'debug' | 'info' | 'warn' | 'error';
const SEVERITIES: readonly Severity[] = ['debug', 'info', 'warn', 'error'];
const LEAST: Record<LogLevel, Severity> = { quiet: 'error', info: 'info', verbose: 'debug' };

/** A log for people: one line each, written above the progress lines. */
export function createPrettyLog(options: { area: LiveArea; level: LogLevel; color: boolean; clock: Clock }): Log {
  const { area, level, color, clock } = options;
  const paint = painter(color);
  return logOf(level, (severity, message, facts) =>
    area.print(prettyLine({ severity, message, facts, wallMs: clock.wallMs(), paint })),
  );
}

/** A log for machines: one JSON object a line, as pino writes it. pino is loaded only here. */
export async function createJsonLog(options: { stream: TextStream; level: LogLevel; clock: Clock }): Promise<Log> {
  const { stream, level, clock } = options;
  const { pino } = await import('pino');
  const logger = pino(
    { level: LEAST[level], base: null, timestamp: () => `,"time":"${new Date(clock.wallMs()).toISOString()}"` },
    { write: (line: string) => void stream.write(line) },
  );
  return logOf(level, (severity, message, facts) => logger[severity](facts ?? {}, message));
}

type Write = (severity: Severity, message: string, facts: LogFacts | undefined) => void;

function logOf(level: LogLevel, write: Write): Log {
  const least = SEVERITIES.indexOf(LEAST[level]);
  const at = (severity: Severity): Log[Severity] =>
    SEVERITIES.indexOf(severity) < least ? () => {} : (message, facts) => write(severity, message, facts);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const MARKS: Record<Severity, { text: string; style: Style }> = {
  debug: { text: 'debug', style: 'dim' },
  info: { text: '', style: 'blue' },
  warn: { text: 'warning', style: 'yellow' },
  error: { text: 'error', style: 'red' },
};

type Line = { severity: Severity; message: string; facts: LogFacts | undefined; wallMs: number; paint: Painter };

function prettyLine({ severity, message, facts, wallMs, paint }: Line): string {
  const mark = MARKS[severity];
  const time = new Date(wallMs).toISOString().slice(11, 19);
  const label = mark.text === '' ? '' : `${paint(mark.style, mark.text)}: `;
  return `${paint('dim', time)} ${label}${printable(message)}${factsText(facts, paint)}`;
}

function factsText(facts: LogFacts | undefined, paint: Painter): string {
  const entries = Object.entries(facts ?? {}).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return '';
  return ` ${paint('dim', entries.map(([name, value]) => `${name}=${factText(value)}`).join(' '))}`;
}

function factText(value: unknown): string {
  const json = JSON.stringify(value, speakable) ?? String(value);
  return /^"[^\s"\\=]+"$/.test(json) ? json.slice(1, -1) : printable(json);
}

function speakable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? String(value) : value;
}

/** What came over the network may be in a message: no control character of it reaches the terminal. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
