import type { Setting } from '../config/lay-over.ts';
import { UsageError } from '../core/errors.ts';
import type { Arguments } from './arguments.ts';

const SECOND_MS = 1000;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The options given as settings to be laid over the document, in the schema's units.
 * @throws UsageError listing every header that is not "Name: value"
 */
export function overridesOf(args: Arguments): Setting[] {
  const problems: string[] = [];
  const settings = args.settings().map(({ name, path, definition }): Setting => {
    const place = { path: path.split('.'), name };
    const reads = definition.reads ?? 'text';
    if (typeof reads === 'object') return { ...place, value: reads.constant };
    if (reads === 'header') return { ...place, value: headersOf(name, args.list(name), problems) };
    const text = args.text(name) ?? '';
    if (reads === 'text') return { ...place, value: text };
    return reads === 'seconds'
      ? { ...place, value: inMs(text), scale: SECOND_MS }
      : { ...place, value: numberOf(text) };
  });
  if (problems.length > 0) throw new UsageError(problems);
  return settings;
}

// What is no number stays text: the schema then says what it must be.
function numberOf(text: string): number | string {
  return NUMBER.test(text.trim()) ? Number(text) : text;
}

function inMs(text: string): number | string {
  const seconds = numberOf(text);
  return typeof seconds === 'number' ? Math.round(seconds * SECOND_MS) : seconds;
}

function headersOf(option: string, lines: readonly string[], problems: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    // What follows the name may be a secret, and is not repeated in the message.
    const match = /^([^:\s]+)\s*:\s*(.*)$/.exec(line);
    if (match === null)
      problems.push(
        `${option} "${line.split(' ', 1)[0]} ..." must be "Name: value", for example "Accept: application/json".`,
      );
    else headers[match[1]!] = match[2]!;
  }
  return headers;
}
